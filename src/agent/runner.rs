//! The actor of one task: the only one that writes its journal and the only place in the agent that waits. It
//! turns steps into events, stores them, then shows them, then goes on.

use std::sync::Arc;
use std::time::SystemTime;

use futures::StreamExt;
use tokio::sync::{Notify, mpsc, oneshot};

use super::machine::{Machine, Refused};
use super::script::Writer;
use super::tasks::{Held, Tasks};
use crate::domain::brain::{Brain, End, Step, Turn};
use crate::domain::principal::Principal;
use crate::domain::snapshot::Snapshot;
use crate::domain::store::{Commit, Committed, Filter, Push, SendKey, Store, StoreError};
use crate::proto::a2a::{Message, TaskState};
use crate::proto::task::TaskEvent;
use crate::proto::task::task_event::Event;
use crate::proto::wkt::Timestamp;

/// Steps that are ready together are stored together.
const STEPS: usize = 256;
/// Of the tasks of a context, as many as a brain may want to look at.
const REFERENCES: usize = 16;

/// Why a command was not carried out.
#[derive(Debug, Clone, thiserror::Error)]
pub(super) enum Failed {
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the message was sent before")]
    Repeated,
}

/// The answer to a command: the sequence of the event that it became.
pub(super) type Answer = oneshot::Sender<Result<u64, Failed>>;

/// What can be asked of a running task.
#[derive(Debug)]
pub(super) enum Command {
    Say(Box<Said>, Answer),
    Cancel(Answer),
}

/// A message, and what its repetition is recognised by.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) message: Message,
    pub(super) key: SendKey,
    /// A webhook that is stored with it.
    pub(super) push: Option<Push>,
}

/// What every runner shares.
pub(super) struct Shared {
    pub(super) store: Arc<dyn Store>,
    pub(super) brain: Arc<dyn Brain>,
    pub(super) tasks: Tasks,
    /// Told of every commit.
    pub(super) committed: Arc<Notify>,
}

impl Shared {
    /// The only way to the journal: stored, then told.
    pub(super) async fn commit(&self, who: &Principal, commit: Commit) -> Result<Committed, StoreError> {
        let committed = self.store.commit(who, commit).await?;
        self.committed.notify_one();
        Ok(committed)
    }
}

/// Whose task it is.
#[derive(Debug, Clone)]
pub(super) struct Owner {
    pub(super) who: Principal,
    pub(super) task_id: String,
    pub(super) context_id: String,
    pub(super) tenant: String,
}

pub(super) struct Runner {
    pub(super) shared: Arc<Shared>,
    pub(super) owner: Owner,
    pub(super) machine: Machine,
    pub(super) held: Held,
    pub(super) inbox: mpsc::Receiver<Command>,
    /// Said and not worked on yet.
    pub(super) said: Vec<Message>,
    /// Nothing else is in its context.
    pub(super) alone: bool,
}

/// What to do next.
enum Next {
    Go,
    Stop,
}

impl Runner {
    /// Works until there is nothing left to do.
    pub(super) async fn run(mut self) {
        loop {
            let next = if self.said.is_empty() { self.idle().await } else { self.turn().await };
            match next {
                Ok(Next::Go) => {}
                Ok(Next::Stop) => return,
                Err(problem) => self.give_up(&problem).await,
            }
        }
    }

    /// Whoever waits for the task is told. If not even that can be stored, the task stays as it is, and the next
    /// message or start finds it there.
    async fn give_up(&mut self, problem: &Failed) {
        tracing::error!(task = self.owner.task_id, %problem, "a task cannot go on");
        self.said.clear();
        let writer =
            Writer::new(&self.owner.task_id, &self.owner.context_id, uuid::Uuid::now_v7().to_string());
        if let Err(problem) = self.record(vec![writer.broken()]).await {
            tracing::error!(task = self.owner.task_id, %problem, "and that cannot be stored");
        }
    }

    async fn idle(&mut self) -> Result<Next, Failed> {
        let Some(command) = self.shared.tasks.retire(&self.owner.task_id, &mut self.inbox) else {
            return Ok(Next::Stop);
        };
        self.obey(command).await
    }

    /// Between turns, or in the middle of one.
    async fn obey(&mut self, command: Command) -> Result<Next, Failed> {
        match command {
            Command::Say(said, answer) => {
                let Said { message, key, push } = *said;
                let stored = self.store(vec![Event::Message(message.clone())], Some(key), push).await;
                if stored.is_ok() {
                    self.said.push(message);
                }
                let _ = answer.send(stored);
            }
            Command::Cancel(answer) => {
                let _ = answer.send(self.record(vec![Writer::state(TaskState::Canceled)]).await);
                self.said.clear();
            }
        }
        Ok(Next::Go)
    }

