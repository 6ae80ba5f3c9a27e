//! The door to the agent: send, follow, cancel. Finds the actor of a task or starts one.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::sync::{Notify, broadcast, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::call::Refusal;
use super::machine::{Machine, Refused};
use super::mind::Mind;
use super::runner::{Answer, Changed, Command, Failed, Owner, Runner, Said, Shared, rest};
use super::tasks::{Delivered, Held, Tasks};
use super::toolboxes::Toolboxes;
use super::watch::Watch;
use crate::domain::mcp::Servers;
use crate::domain::principal::Principal;
use crate::domain::store::{Commit, Committed, Head, Push, SendKey, Store, StoreError};
use crate::domain::stretch::Stretch;
use crate::domain::tool::{BadSettings, Workshop};
use crate::proto::a2a::{Message, Part, TaskState};
use crate::proto::devtool::{AgentSettings, ToolCallConfirmation};
use crate::proto::task::task_event::Event;
use crate::proto::task::{CommandLine, Created};
use crate::proto::wkt::Timestamp;

/// How many changes a watcher may be late.
const CHANGES: usize = 1024;

/// What a new task is made of.
#[derive(Debug, Clone)]
pub struct NewTask {
    pub tenant: String,
    /// Has its context, and no task yet.
    pub message: Message,
    pub repeat: Repeat,
    /// The context is new too, so there is nothing in it to refer to.
    pub new_context: bool,
    /// What the client wants; without it, what held in the context before.
    pub settings: Option<AgentSettings>,
    /// A webhook that is stored with it.
    pub push: Option<Push>,
    /// The message is this slash command.
    pub command: Option<CommandLine>,
    /// Its turns end by waiting for the next message, unless it is a command; its client sees it in Gemini CLI's words.
    pub conversational: bool,
}

/// A further message to a task.
#[derive(Debug, Clone)]
pub struct Further {
    pub message: Message,
    pub repeat: Repeat,
    /// What it decides about tool calls, and in which part.
    pub decisions: Vec<(usize, ToolCallConfirmation)>,
    /// A webhook that is stored with it.
    pub push: Option<Push>,
}

/// What a repetition of a send is recognised by, and for how long.
#[derive(Debug, Clone, Copy)]
pub struct Repeat {
    pub hash: [u8; 32],
    pub window: Duration,
}

impl Repeat {
    fn key(self, at: SystemTime) -> SendKey {
        SendKey { hash: self.hash, at, window: self.window }
    }
}

/// Where a message went.
pub enum Sent {
    /// Answered at once; there is no task.
    Reply(Vec<Part>),
    /// To this task, as the event with this sequence.
    Task { watch: Watch, sequence: u64 },
}

#[derive(Debug, Clone, thiserror::Error)]
pub enum EngineError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error("too many messages are waiting for this task; try again when it has answered")]
    Busy,
    #[error("the task stopped before it answered")]
    Gone,
    #[error("the message was sent before")]
    Repeated,
    /// A decision about a tool call, in this part of the message.
    #[error("{refusal}")]
    Decision { part: usize, refusal: Refusal },
    #[error(transparent)]
    Settings(#[from] BadSettings),
    /// A stream of a task that nobody works on.
    #[error("the server is going away; follow the task again, from the cursor")]
    Stopping,
}

impl From<Failed> for EngineError {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Refused(refused) => Self::Refused(refused),
            Failed::Store(error) => Self::Store(error),
            Failed::Repeated => Self::Repeated,
            Failed::Decision { part, refusal } => Self::Decision { part, refusal },
            Failed::Settings(bad) => Self::Settings(bad),
            Failed::Lost => Self::Gone,
        }
    }
}

pub type Result<T> = std::result::Result<T, EngineError>;

/// The agent of this process.
#[derive(Clone)]
pub struct Engine {
    pub(super) shared: Arc<Shared>,
}

impl Engine {
    pub fn new(store: Arc<dyn Store>, mind: Mind) -> Self {
        let (tasks, toolboxes, committed) = (Tasks::default(), Toolboxes::default(), Arc::default());
        let changes = broadcast::Sender::new(CHANGES);
        Self { shared: Arc::new(Shared { store, mind, tasks, toolboxes, committed, changes }) }
    }

    /// The process is about to stop. Ends what would hold that up without an end of its own: streams of tasks that rest
    /// until somebody says something, and those of whoever waits for `closing`. What is worked on goes on.
    pub fn close(&self) {
        self.shared.tasks.close();
    }

    pub fn closing(&self) -> &CancellationToken {
        self.shared.tasks.closing()
    }

    /// Ends what contexts have left running that nobody has worked in for long. To be called now and then.
    pub fn tidy(&self) {
        self.shared.toolboxes.tidy();
        self.shared.mind.servers.tidy();
    }

    /// MCP servers, for whoever shows them and their prompts.
    pub fn servers(&self) -> &Arc<dyn Servers> {
        &self.shared.mind.servers
    }

    pub fn store(&self) -> &Arc<dyn Store> {
        &self.shared.store
    }

