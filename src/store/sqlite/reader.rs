//! Connections that only read. They see what is committed and never hold up the writer. Knows no table; the
//! store's reading methods call it.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, OpenFlags};
use tokio::sync::Semaphore;
use tokio::task;

use super::fault::{Fault, failed};
use super::open::{BUSY, STATEMENTS};
use crate::domain::store::{Result, StoreError};

/// How many read at once. Reads are short, and more threads than cores would only take turns.
const AT_ONCE: usize = 4;

pub struct Readers {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
    permits: Arc<Semaphore>,
}

impl Readers {
    pub fn new(path: PathBuf) -> Arc<Self> {
        Arc::new(Self { path, idle: Mutex::default(), permits: Arc::new(Semaphore::new(AT_ONCE)) })
    }

    /// All that `work` reads is of one moment.
    pub async fn read<T, W>(self: &Arc<Self>, work: W) -> Result<T>
    where
        T: Send + 'static,
        W: FnOnce(&Connection) -> std::result::Result<T, Fault> + Send + 'static,
    {
        let stopped = || StoreError::Failed("the server is stopping".to_owned());
        let permit = Arc::clone(&self.permits).acquire_owned().await.map_err(|_| stopped())?;
        let readers = Arc::clone(self);
        let read = task::spawn_blocking(move || {
            // Held until the read is over, even if nobody waits for it any more.
            let _permit = permit;
            readers.run(work)
        });
        read.await.map_err(|_| stopped())?
    }

    fn run<T>(&self, work: impl FnOnce(&Connection) -> std::result::Result<T, Fault>) -> Result<T> {
        let told = |error| match error {
            Fault::Sql(error) => failed(&self.path, &error),
            Fault::Refused(refusal) => refusal,
        };
        let db = self.take().map_err(|error| told(error.into()))?;
        let outcome = snapshot(&db, work);
        // A connection that failed is closed: the next read gets a fresh one.
        if !matches!(outcome, Err(Fault::Sql(_))) {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(db);
        }
        outcome.map_err(told)
    }

    fn take(&self) -> rusqlite::Result<Connection> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.map_or_else(|| self.connect(), Ok)
    }

    fn connect(&self) -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let db = Connection::open_with_flags(&self.path, flags)?;
        db.busy_timeout(BUSY)?;
        db.set_prepared_statement_cache_capacity(STATEMENTS);
        Ok(db)
    }
}

/// Without a transaction two statements could see two moments, and a task's number belong to another by then.
fn snapshot<T>(
    db: &Connection,
    work: impl FnOnce(&Connection) -> std::result::Result<T, Fault>,
) -> std::result::Result<T, Fault> {
    db.prepare_cached("BEGIN")?.execute([])?;
    let outcome = work(db);
    // After an error the connection is closed, and the transaction with it.
    if !matches!(outcome, Err(Fault::Sql(_))) {
        db.prepare_cached("COMMIT")?.execute([])?;
    }
    outcome
}
