//! The actor of one task: the only one that writes its journal and the only place in the agent that waits. It
//! turns steps into events, stores them, then shows them, then goes on.

use std::sync::Arc;
use std::time::SystemTime;

use futures::stream::{BoxStream, Fuse};
use futures::{FutureExt, Stream, StreamExt};
use tokio::sync::{Notify, broadcast, mpsc, oneshot};

use super::brought::{self, Found};
use super::call::Refusal;
use super::machine::{Machine, Refused};
use super::mind::Mind;
use super::script::Writer;
use super::session::Session;
use super::tasks::{Held, Tasks};
use super::toolboxes::Toolboxes;
use crate::domain::brain::{End, Step};
use crate::domain::grant::AlwaysRule;
use crate::domain::principal::Principal;
use crate::domain::store::{Commit, Committed, Push, SendKey, Store, StoreError};
use crate::domain::stretch::Stretch;
use crate::domain::tool::BadSettings;
use crate::proto::a2a::{Message, TaskState};
use crate::proto::devtool::ToolCallConfirmation;
use crate::proto::task::task_event::Event;
use crate::proto::task::{CommandLine, TaskEvent, TurnStarted};
use crate::proto::wkt::Timestamp;

/// Steps that are ready together are stored together.
const STEPS: usize = 256;

/// Why a command was not carried out.
#[derive(Debug, Clone, thiserror::Error)]
pub(super) enum Failed {
    #[error(transparent)]
    Refused(#[from] Refused),
    /// A decision about a call, in this part of the message.
    #[error("{refusal}")]
    Decision { part: usize, refusal: Refusal },
    #[error(transparent)]
    Settings(#[from] BadSettings),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the message was sent before")]
    Repeated,
    #[error("the work on the task is lost")]
    Lost,
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
    /// What it decides about calls, and in which part.
    pub(super) decisions: Vec<(usize, ToolCallConfirmation)>,
    /// A webhook that is stored with it.
    pub(super) push: Option<Push>,
}

/// What is stored in the same commit as events.
#[derive(Debug, Default)]
pub(super) struct Along {
    pub(super) send: Option<SendKey>,
    pub(super) push: Option<Push>,
    pub(super) grants: Vec<AlwaysRule>,
}

/// What every runner shares.
pub(super) struct Shared {
    pub(super) store: Arc<dyn Store>,
    pub(super) mind: Mind,
    pub(super) tasks: Tasks,
    pub(super) toolboxes: Toolboxes,
    /// Told of every commit.
    pub(super) committed: Arc<Notify>,
    /// Told of every change that a list of tasks shows.
    pub(super) changes: broadcast::Sender<Changed>,
}

/// A task that began, changed its state, or began or ceased to ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    pub who: Principal,
    pub task_id: String,
}

impl Shared {
    /// The only way to the journal: stored, then told.
    pub(super) async fn commit(&self, who: &Principal, commit: Commit) -> Result<Committed, StoreError> {
        let committed = self.store.commit(who, commit).await?;
        self.committed.notify_one();
        Ok(committed)
    }

    /// After the events are stored and shown. Costs nothing where nobody looks.
    pub(super) fn tell(&self, owner: &Owner, events: &Stretch, state_changed: bool) {
        if self.changes.receiver_count() > 0 && (state_changed || events.iter().any(asks)) {
            let changed = Changed { who: owner.who.clone(), task_id: owner.task_id.clone() };
            // Refused where the last one has gone meanwhile.
            let _ = self.changes.send(changed);
        }
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
    /// What the task executes, if it does and its journal was read.
    pub(super) command: Option<CommandLine>,
    /// How its turns end, once it is known.
    pub(super) rest: Option<TaskState>,
    /// None as long as neither the model nor a tool was needed.
    pub(super) session: Option<Box<Session>>,
    /// Whoever cancelled the task hears of it when the work has stopped.
    pub(super) farewell: Option<(Answer, Result<u64, Failed>)>,
}

/// What a task does.
enum Stage {
    /// Nothing, or it waits for the user.
    Idle,
    /// Begins to work on what was said.
    Turn,
    Think,
    Act,
    /// A slash command does its next step.
    Command,
}

/// What to do next.
pub(super) enum Next {
    Go,
    Stop,
}

impl Runner {
    /// Works until there is nothing left to do.
    pub(super) async fn run(mut self) {
        loop {
            if let Some((answer, done)) = self.farewell.take() {
                let _ = answer.send(done);
            }
            let next = match self.stage() {
                Stage::Idle => self.idle().await,
                Stage::Turn => self.turn().await,
                Stage::Think => self.think().await,
                Stage::Act => self.act().await,
                Stage::Command => self.command().await,
            };
            match next {
                Ok(Next::Go) => {}
                Ok(Next::Stop) => return,
                Err(problem) => self.give_up(&problem).await,
            }
        }
    }