    /// Told after every commit of this process, for one who follows all of them and reads in the store what is new.
    pub fn committed(&self) -> &Arc<Notify> {
        &self.shared.committed
    }

    /// Tells of every task of this process that begins, changes its state, or begins or ceases to ask. Whoever lags reads
    /// the store.
    pub fn changes(&self) -> broadcast::Receiver<Changed> {
        self.shared.changes.subscribe()
    }

    /// Looks at what the last run of the process left behind. What had not begun begins, and what can be gone on with
    /// goes on; the rest has failed, because nobody can know how far it got. Whoever is asked is still asked.
    pub async fn recover(&self) -> Result<usize> {
        let unfinished = self.shared.store.unfinished().await?;
        let count = unfinished.len();
        for (who, head) in unfinished {
            if matches!(head.state, TaskState::Submitted | TaskState::Working) {
                tokio::spawn(self.again(&who, &head).resume());
            }
        }
        Ok(count)
    }

    /// A first message: answered, or the beginning of a task.
    pub async fn begin(&self, who: &Principal, new: NewTask) -> Result<Sent> {
        if new.command.is_none()
            && let Some(parts) = self.shared.mind.brain.reply(&new.message)
        {
            return Ok(Sent::Reply(parts));
        }
        let (told, heard) = oneshot::channel();
        // Apart from the caller: one that goes away in the middle must not leave a task that is stored and never run.
        drop(tokio::spawn(self.clone().start(who.clone(), new, told)));
        heard.await.map_err(|_| EngineError::Gone)?
    }

    /// Stores the task, tells the caller, and runs it.
    async fn start(self, who: Principal, new: NewTask, told: oneshot::Sender<Result<Sent>>) {
        match self.create(&who, new).await {
            Ok((watch, runner)) => {
                let _ = told.send(Ok(Sent::Task { watch, sequence: 2 }));
                if let Some(runner) = runner {
                    runner.run().await;
                }
            }
            Err(error) => drop(told.send(Err(error))),
        }
    }

    /// The runner of a new task; none if the same was sent before.
    async fn create(&self, who: &Principal, new: NewTask) -> Result<(Watch, Option<Runner>)> {
        let task_id = uuid::Uuid::now_v7().to_string();
        let settings = self.settings(who, &new).await?;
        let NewTask { tenant, mut message, repeat, new_context, push, command, conversational, .. } = new;
        message.task_id.clone_from(&task_id);
        let owner = Owner {
            who: who.clone(),
            task_id: task_id.clone(),
            context_id: message.context_id.clone(),
            tenant,
        };
        let now = SystemTime::now();
        let what = Created { settings, command: command.clone(), conversational, ..Created::default() };
        let (machine, events) = first_events(&owner, what, message.clone(), now)?;
        let commit = Commit {
            task_id: task_id.clone(),
            events: events.clone(),
            state: machine.state(),
            updated: Some(now),
            send: Some(repeat.key(now)),
            grants: Vec::new(),
            push: push.clone(),
        };
        // On the list before it is stored, so that whoever finds it there meets this runner and no other.
        let (held, mut inbox) = self.shared.tasks.begin(&task_id);
        let committed = self.shared.commit(who, commit).await;
        if !matches!(committed, Ok(Committed::Stored)) {
            self.shared.tasks.retire(&task_id, &mut inbox);
        }
        if let Committed::Repeated { task_id } = committed? {
            let head = self.shared.store.head(who, &task_id).await?;
            self.attach(who, &head, 2, push).await?;
            return Ok((self.watch(who, &head), None));
        }
        held.live.publish(events.clone());
        self.shared.tell(&owner, &events, true);
        let watch = self.watch_held(who, &task_id, held.clone(), None);
        let said = vec![message];
        let shared = Arc::clone(&self.shared);
        let runner = Runner {
            shared,
            owner,
            machine,
            held,
            inbox,
            said,
            alone: new_context,
            // A command ends when it has done what it does.
            rest: Some(rest(conversational && command.is_none())),
            command,
            session: None,
            farewell: None,
        };
        Ok((watch, Some(runner)))
    }

    /// A further message to a task. One that came before is not said again; whoever sent it is told where it is.
    pub async fn say(&self, who: &Principal, head: &Head, further: Further) -> Result<Sent> {
        let watch = self.watch(who, head);
        let Further { message, repeat, decisions, push } = further;
        let key = repeat.key(SystemTime::now());
        let said = Said { message: message.clone(), key: key.clone(), decisions, push: push.clone() };
        let asked = match head.state.is_terminal() {
            true => Err(Refused::Terminal(head.state).into()),
            false => self.ask(who, head, |answer| Command::Say(Box::new(said), answer)).await,
        };
        let before = match asked {
            Ok(sequence) => return Ok(Sent::Task { watch, sequence }),
            Err(EngineError::Repeated) => true,
            // The task has ended, or the call was decided, perhaps of this very message.
            Err(EngineError::Refused(_) | EngineError::Decision { .. }) => {
                self.shared.store.sent(who, &key).await?.is_some()
            }
            Err(_) => false,
        };
        if !before {
            return asked.map(|sequence| Sent::Task { watch, sequence });
        }
        let sequence = self.heard(who, head, &message).await?;
        self.attach(who, head, sequence, push).await?;
        Ok(Sent::Task { watch, sequence })
    }

