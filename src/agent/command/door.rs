//! Commands as services reach them: listed for a context, and executed as a task.

use std::time::Duration;

use futures::StreamExt;

use super::{Line, Slash, all, find};
use crate::agent::engine::{Result, blocking};
use crate::agent::{Engine, EngineError, NewTask, Repeat, Sent, Watch};
use crate::domain::principal::Principal;
use crate::proto::a2a::{Message, Part, Role, TaskState};
use crate::proto::devtool::confirmation_request::Details;
use crate::proto::devtool::{AgentSettings, CommandExecutionStatus, SlashCommand, ToolCallStatus};
use crate::proto::task::CommandLine;
use crate::proto::task::task_event::Event;

/// A command that has said nothing for so long has started.
const PATIENCE: Duration = Duration::from_secs(5);

/// A command that is to be executed.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    pub tenant: String,
    /// Empty means a new one.
    pub context_id: String,
    pub settings: Option<AgentSettings>,
    pub path: Vec<String>,
    pub args: String,
    /// Its client sees its task in the words of Gemini CLI's own server.
    pub conversational: bool,
}

/// What became of it.
pub enum Executed {
    /// There is no task; this is why.
    NotStarted(String),
    Started {
        watch: Watch,
        context_id: String,
        status: CommandExecutionStatus,
    },
}

impl Engine {
    /// The commands of a context, or of the settings that are given.
    pub async fn commands(&self, who: &Principal, wanted: &Wanted) -> Result<Vec<SlashCommand>> {
        let settings = self.of_context(who, wanted).await?;
        let all = self.known(&settings).await?;
        Ok(all.iter().map(|command| command.about()).collect())
    }

    /// Checks a command and begins its task. Returns when it is known whether it asks before it goes on.
    pub async fn execute(&self, who: &Principal, wanted: Wanted) -> Result<Executed> {
        let held = self.of_context(who, &wanted).await?;
        let all = self.known(&held).await?;
        let (command, line) = match find(all, &wanted.path, &wanted.args) {
            Ok(found) => found,
            Err(problem) => return Ok(Executed::NotStarted(problem)),
        };
        let settings = match command.sets(&line, &held) {
            Ok(Some(settings)) => Some(settings),
            Ok(None) => wanted.settings.clone(),
            Err(problem) => return Ok(Executed::NotStarted(problem)),
        };
        let new = task(&wanted, &command.about().name, &line, settings);
        let context_id = new.message.context_id.clone();
        match self.begin(who, new).await {
            Ok(Sent::Task { watch, .. }) => {
                let status = status(&watch).await;
                Ok(Executed::Started { watch, context_id, status })
            }
            // Only a message without a command is answered at once.
            Ok(Sent::Reply(_)) => Err(EngineError::Gone),
            Err(EngineError::Settings(bad)) => Ok(Executed::NotStarted(bad.to_string())),
            Err(error) => Err(error),
        }
    }

    async fn of_context(&self, who: &Principal, wanted: &Wanted) -> Result<AgentSettings> {
        if let Some(settings) = &wanted.settings {
            return Ok(settings.clone());
        }
        if wanted.context_id.is_empty() {
            return Ok(AgentSettings::default());
        }
        Ok(self.held(who, &wanted.tenant, &wanted.context_id).await?.unwrap_or_default())
    }

    async fn known(&self, settings: &AgentSettings) -> Result<Vec<Box<dyn Slash>>> {
        let (workshop, settings) = (self.workshop(), settings.clone());
        let listed = blocking(move || {
            let workspace_path = settings.workspace_path;
            let tools = workshop.open(&AgentSettings { workspace_path, ..AgentSettings::default() })?;
            Ok(all(&*tools))
        });
        listed.await.ok_or(EngineError::Gone)?.map_err(EngineError::Settings)
    }
}

fn task(wanted: &Wanted, name: &str, line: &Line, settings: Option<AgentSettings>) -> NewTask {
    let new_context = wanted.context_id.is_empty();
    let context_id = if new_context { uuid::Uuid::now_v7().to_string() } else { wanted.context_id.clone() };
    let words = [name, &line.sub, &line.args].into_iter().filter(|word| !word.is_empty());
    let message = Message {
        message_id: uuid::Uuid::now_v7().to_string(),
        context_id,
        role: Role::User.into(),
        parts: vec![Part::text(format!("/{}", words.collect::<Vec<_>>().join(" ")))],
        ..Message::default()
    };
    let path = [name, &line.sub].into_iter().filter(|word| !word.is_empty()).map(str::to_owned).collect();
    NewTask {
        tenant: wanted.tenant.clone(),
        message,
        // Whoever sends a command twice means it twice.
        repeat: Repeat { hash: [0; 32], window: Duration::ZERO },
        new_context,
        settings,
        push: None,
        command: Some(CommandLine { path, args: line.args.clone() }),
        conversational: wanted.conversational,
    }
}

async fn status(watch: &Watch) -> CommandExecutionStatus {
    let told = tokio::time::timeout(PATIENCE, first(watch)).await;
    told.unwrap_or(CommandExecutionStatus::Started)
}

/// Whether it asks, ends, or has begun something that takes its time.
async fn first(watch: &Watch) -> CommandExecutionStatus {
    let mut events = watch.events(0);
    let mut asks = CommandExecutionStatus::AwaitingActionConfirmation;
    while let Some(Ok(stretch)) = events.next().await {
        for event in stretch.iter().filter_map(|event| event.event.as_ref()) {
            match event {
                Event::ToolCall(call) if call.status() == ToolCallStatus::Executing => {
                    return CommandExecutionStatus::Started;
                }
                Event::ToolCall(call) => {
                    let details = call.confirmation_request.as_ref().and_then(|asked| asked.details.as_ref());
                    if matches!(details, Some(Details::ExecuteDetails(_))) {
                        asks = CommandExecutionStatus::AwaitingShellConfirmation;
                    }
                }
                Event::State(change) if change.state() == TaskState::InputRequired => return asks,
                Event::Turn(turn) if !turn.scripted => return CommandExecutionStatus::Started,
                _ => {}
            }
        }
    }
    CommandExecutionStatus::Started
}
