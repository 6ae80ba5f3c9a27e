//! A store that stops where a test wants it: a read has its answer, and gives it out when the test says so. What
//! happens in between happens every time, and not once in a thousand runs.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use agena::domain::grant::Grant;
use agena::domain::principal::Principal;
use agena::domain::store::{
    After, Commit, Committed, Context, ContextPage, Due, Filter, Head, Page, Push, Result, SendKey, Store,
    Taken,
};
use agena::proto::task::TaskEvent;
use tokio::sync::oneshot;

use super::soon;

/// The reads that can be held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Read {
    Head,
    List,
}

type Hold = (oneshot::Sender<()>, oneshot::Receiver<()>);

pub struct Meddler {
    inner: Arc<dyn Store>,
    holds: Mutex<HashMap<Read, Hold>>,
}

/// A read that is, or will be, on hold.
pub struct Held {
    reached: oneshot::Receiver<()>,
    release: oneshot::Sender<()>,
}

impl Held {
    /// Waits until the read has its answer.
    pub async fn reached(&mut self) {
        soon(&mut self.reached).await.unwrap();
    }

    pub fn release(self) {
        self.release.send(()).unwrap();
    }
}

impl Meddler {
    pub fn new(inner: Arc<dyn Store>) -> Arc<Self> {
        Arc::new(Self { inner, holds: Mutex::default() })
    }

    /// The next read of this kind.
    pub fn hold(&self, read: Read) -> Held {
        let ((tell, reached), (release, released)) = (oneshot::channel(), oneshot::channel());
        self.holds.lock().unwrap().insert(read, (tell, released));
        Held { reached, release }
    }

    async fn wait(&self, read: Read) {
        let hold = self.holds.lock().unwrap().remove(&read);
        if let Some((reached, release)) = hold {
            reached.send(()).unwrap();
            soon(release).await.unwrap();
        }
    }
}

#[tonic::async_trait]
impl Store for Meddler {
    async fn head(&self, who: &Principal, task_id: &str) -> Result<Head> {
        let head = self.inner.head(who, task_id).await;
        self.wait(Read::Head).await;
        head
    }

    async fn list(
        &self,
        who: &Principal,
        filter: &Filter,
        after: Option<&After>,
        size: usize,
    ) -> Result<Page> {
        let page = self.inner.list(who, filter, after, size).await;
        self.wait(Read::List).await;
        page
    }

    async fn commit(&self, who: &Principal, commit: Commit) -> Result<Committed> {
        self.inner.commit(who, commit).await
    }

    async fn events(
        &self,
        who: &Principal,
        task_id: &str,
        after: u64,
        limit: usize,
    ) -> Result<Vec<TaskEvent>> {
        self.inner.events(who, task_id, after, limit).await
    }

    async fn grants(&self, who: &Principal, context: &Context) -> Result<Vec<Grant>> {
        self.inner.grants(who, context).await
    }

    async fn contexts(
        &self,
        who: &Principal,
        tenant: &str,
        after: Option<&After>,
        size: usize,
    ) -> Result<ContextPage> {
        self.inner.contexts(who, tenant, after, size).await
    }

    async fn all_grants(&self, who: &Principal, tenant: &str) -> Result<Vec<(String, Grant)>> {
        self.inner.all_grants(who, tenant).await
    }

    async fn revoke_grant(&self, who: &Principal, context: &Context, id: &str) -> Result<bool> {
        self.inner.revoke_grant(who, context, id).await
    }

    async fn sent(&self, who: &Principal, key: &SendKey) -> Result<Option<String>> {
        self.inner.sent(who, key).await
    }

    async fn put_push(&self, who: &Principal, push: Push) -> Result<Push> {
        self.inner.put_push(who, push).await
    }

    async fn push(&self, who: &Principal, task_id: &str, id: &str) -> Result<Option<Push>> {
        self.inner.push(who, task_id, id).await
    }

    async fn pushes(&self, who: &Principal, task_id: &str) -> Result<Vec<Push>> {
        self.inner.pushes(who, task_id).await
    }

    async fn delete_push(&self, who: &Principal, task_id: &str, id: &str) -> Result<bool> {
        self.inner.delete_push(who, task_id, id).await
    }

    async fn unfinished(&self) -> Result<Vec<(Principal, Head)>> {
        self.inner.unfinished().await
    }

    async fn due(&self, now: SystemTime, limit: usize, taken: &Taken) -> Result<Vec<Due>> {
        self.inner.due(now, limit, taken).await
    }

    async fn next_due(&self) -> Result<Option<SystemTime>> {
        self.inner.next_due().await
    }

    async fn record_push(&self, who: &Principal, push: &Push) -> Result<()> {
        self.inner.record_push(who, push).await
    }

    async fn purge(&self, before: SystemTime) -> Result<u64> {
        self.inner.purge(before).await
    }
}