    /// A repetition may bring a webhook that the first send did not have. What is there already is not made twice.
    async fn attach(&self, who: &Principal, head: &Head, sequence: u64, push: Option<Push>) -> Result<()> {
        if let Some(mut push) = push {
            push.config.task_id.clone_from(&head.task_id);
            self.shared.store.put_push(who, Push { delivered: sequence, ..push }).await?;
            self.shared.committed.notify_one();
        }
        Ok(())
    }

    async fn heard(&self, who: &Principal, head: &Head, message: &Message) -> Result<u64> {
        let events = self.shared.store.events(who, &head.task_id, 0, usize::MAX).await?;
        let same = |event: &Event| matches!(event, Event::Message(said) if **said == *message);
        let found = events.iter().find(|event| event.event.as_ref().is_some_and(same));
        found.map(|event| event.sequence).ok_or(EngineError::Repeated)
    }

    /// Returns when the work has stopped and the task is canceled.
    pub async fn cancel(&self, who: &Principal, head: &Head) -> Result<()> {
        self.ask(who, head, Command::Cancel).await.map(drop)
    }

    /// A task that the principal may see: its head was read for it.
    pub fn watch(&self, who: &Principal, head: &Head) -> Watch {
        let held = self.shared.tasks.hold(&head.task_id);
        let last = head.state.is_terminal().then_some(head.sequence);
        self.watch_held(who, &head.task_id, held, last)
    }

    fn watch_held(&self, who: &Principal, task_id: &str, held: Held, last: Option<u64>) -> Watch {
        Watch {
            store: Arc::clone(&self.shared.store),
            who: who.clone(),
            task_id: task_id.to_owned(),
            held,
            last,
        }
    }

    async fn ask(
        &self,
        who: &Principal,
        head: &Head,
        command: impl FnOnce(Answer) -> Command,
    ) -> Result<u64> {
        let (answer, answered) = oneshot::channel();
        match self.shared.tasks.deliver(&head.task_id, command(answer)) {
            Delivered::Full => return Err(EngineError::Busy),
            Delivered::ToRunner => {}
            // Apart from the caller, for the same reason.
            Delivered::ToNew(held, inbox) => {
                drop(tokio::spawn(self.clone().revive(who.clone(), head.task_id.clone(), held, inbox)));
            }
        }
        Ok(answered.await.map_err(|_| EngineError::Gone)??)
    }

    /// Runs a task that nobody runs. Its head is read here, because a runner may have come and gone since the caller
    /// looked.
    async fn revive(self, who: Principal, task_id: String, held: Held, mut inbox: mpsc::Receiver<Command>) {
        let head = match self.shared.store.head(&who, &task_id).await {
            Ok(head) => head,
            Err(error) => {
                tracing::error!(task = task_id, %error, "a task cannot be run");
                // Whoever asked hears that nobody answers.
                while self.shared.tasks.retire(&task_id, &mut inbox).is_some() {}
                return;
            }
        };
        self.runner(&who, &head, held, inbox).run().await;
    }

    /// The runner of a task that another process began.
    fn again(&self, who: &Principal, head: &Head) -> Runner {
        let (held, inbox) = self.shared.tasks.join(&head.task_id);
        self.runner(who, head, held, inbox)
    }

    fn runner(&self, who: &Principal, head: &Head, held: Held, inbox: mpsc::Receiver<Command>) -> Runner {
        Runner {
            shared: Arc::clone(&self.shared),
            owner: owner(who, head),
            machine: Machine::at(head.sequence, head.state),
            held,
            inbox,
            said: Vec::new(),
            alone: false,
            command: None,
            rest: None,
            session: None,
            farewell: None,
        }
    }

    pub(super) fn workshop(&self) -> Arc<dyn Workshop> {
        Arc::clone(&self.shared.mind.workshop)
    }
}

/// Off the threads that serve everybody. None if it broke down.
pub(super) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    tokio::task::spawn_blocking(work).await.ok()
}

fn owner(who: &Principal, head: &Head) -> Owner {
    Owner {
        who: who.clone(),
        task_id: head.task_id.clone(),
        context_id: head.context_id.clone(),
        tenant: head.tenant.clone(),
    }
}

/// The task exists, and this was said.
fn first_events(
    owner: &Owner,
    what: Created,
    message: Message,
    now: SystemTime,
) -> Result<(Machine, Stretch)> {
    let mut machine = Machine::new();
    let time = Timestamp::of(now);
    let created = Created {
        task_id: owner.task_id.clone(),
        context_id: owner.context_id.clone(),
        tenant: owner.tenant.clone(),
        reference_task_ids: message.reference_task_ids.clone(),
        ..what
    };
    let events = vec![
        machine.apply(Event::Created(Box::new(created)), time)?,
        machine.apply(Event::Message(Box::new(message)), time)?,
    ];
    Ok((machine, events.into()))
}
