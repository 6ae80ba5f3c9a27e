//! Watching: the tasks of one principal as they appear and change, for a list that is live.

use std::collections::{HashSet, VecDeque};
use std::time::SystemTime;

use futures::{StreamExt, stream};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tonic::codegen::BoxStream;

use super::DevTool;
use super::fault::fault;
use super::read::{of_context, since};
use crate::agent::{Changed, EngineError};
use crate::domain::error::Error;
use crate::domain::principal::Principal;
use crate::domain::store::{After, Filter, StoreError};
use crate::proto::devtool::{WatchTasksRequest, WatchTasksResponse};
use crate::proto::wkt::Timestamp;

const PAGE: usize = 100;

struct Watching {
    service: DevTool,
    who: Principal,
    filter: Filter,
    changes: Receiver<Changed>,
    /// Ids of tasks that are to be told of.
    waiting: VecDeque<String>,
    /// Everything that changed before is told, or waits.
    mark: SystemTime,
    caught_up: bool,
}

impl DevTool {
    pub(super) async fn watch(
        &self,
        who: Principal,
        request: &WatchTasksRequest,
    ) -> Result<BoxStream<WatchTasksResponse>, Error> {
        // Before the lists are read, so that nothing falls between.
        let changes = self.engine.changes();
        let (filter, now) = (of_context(&request.context_id)?, SystemTime::now());
        let (service, waiting) = (self.clone(), VecDeque::new());
        let mut watching = Watching { service, who, filter, changes, waiting, mark: now, caught_up: false };
        watching.list(since(request.since)?).await?;
        let told = stream::try_unfold(watching, |mut watching| async move {
            let next = watching.next().await?;
            Ok(next.map(|next| (next, watching)))
        });
        Ok(told.boxed())
    }
}

impl Watching {
    /// None when nothing can change any more.
    async fn next(&mut self) -> Result<Option<WatchTasksResponse>, Error> {
        loop {
            while let Some(task_id) = self.waiting.pop_front() {
                if let Some(told) = self.tell(&task_id).await? {
                    return Ok(Some(told));
                }
            }
            if !self.caught_up {
                self.caught_up = true;
                let as_of = Some(Timestamp::of(self.mark));
                return Ok(Some(WatchTasksResponse { task: None, caught_up: true, as_of }));
            }
            if !self.wait().await? {
                return Ok(None);
            }
        }
    }

    async fn tell(&self, task_id: &str) -> Result<Option<WatchTasksResponse>, Error> {
        let head = match self.service.engine.store().head(&self.who, task_id).await {
            Err(StoreError::NotFound) => return Ok(None),
            head => head.map_err(|error| fault(EngineError::from(error)))?,
        };
        let context = self.filter.context_id.as_ref();
        if !head.tenant.is_empty() || context.is_some_and(|id| *id != head.context_id) {
            return Ok(None);
        }
        let task = self.service.listed(&self.who, &head).await?;
        Ok(task.map(|task| WatchTasksResponse { task: Some(task), ..WatchTasksResponse::default() }))
    }

    /// For a change, and takes all that are there: a task that changed twice meanwhile is told of once. False when no more
    /// come.
    async fn wait(&mut self) -> Result<bool, Error> {
        let mut seen = HashSet::new();
        let mut next = tokio::select! {
            next = self.changes.recv() => next,
            () = self.service.engine.closing().cancelled() => return Ok(false),
        };
        loop {
            match next {
                Ok(Changed { who, task_id }) => {
                    if who == self.who && seen.insert(task_id.clone()) {
                        self.waiting.push_back(task_id);
                    }
                }
                // Too many at once: what they were stands in the store.
                Err(RecvError::Lagged(_)) => self.list(Some(self.mark)).await?,
                Err(RecvError::Closed) => return Ok(false),
            }
            next = match self.changes.try_recv() {
                Ok(changed) => Ok(changed),
                Err(TryRecvError::Lagged(missed)) => Err(RecvError::Lagged(missed)),
                Err(TryRecvError::Empty | TryRecvError::Closed) => break,
            };
        }
        Ok(true)
    }

    /// What has not ended, and what changed since then.
    async fn list(&mut self, since: Option<SystemTime>) -> Result<(), Error> {
        let now = SystemTime::now();
        let open = Filter { open: true, ..self.filter.clone() };
        let fresh = since.map(|since| Filter { updated_since: Some(since), ..self.filter.clone() });
        let mut seen = HashSet::new();
        for filter in [Some(open), fresh].into_iter().flatten() {
            let mut after = None;
            loop {
                let store = self.service.engine.store();
                let page = store.list(&self.who, &filter, after.as_ref(), PAGE).await.map_err(fault)?;
                let ids = page.heads.iter().map(|head| head.task_id.clone());
                self.waiting.extend(ids.filter(|id| seen.insert(id.clone())));
                let Some(last) = page.heads.last().filter(|_| page.more) else { break };
                after = Some(After { updated: last.updated, task_id: last.task_id.clone() });
            }
        }
        self.mark = now;
        Ok(())
    }
}