    /// Goes on with what another process was working on, if it can be known how far that got.
    pub(super) async fn resume(mut self) {
        match self.session().await {
            Ok(session) => self.said = session.work.conversation.waiting().to_vec(),
            Err(problem) => self.give_up(&problem).await,
        }
        // One in which nothing was said yet goes on waiting.
        let has_begun = self.machine.sequence() > 1;
        let is_lost = has_begun && matches!(self.stage(), Stage::Idle) && !self.machine.state().is_terminal();
        if is_lost {
            let interrupted = self.writer().interrupted();
            if let Err(problem) = self.record(vec![interrupted]).await {
                tracing::error!(task = self.owner.task_id, %problem, "that a task was interrupted cannot be stored");
            }
        }
        self.run().await;
    }

    fn stage(&mut self) -> Stage {
        let state = self.machine.state();
        if state.is_terminal() {
            // Nobody works on what was said last.
            self.said.clear();
            return Stage::Idle;
        }
        match &self.session {
            Some(session) if state == TaskState::Working && session.work.acts() => Stage::Act,
            Some(session) if state == TaskState::Working && session.work.thinks() => Stage::Think,
            Some(session) if state == TaskState::Working && session.work.commands() => Stage::Command,
            // Asks about calls: what was said besides waits.
            Some(session) if session.work.acts() => Stage::Idle,
            _ if self.said.is_empty() => Stage::Idle,
            _ => Stage::Turn,
        }
    }

    /// Whoever waits for the task is told. If not even that can be stored, the task stays as it is, and the next
    /// message or start finds it there.
    async fn give_up(&mut self, problem: &Failed) {
        tracing::error!(task = self.owner.task_id, %problem, "a task cannot go on");
        self.said.clear();
        self.session = None;
        let broken = match problem {
            Failed::Settings(bad) => self.writer().failed(&bad.to_string(), "invalid_settings"),
            _ => self.writer().broken(),
        };
        if let Err(problem) = self.record(vec![broken]).await {
            tracing::error!(task = self.owner.task_id, %problem, "and that cannot be stored");
        }
    }

    async fn idle(&mut self) -> Result<Next, Failed> {
        let Some(command) = self.shared.tasks.retire(&self.owner.task_id, &mut self.inbox) else {
            return Ok(Next::Stop);
        };
        self.obey(command).await;
        Ok(Next::Go)
    }

    pub(super) fn writer(&self) -> Writer {
        Writer::new(&self.owner.task_id, &self.owner.context_id, uuid::Uuid::now_v7().to_string())
    }

    /// Between turns, or in the middle of one.
    pub(super) async fn obey(&mut self, command: Command) {
        match command {
            Command::Say(said, answer) => {
                let heard = self.hear(*said).await;
                let _ = answer.send(heard);
            }
            Command::Cancel(answer) => {
                let cancelled = self.cancel().await;
                self.farewell = Some((answer, cancelled));
            }
        }
    }

    async fn cancel(&mut self) -> Result<u64, Failed> {
        self.stop_calls().await?;
        self.record(vec![Writer::state(TaskState::Canceled)]).await
    }

    async fn turn(&mut self) -> Result<Next, Failed> {
        // Its first turn is its own; what is said later is for the model.
        if self.command.is_some() && self.machine.state() == TaskState::Submitted {
            return self.begin_command().await;
        }
        let (turn, missing) = self.prepare().await?;
        let messages = turn.messages.clone();
        let unknown = brought::unknown(&messages, &Found { tasks: &turn.references, missing });
        let brought = brought::brought(&messages, &turn.references);
        let Some(steps) = self.shared.mind.brain.work(turn) else {
            return match unknown {
                Some(question) => self.ask_back(&messages, &question).await,
                None => self.begin_turn(&messages, brought).await,
            };
        };
        let begun = begun(&messages, true, String::new());
        self.perform(steps, begun).await
    }

    /// Follows what acts directly, without a model.
    async fn perform(&mut self, steps: BoxStream<'static, Step>, begun: Event) -> Result<Next, Failed> {
        let rest = self.rest().await?;
        let (mut writer, mut begun) = (self.writer().resting(rest), Some(begun));
        let mut steps = steps.fuse();
        loop {
            tokio::select! {
                biased;
                Some(command) = self.inbox.recv() => {
                    self.obey(command).await;
                    if self.machine.state().is_terminal() {
                        return Ok(Next::Go);
                    }
                }
                ready = ready(&mut steps) => {
                    if self.take(ready, steps.is_done(), &mut writer, begun.take()).await? {
                        return Ok(Next::Go);
                    }
                }
            }
        }
    }

