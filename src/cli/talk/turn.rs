//! One turn with a task, from its beginning to its end: shows what comes, answers what is asked, and lets Ctrl-C end it.
//! The only place of the client that waits for several things at once.

use std::collections::{HashSet, VecDeque};

use tokio::task::JoinHandle;
use tonic::Status;

use super::approve::Asked;
use super::interrupts::Interrupts;
use super::screen::{Screen, TICK};
use crate::cli::exit::{Exit, Stop};
use crate::cli::link::cut::patiently;
use crate::cli::link::follow::{Follower, Next};
use crate::cli::link::{Client, stop};
use crate::cli::show::call::doing;
use crate::cli::show::json;
use crate::cli::show::paint::Ink;
use crate::cli::show::safe::safe_line;
use crate::cli::show::story::{Reader, Story};
use crate::domain::error::{Cause, Wire};
use crate::proto::a2a::{TaskState, TaskStatus};
use crate::proto::devtool::task_update::Update;
use crate::proto::devtool::{CancelTaskRequest, TaskUpdate, ToolCall};

/// Who answers what the agent asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answers {
    /// The user at this terminal.
    User,
    /// Everything is allowed, each time once.
    Once,
    /// Nothing is allowed.
    Never,
    /// Nobody: the turn ends there.
    Nobody,
    /// Somebody elsewhere, perhaps.
    Others,
}

/// Whose task it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Ctrl-C cancels it, and where it asks something in words the turn is over.
    Owner,
    /// Ctrl-C leaves it alone, and others may answer.
    Bystander,
}

/// How what happens is told.
pub enum Teller {
    Text(Box<Story>),
    Json,
}

impl Teller {
    pub fn new(json: bool, reader: Reader) -> Self {
        if json { Self::Json } else { Self::Text(Box::new(Story::new(reader))) }
    }
}

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    Completed,
    Failed,
    /// By this user, or by somebody else.
    Cancelled {
        here: bool,
    },
    /// The agent has asked something in words.
    Waits,
    /// A tool call asks, and nobody is there to answer.
    Unanswered,
    /// The user waits no longer; the task goes on.
    Detached,
    /// The user has gone.
    Left,
}

impl Ended {
    pub fn exit(self) -> Exit {
        match self {
            Self::Completed => Exit::Done,
            Self::Failed => Exit::Failed,
            Self::Cancelled { here: false } => Exit::Cancelled,
            Self::Cancelled { here: true } | Self::Detached | Self::Left => Exit::Interrupted,
            Self::Waits | Self::Unanswered => Exit::Unanswered,
        }
    }
}

pub struct Outcome {
    pub ended: Ended,
    pub task_id: String,
    pub context_id: String,
}

pub struct Turn<'a> {
    pub client: Client,
    pub follower: Follower,
    pub screen: &'a mut Screen,
    pub interrupts: &'a mut Interrupts,
    pub teller: Teller,
    pub answers: Answers,
    pub part: Part,
    pub progress: Progress,
}

/// What a turn keeps on its way.
#[derive(Default)]
pub struct Progress {
    /// What came while the user was asked something.
    pub(super) queue: VecDeque<Next>,
    /// Fingerprints of what was shown.
    pub(super) shown: HashSet<String>,
    /// How the task stands, as long as it waits for somebody.
    waits: Option<TaskStatus>,
    /// What runs just now.
    doing: Option<String>,
    cancelling: Cancelling,
}

#[derive(Default)]
enum Cancelling {
    #[default]
    No,
    /// As soon as it is known what.
    Wanted,
    Asked(JoinHandle<Result<(), Status>>),
}

/// What happened first.
enum Event {
    Next(Next),
    Interrupt,
}