    async fn turn(&mut self) -> Result<Next, Failed> {
        let turn = self.prepare().await?;
        let mut writer =
            Writer::new(&self.owner.task_id, &self.owner.context_id, uuid::Uuid::now_v7().to_string());
        let mut steps = self.shared.brain.work(turn).ready_chunks(STEPS);
        loop {
            tokio::select! {
                biased;
                Some(command) = self.inbox.recv() => {
                    self.obey(command).await?;
                    if self.machine.state().is_terminal() {
                        return Ok(Next::Go);
                    }
                }
                ready = steps.next() => {
                    if self.take(ready, &mut writer).await? {
                        return Ok(Next::Go);
                    }
                }
            }
        }
    }

    /// Stores what the steps come to. Tells whether the turn has ended.
    async fn take(&mut self, ready: Option<Vec<Step>>, writer: &mut Writer) -> Result<bool, Failed> {
        let steps = ready.unwrap_or_else(|| vec![Step::End(End::Completed(None))]);
        let more_is_said = !self.said.is_empty();
        let (events, ended) = writer.events(steps, self.machine.state(), more_is_said);
        if !events.is_empty() {
            self.record(events).await?;
        }
        Ok(ended)
    }

    /// What was said becomes the turn's; what comes from now on waits for the next.
    async fn prepare(&mut self) -> Result<Turn, Failed> {
        let messages = std::mem::take(&mut self.said);
        let Owner { who, task_id, context_id, .. } = &self.owner;
        let first = self.machine.sequence() <= 2;
        let history = if first { Vec::new() } else { self.snapshot(task_id).await?.task.history };
        let references = self.references(&messages).await?;
        tracing::debug!(task = task_id, who = who.name(), new = messages.len(), "a turn begins");
        let known = history.len().saturating_sub(messages.len());
        let history = history.into_iter().take(known).collect();
        Ok(Turn { task_id: task_id.clone(), context_id: context_id.clone(), messages, history, references })
    }

    async fn references(&self, messages: &[Message]) -> Result<Vec<crate::proto::a2a::Task>, Failed> {
        let mut ids: Vec<String> = messages.iter().flat_map(|m| m.reference_task_ids.clone()).collect();
        if ids.is_empty() && self.alone {
            return Ok(Vec::new());
        }
        if ids.is_empty() {
            let filter = Filter {
                tenant: self.owner.tenant.clone(),
                context_id: Some(self.owner.context_id.clone()),
                ..Filter::default()
            };
            let page = self.shared.store.list(&self.owner.who, &filter, None, REFERENCES).await?;
            ids = page.heads.into_iter().map(|head| head.task_id).collect();
        }
        let mut tasks = Vec::new();
        for id in ids.iter().filter(|id| **id != self.owner.task_id).take(REFERENCES) {
            match self.snapshot(id).await {
                Ok(snapshot) if snapshot.tenant == self.owner.tenant => tasks.push(snapshot.task),
                // Another's task, or none, is a reference to nothing.
                Ok(_) | Err(StoreError::NotFound) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(tasks)
    }

    async fn snapshot(&self, task_id: &str) -> Result<Snapshot, StoreError> {
        let events = self.shared.store.events(&self.owner.who, task_id, 0, usize::MAX).await?;
        Ok(Snapshot::of(&events))
    }

    async fn record(&mut self, events: Vec<Event>) -> Result<u64, Failed> {
        self.store(events, None, None).await
    }

    /// Stored first, then shown. Returns the last sequence.
    async fn store(
        &mut self,
        events: Vec<Event>,
        send: Option<SendKey>,
        push: Option<Push>,
    ) -> Result<u64, Failed> {
        let now = SystemTime::now();
        let mut machine = self.machine;
        let time = Timestamp::of(now);
        let changes = events.iter().any(|event| matches!(event, Event::State(_) | Event::Created(_)));
        let events: Vec<TaskEvent> =
            events.into_iter().map(|event| machine.apply(event, time)).collect::<Result<_, _>>()?;
        let commit = Commit {
            task_id: self.owner.task_id.clone(),
            events: events.clone(),
            state: machine.state(),
            updated: changes.then_some(now),
            send,
            push,
        };
        if let Committed::Repeated { .. } = self.shared.commit(&self.owner.who, commit).await? {
            return Err(Failed::Repeated);
        }
        self.machine = machine;
        self.held.live.publish(&events.into_iter().map(Arc::new).collect::<Vec<_>>());
        Ok(machine.sequence())
    }
}
