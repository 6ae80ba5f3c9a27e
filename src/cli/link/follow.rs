//! A task, followed to its end over cuts and restarts of the server: behind each cut it goes on from the last update that
//! was seen, so that nothing is missing and nothing comes twice.

use std::pin::Pin;

use futures::{Stream, StreamExt};
use tokio::time::Instant;
use tonic::Status;

use super::Client;
use super::cut::{Tries, is_cut};
use crate::proto::devtool::task_update::Update;
use crate::proto::devtool::{FollowTaskRequest, StartTaskRequest, TaskUpdate};

type Updates = Pin<Box<dyn Stream<Item = Result<TaskUpdate, Status>> + Send>>;

/// What comes next.
#[derive(Debug)]
pub enum Next {
    Update(Box<TaskUpdate>),
    /// The connection is cut; it will be tried again, without another word until it is there or given up.
    Cut(String),
    /// It is there again.
    Back,
    /// The task has ended, and all of it was told.
    End,
    Failed(Status),
}

pub struct Follower {
    client: Client,
    source: Source,
    updates: Option<Updates>,
    pub task_id: String,
    pub context_id: String,
    /// Of the last update that was seen.
    pub cursor: u64,
    tries: Tries,
    cut: bool,
    wait: Option<Instant>,
    ended: bool,
}

/// What to ask the server for.
enum Source {
    /// Sent again after a cut, it leads to the same task by the id of its message.
    Start(Box<StartTaskRequest>),
    Follow,
}

impl Follower {
    /// Begins a task.
    pub fn start(client: Client, request: StartTaskRequest) -> Self {
        Self::new(client, Source::Start(Box::new(request)), String::new(), 0)
    }

    /// Follows one from behind a cursor on.
    pub fn follow(client: Client, task_id: String, cursor: u64) -> Self {
        Self::new(client, Source::Follow, task_id, cursor)
    }

    fn new(client: Client, source: Source, task_id: String, cursor: u64) -> Self {
        let (updates, context_id, tries) = (None, String::new(), Tries::default());
        Self {
            client,
            source,
            updates,
            task_id,
            context_id,
            cursor,
            tries,
            cut: false,
            wait: None,
            ended: false,
        }
    }

    /// Nothing is lost if it is dropped while it waits.
    pub async fn next(&mut self) -> Next {
        if self.ended {
            return Next::End;
        }
        loop {
            if let Some(until) = self.wait {
                tokio::time::sleep_until(until).await;
                self.wait = None;
            }
            let Some(updates) = &mut self.updates else {
                match self.open().await {
                    Ok(updates) => {
                        self.tries.opened();
                        self.updates = Some(updates);
                    }
                    Err(status) => match self.failed(status) {
                        Some(next) => return next,
                        None => continue,
                    },
                }
                if std::mem::take(&mut self.cut) {
                    return Next::Back;
                }
                continue;
            };
            match updates.next().await {
                Some(Ok(update)) if update.sequence != 0 && update.sequence <= self.cursor => {}
                Some(Ok(update)) => return self.seen(update),
                Some(Err(status)) => match self.failed(status) {
                    Some(next) => return next,
                    None => continue,
                },
                None if self.task_id.is_empty() => self.ended = true,
                // A stream from a start ends where the task asks; from there on it is followed.
                None => self.updates = None,
            }
            if self.ended {
                return Next::End;
            }
        }
    }

    async fn open(&mut self) -> Result<Updates, Status> {
        match &self.source {
            Source::Start(request) if self.task_id.is_empty() => {
                let stream = self.client.start_task((**request).clone()).await?.into_inner();
                Ok(stream.map(|item| Ok(item?.update.unwrap_or_default())).boxed())
            }
            _ => {
                let request = FollowTaskRequest { task_id: self.task_id.clone(), after: self.cursor };
                let stream = self.client.follow_task(request).await?.into_inner();
                Ok(stream.map(|item| Ok(item?.update.unwrap_or_default())).boxed())
            }
        }
    }

    fn seen(&mut self, update: TaskUpdate) -> Next {
        self.tries.worked();
        self.task_id.clone_from(&update.task_id);
        self.context_id.clone_from(&update.context_id);
        self.cursor = self.cursor.max(update.sequence);
        if let Some(Update::Status(status)) = &update.update {
            self.ended = status.state().is_terminal();
        }
        Next::Update(Box::new(update))
    }

    /// None if it was told before that the connection is cut.
    fn failed(&mut self, status: Status) -> Option<Next> {
        self.updates = None;
        match self.tries.failed().filter(|_| is_cut(&status)) {
            None => {
                self.ended = true;
                Some(Next::Failed(status))
            }
            Some(delay) => {
                self.wait = Some(Instant::now() + delay);
                let told = std::mem::replace(&mut self.cut, true);
                (!told).then(|| Next::Cut(status.message().to_owned()))
            }
        }
    }
}