    /// Stores what the steps come to; nothing comes behind them if it is over. Tells whether the turn has ended.
    async fn take(
        &mut self,
        mut steps: Vec<Step>,
        over: bool,
        writer: &mut Writer,
        begun: Option<Event>,
    ) -> Result<bool, Failed> {
        if over {
            // Unless they have said how it ends.
            steps.push(Step::End(End::Completed(None)));
        }
        let more_is_said = !self.said.is_empty();
        let mut events = Vec::with_capacity(steps.len() + 3);
        events.extend(begun);
        let ended = writer.events(steps, self.machine.state(), more_is_said, &mut events);
        if !events.is_empty() {
            self.record(events).await?;
        }
        Ok(ended)
    }

    /// How a turn of the task ends that has done its work.
    pub(super) async fn rest(&mut self) -> Result<TaskState, Failed> {
        if let Some(rest) = self.rest {
            return Ok(rest);
        }
        let first = self.shared.store.events(&self.owner.who, &self.owner.task_id, 0, 1).await?;
        let created = first.iter().find_map(|event| match &event.event {
            Some(Event::Created(created)) => Some(created),
            _ => None,
        });
        let goes_on = created.is_some_and(|created| created.conversational && created.command.is_none());
        Ok(*self.rest.insert(rest(goes_on)))
    }

    /// The files that were written since they were told of last.
    pub(super) fn made(&self) -> Vec<Event> {
        let Some(session) = &self.session else { return Vec::new() };
        session.work.made.artifacts(session.tools.workspace(), || uuid::Uuid::now_v7().to_string())
    }

    pub(super) async fn record(&mut self, events: Vec<Event>) -> Result<u64, Failed> {
        self.store(events, Along::default()).await
    }

    /// Stored first, then shown. Returns the last sequence.
    pub(super) async fn store(&mut self, events: Vec<Event>, along: Along) -> Result<u64, Failed> {
        let Along { send, push, grants } = along;
        let now = SystemTime::now();
        let mut machine = self.machine;
        let time = Timestamp::of(now);
        let states = events.iter().any(|event| matches!(event, Event::State(_)));
        let mut applied = Vec::with_capacity(events.len());
        for event in events {
            applied.push(machine.apply(event, time)?);
        }
        let shared = Stretch::from(applied);
        let changes = states || machine.state() != self.machine.state();
        let commit = Commit {
            task_id: self.owner.task_id.clone(),
            events: shared.clone(),
            state: machine.state(),
            updated: changes.then_some(now),
            send,
            grants,
            push,
        };
        if let Committed::Repeated { .. } = self.shared.commit(&self.owner.who, commit).await? {
            return Err(Failed::Repeated);
        }
        self.machine = machine;
        if let Some(session) = &mut self.session {
            shared.iter().for_each(|event| session.work.fold(event, &session.declarations));
        }
        self.held.live.publish(shared.clone());
        self.shared.tell(&self.owner, &shared, changes);
        Ok(machine.sequence())
    }
}

/// Whether somebody is asked by it, or asked no longer.
fn asks(event: &TaskEvent) -> bool {
    match &event.event {
        Some(Event::ToolCall(call)) => call.confirmation_request.is_some(),
        Some(Event::Decision(_)) => true,
        _ => false,
    }
}

/// A conversation waits for what comes next; other tasks are done.
pub(super) fn rest(goes_on: bool) -> TaskState {
    if goes_on { TaskState::InputRequired } else { TaskState::Completed }
}

/// These messages are being worked on.
pub(super) fn begun(messages: &[Message], scripted: bool, brought: String) -> Event {
    let message_ids = messages.iter().map(|message| message.message_id.clone()).collect();
    Event::Turn(TurnStarted { message_ids, scripted, command: None, brought })
}

/// The next item with all that are ready behind it; nothing only at the end. `ready_chunks` would set memory aside for the
/// most that there could be, each time.
pub(super) async fn ready<T>(items: &mut Fuse<impl Stream<Item = T> + Unpin>) -> Vec<T> {
    let Some(first) = items.next().await else { return Vec::new() };
    // Behind the first, some know how many are left.
    let mut ready = Vec::with_capacity(2 + items.size_hint().0.min(STEPS));
    ready.push(first);
    while ready.len() < STEPS
        && let Some(Some(item)) = items.next().now_or_never()
    {
        ready.push(item);
    }
    ready
}
