//! The one thread that writes. Jobs queue up for it: a lone one is committed at once, and what arrives while it
//! is busy is committed together, so that the cost of a commit is shared when it counts. Knows no table; the
//! store's writing methods call it.

use std::io;
use std::path::PathBuf;
use std::thread::{self, JoinHandle};

use rusqlite::{Connection, Error};
use tokio::sync::{mpsc, oneshot};

use super::fault::{Fault, failed};
use crate::domain::failpoint;
use crate::domain::store::{Result, StoreError};

/// How many jobs may wait; then callers do.
const WAITING: usize = 1024;
/// How many are committed together: enough to share the cost, few enough that the first need not wait long.
const TOGETHER: usize = 256;

pub struct Writer {
    /// None once the store is being dropped.
    jobs: Option<mpsc::Sender<Box<dyn Job>>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub fn start(db: Connection, path: PathBuf) -> io::Result<Self> {
        let (jobs, queue) = mpsc::channel(WAITING);
        let thread = thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || Worker { db, path }.run(queue))?;
        Ok(Self { jobs: Some(jobs), thread: Some(thread) })
    }

    /// Durable when it returns. A caller that stops waiting does not stop the work. `work` may run again after
    /// its first try was undone, and it must refuse before it writes.
    pub async fn write<T, W>(&self, work: W) -> Result<T>
    where
        T: Send + 'static,
        W: FnMut(&Connection) -> std::result::Result<T, Fault> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let ended = || StoreError::Failed("its writer has ended; restart the server".to_owned());
        let jobs = self.jobs.as_ref().ok_or_else(ended)?;
        jobs.send(Box::new(Pending { work, outcome: None, reply })).await.map_err(|_| ended())?;
        answer.await.map_err(|_| ended())?
    }
}

impl Drop for Writer {
    /// Waits until all that was queued is stored.
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // A writer that panicked has told everyone who waited already.
            let _ = thread.join();
        }
    }
}

trait Job: Send {
    /// Does the work inside of a transaction, and keeps the outcome for the answer.
    fn run(&mut self, db: &Connection) -> rusqlite::Result<()>;

    /// The transaction was committed, or this went wrong.
    fn answer(self: Box<Self>, problem: Option<StoreError>);
}

struct Pending<T, W> {
    work: W,
    outcome: Option<Result<T>>,
    reply: oneshot::Sender<Result<T>>,
}

impl<T, W> Job for Pending<T, W>
where
    T: Send,
    W: FnMut(&Connection) -> std::result::Result<T, Fault> + Send,
{
    fn run(&mut self, db: &Connection) -> rusqlite::Result<()> {
        self.outcome = Some(match (self.work)(db) {
            Ok(done) => Ok(done),
            Err(Fault::Refused(refusal)) => Err(refusal),
            Err(Fault::Sql(error)) => return Err(error),
        });
        Ok(())
    }

    fn answer(self: Box<Self>, problem: Option<StoreError>) {
        let Self { outcome, reply, .. } = *self;
        failpoint::reach("before-reply");
        if let Some(outcome) = problem.map(Err).or(outcome) {
            // Whoever asked may have gone away.
            let _ = reply.send(outcome);
        }
    }
}

/// Whose fault it is that a transaction was undone.
enum Undone {
    /// This job's alone: the others can be tried again.
    By(usize, Error),
    /// The disk's, most likely: trying again at once would only take longer to say the same.
    All(Error),
}

struct Worker {
    db: Connection,
    path: PathBuf,
}

impl Worker {
    /// Until the store is gone and the queue is empty.
    fn run(self, mut queue: mpsc::Receiver<Box<dyn Job>>) {
        let mut batch = Vec::with_capacity(TOGETHER);
        while let Some(first) = queue.blocking_recv() {
            batch.push(first);
            while batch.len() < TOGETHER
                && let Ok(next) = queue.try_recv()
            {
                batch.push(next);
            }
            self.settle(&mut batch);
        }
    }

    /// Answers every job of the batch and leaves it empty.
    fn settle(&self, batch: &mut Vec<Box<dyn Job>>) {
        while !batch.is_empty() {
            match self.transaction(batch) {
                Ok(()) => batch.drain(..).for_each(|job| job.answer(None)),
                Err(Undone::By(index, error)) => batch.remove(index).answer(Some(self.told(&error))),
                Err(Undone::All(error)) => {
                    let told = self.told(&error);
                    batch.drain(..).for_each(|job| job.answer(Some(told.clone())));
                }
            }
        }
    }

    fn transaction(&self, batch: &mut [Box<dyn Job>]) -> std::result::Result<(), Undone> {
        let done = self.attempt(batch);
        // Some errors have ended the transaction already. If this fails too, the next attempt says so.
        if done.is_err() && !self.db.is_autocommit() {
            let _ = self.statement("ROLLBACK");
        }
        done
    }

    fn attempt(&self, batch: &mut [Box<dyn Job>]) -> std::result::Result<(), Undone> {
        if !self.db.is_autocommit() {
            self.statement("ROLLBACK").map_err(Undone::All)?;
        }
        self.statement("BEGIN IMMEDIATE").map_err(Undone::All)?;
        for (index, job) in batch.iter_mut().enumerate() {
            job.run(&self.db).map_err(|error| Undone::By(index, error))?;
        }
        failpoint::reach("before-commit");
        self.statement("COMMIT").map_err(Undone::All)?;
        failpoint::reach("after-commit");
        Ok(())
    }

    fn statement(&self, sql: &'static str) -> rusqlite::Result<()> {
        self.db.prepare_cached(sql)?.execute([]).map(drop)
    }

    fn told(&self, error: &Error) -> StoreError {
        let told = failed(&self.path, error);
        tracing::error!(error = %told, "the journal was not written");
        told
    }
}

#[cfg(test)]
mod tests;