impl Turn<'_> {
    pub async fn run(mut self) -> Result<Outcome, Stop> {
        let ended = loop {
            let event = match self.progress.queue.pop_front() {
                Some(next) => Event::Next(next),
                None => self.event().await?,
            };
            let ended = match event {
                Event::Next(Next::Update(update)) => self.update(&update).await?,
                Event::Next(Next::Cut(why)) => {
                    self.note(
                        Ink::Yellow,
                        &format!("the connection is lost ({}); trying again", safe_line(&why)),
                    )?;
                    None
                }
                Event::Next(Next::Back) => {
                    self.note(Ink::Dim, "connected again")?;
                    None
                }
                Event::Next(Next::End) => Some(Ended::Completed),
                Event::Next(Next::Failed(status)) => return Err(stop(&status)),
                Event::Interrupt => self.interrupted()?,
            };
            if let Some(ended) = ended {
                break ended;
            }
        };
        let ended = self.settled(ended).await;
        self.rest()?;
        let Follower { task_id, context_id, .. } = self.follower;
        Ok(Outcome { ended, task_id, context_id })
    }

    /// Waits, with a mark that moves meanwhile.
    async fn event(&mut self) -> Result<Event, Stop> {
        let idle = match &self.teller {
            Teller::Text(story) => story.at_start(),
            Teller::Json => false,
        };
        let doing = self.progress.doing.as_deref().unwrap_or("working");
        let words = match (self.cancelling(), self.part) {
            (true, _) => "cancelling".to_owned(),
            (false, Part::Owner) => format!("{doing} (Ctrl-C cancels)"),
            (false, Part::Bystander) => format!("{doing} (Ctrl-C stops watching)"),
        };
        let mut ticks = tokio::time::interval(TICK);
        let next = self.follower.next();
        tokio::pin!(next);
        // The one future lives through all ticks: begun anew each time, a slow answer would never come.
        loop {
            tokio::select! {
                next = &mut next => return Ok(Event::Next(next)),
                () = self.interrupts.next() => return Ok(Event::Interrupt),
                _ = ticks.tick(), if idle => self.screen.tick(&words)?,
            }
        }
    }

    async fn update(&mut self, update: &TaskUpdate) -> Result<Option<Ended>, Stop> {
        self.tell(update)?;
        if matches!(self.progress.cancelling, Cancelling::Wanted) {
            self.cancel();
        }
        if let Some(Update::ToolCall(call)) = &update.update {
            self.progress.doing = doing(call);
        }
        let status = match &update.update {
            Some(Update::Status(status)) => status.clone(),
            Some(Update::ToolCall(ToolCall { confirmation_request: Some(request), .. })) => {
                let fresh = self.progress.shown.insert(request.fingerprint.clone());
                // Usually the task says that it waits behind what it waits for.
                match self.progress.waits.clone().filter(|_| fresh) {
                    Some(status) => status,
                    None => return Ok(None),
                }
            }
            _ => return Ok(None),
        };
        let state = status.state();
        self.progress.waits = state.is_interrupted().then(|| status.clone());
        Ok(match state {
            TaskState::Completed => Some(Ended::Completed),
            TaskState::Failed | TaskState::Rejected => Some(Ended::Failed),
            TaskState::Canceled => Some(Ended::Cancelled { here: self.cancelling() }),
            state if state.is_interrupted() && !self.cancelling() => self.asked(&status).await?,
            _ => None,
        })
    }

    /// The agent waits for somebody. What it waits for is read from the server: what stands in the stream may have been
    /// answered long ago.
    async fn asked(&mut self, status: &TaskStatus) -> Result<Option<Ended>, Stop> {
        loop {
            match self.answer_all(status).await? {
                Asked::Again => {}
                Asked::GoOn => return Ok(None),
                Asked::End(ended) => return Ok(Some(ended)),
                Asked::Interrupted => {
                    let ended = self.interrupted()?;
                    return Ok(ended);
                }
            }
        }
    }

    fn interrupted(&mut self) -> Result<Option<Ended>, Stop> {
        if self.part == Part::Bystander || self.cancelling() {
            return Ok(Some(Ended::Detached));
        }
        self.note(Ink::Yellow, "cancelling; Ctrl-C again waits no longer")?;
        match self.follower.task_id.is_empty() {
            true => self.progress.cancelling = Cancelling::Wanted,
            false => self.cancel(),
        }
        Ok(None)
    }

    fn cancelling(&self) -> bool {
        !matches!(self.progress.cancelling, Cancelling::No)
    }

    fn cancel(&mut self) {
        let (client, task_id) = (self.client.clone(), self.follower.task_id.clone());
        let cancelled = tokio::spawn(cancel(client, task_id));
        self.progress.cancelling = Cancelling::Asked(cancelled);
    }

    /// A cancellation is over when the server says that the work has stopped.
    async fn settled(&mut self, ended: Ended) -> Ended {
        if let Cancelling::Asked(asked) = &mut self.progress.cancelling
            && ended != Ended::Detached
        {
            tokio::select! {
                _ = asked => {}
                () = self.interrupts.next() => return Ended::Detached,
            }
        }
        ended
    }

    /// Shows an update in its way.
    fn tell(&mut self, update: &TaskUpdate) -> Result<(), Stop> {
        match &mut self.teller {
            Teller::Text(story) => {
                let pieces = story.update(update);
                self.screen.show(&pieces)?;
            }
            Teller::Json => {
                let line = json::line(update).map_err(|error| Stop::new(Exit::Failed, error.to_string()))?;
                self.screen.print(&line)?;
            }
        }
        Ok(())
    }

    /// A word of our own, between the lines of the story.
    pub(super) fn note(&mut self, ink: Ink, text: &str) -> Result<(), Stop> {
        self.rest()?;
        Ok(self.screen.say(ink, text)?)
    }

    pub(super) fn rest(&mut self) -> Result<(), Stop> {
        if let Teller::Text(story) = &mut self.teller {
            let pieces = story.rest();
            self.screen.show(&pieces)?;
        }
        Ok(())
    }
}

/// One that has ended meanwhile is as good as cancelled.
pub async fn cancel(client: Client, task_id: String) -> Result<(), Status> {
    let called = patiently(|| {
        let (mut client, task_id) = (client.clone(), task_id.clone());
        async move { client.cancel_task(CancelTaskRequest { task_id }).await }
    });
    match called.await {
        Err(status) if Wire::of(&status).cause == Cause::TaskNotCancelable => Ok(()),
        answered => answered.map(drop),
    }
}
