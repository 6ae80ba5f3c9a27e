//! The embedded store: one SQLite database in the data directory. A row holds what one commit added to a task;
//! one thread writes, a few connections read. Knows no agent and no wire; the composition root opens it.

mod append;
mod contexts;
mod fault;
mod grants;
mod housekeeping;
mod journal;
mod list;
mod open;
mod push;
mod reader;
mod row;
mod rows;
mod schema;
mod sends;
mod shelf;
mod writer;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use append::Append;
use reader::Readers;
use sends::Sends;
use writer::Writer;

use crate::domain::grant::Grant;
use crate::domain::principal::Principal;
use crate::domain::store::{
    After, Commit, Committed, Context, ContextPage, Due, Filter, Head, Page, Push, Result, SendKey, Store,
    Taken,
};
use crate::proto::task::TaskEvent;

pub use open::{Durability, OpenError};

/// Fields go in this order: the writer is the last to close the database, which folds the log into it, and the
/// lock stays until then.
pub struct Sqlite {
    readers: Arc<Readers>,
    writer: Writer,
    /// Only the writer's jobs lock it.
    sends: Arc<Mutex<Sends>>,
    _lock: File,
    _temporary: Option<Temporary>,
}

impl Sqlite {
    /// Makes the directory and the file if they are missing, and keeps every other server off the directory.
    pub fn open(path: &Path, durability: Durability) -> std::result::Result<Self, OpenError> {
        let directory = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        open::make_private_dir(directory)?;
        let lock = open::lock(directory)?;
        let db = open::open(path, durability)?;
        let writer = Writer::start(db, path.to_owned()).map_err(OpenError::Thread)?;
        let readers = Readers::new(path.to_owned());
        Ok(Self { readers, writer, sends: Arc::default(), _lock: lock, _temporary: None })
    }

    /// In a directory of its own that goes away with it. A database in memory would have no log, so its readers
    /// would hold up the writer and tests would test something else.
    pub fn open_temporary() -> std::result::Result<Self, OpenError> {
        let directory = std::env::temp_dir().join(format!("agena-{}", uuid::Uuid::now_v7()));
        let temporary = Temporary(directory);
        let mut store = Self::open(&temporary.0.join("journal.db"), Durability::Process)?;
        store._temporary = Some(temporary);
        Ok(store)
    }
}

/// Whatever a job that panicked has left behind there is not believed without its row.
fn locked(sends: &Mutex<Sends>) -> MutexGuard<'_, Sends> {
    sends.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A directory that is removed when the store is gone.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        // The system clears its directory for temporary files by itself.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[tonic::async_trait]
impl Store for Sqlite {
    async fn commit(&self, who: &Principal, commit: Commit) -> Result<Committed> {
        let (who, append, sends) = (who.clone(), Append::new(commit)?, Arc::clone(&self.sends));
        self.writer.write(move |db| journal::append(db, &mut locked(&sends), &who, &append)).await
    }

    async fn head(&self, who: &Principal, task_id: &str) -> Result<Head> {
        let (who, task_id) = (who.clone(), task_id.to_owned());
        self.readers.read(move |db| journal::head(db, &who, &task_id)).await
    }

    async fn events(
        &self,
        who: &Principal,
        task_id: &str,
        after: u64,
        limit: usize,
    ) -> Result<Vec<TaskEvent>> {
        let (who, task_id) = (who.clone(), task_id.to_owned());
        self.readers.read(move |db| journal::events(db, &who, &task_id, after, limit)).await
    }

    async fn list(
        &self,
        who: &Principal,
        filter: &Filter,
        after: Option<&After>,
        size: usize,
    ) -> Result<Page> {
        let (who, filter, after) = (who.clone(), filter.clone(), after.cloned());
        self.readers.read(move |db| list::page(db, &who, &filter, after.as_ref(), size)).await
    }

    async fn contexts(
        &self,
        who: &Principal,
        tenant: &str,
        after: Option<&After>,
        size: usize,
    ) -> Result<ContextPage> {
        let (who, tenant, after) = (who.clone(), tenant.to_owned(), after.cloned());
        self.readers.read(move |db| contexts::page(db, &who, &tenant, after.as_ref(), size)).await
    }

    async fn sent(&self, who: &Principal, key: &SendKey) -> Result<Option<String>> {
        let Some(key) = append::sent(key) else { return Ok(None) };
        let (who, sends) = (who.clone(), Arc::clone(&self.sends));
        self.writer.write(move |db| Ok(locked(&sends).repeated(db, &who, &key)?)).await
    }

    async fn put_push(&self, who: &Principal, push: Push) -> Result<Push> {
        let who = who.clone();
        self.writer.write(move |db| push::put(db, &who, &push)).await
    }

    async fn push(&self, who: &Principal, task_id: &str, id: &str) -> Result<Option<Push>> {
        let (who, task_id, id) = (who.clone(), task_id.to_owned(), id.to_owned());
        self.readers.read(move |db| push::get(db, &who, &task_id, &id)).await
    }

    async fn pushes(&self, who: &Principal, task_id: &str) -> Result<Vec<Push>> {
        let (who, task_id) = (who.clone(), task_id.to_owned());
        self.readers.read(move |db| push::all(db, &who, &task_id)).await
    }

    async fn delete_push(&self, who: &Principal, task_id: &str, id: &str) -> Result<bool> {
        let (who, task_id, id) = (who.clone(), task_id.to_owned(), id.to_owned());
        self.writer.write(move |db| push::delete(db, &who, &task_id, &id)).await
    }

    async fn grants(&self, who: &Principal, context: &Context) -> Result<Vec<Grant>> {
        let (who, context) = (who.clone(), context.clone());
        self.readers.read(move |db| grants::all(db, &who, &context)).await
    }

    async fn all_grants(&self, who: &Principal, tenant: &str) -> Result<Vec<(String, Grant)>> {
        let (who, tenant) = (who.clone(), tenant.to_owned());
        self.readers.read(move |db| grants::of_all(db, &who, &tenant)).await
    }

    async fn revoke_grant(&self, who: &Principal, context: &Context, id: &str) -> Result<bool> {
        let (who, context, id) = (who.clone(), context.clone(), id.to_owned());
        self.writer.write(move |db| grants::revoke(db, &who, &context, &id)).await
    }

    async fn unfinished(&self) -> Result<Vec<(Principal, Head)>> {
        self.readers.read(|db| Ok(housekeeping::unfinished(db)?)).await
    }

    async fn due(&self, now: SystemTime, limit: usize, taken: &Taken) -> Result<Vec<Due>> {
        let taken = taken.clone();
        self.readers.read(move |db| push::due(db, now, limit, &taken)).await
    }

    async fn next_due(&self) -> Result<Option<SystemTime>> {
        self.readers.read(push::next_due).await
    }

    async fn record_push(&self, who: &Principal, push: &Push) -> Result<()> {
        let (who, push) = (who.clone(), push.clone());
        self.writer.write(move |db| push::record(db, &who, &push)).await
    }

    /// Step by step, so that what others write comes in between.
    async fn purge(&self, before: SystemTime) -> Result<u64> {
        let mut gone = 0;
        loop {
            let step = self.writer.write(move |db| Ok(housekeeping::purge(db, before)?)).await?;
            gone += step.hidden as u64;
            if step.over {
                return Ok(gone);
            }
        }
    }
}

#[cfg(test)]
mod tests;
