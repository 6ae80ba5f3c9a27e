//! What clients of Gemini CLI's own server see of a task: the same events, with its metadata under `coderAgent`, its
//! shape of a tool call, and live output as an artifact. It comes out as A2A's own types, which 0.3 prints. Pure; the
//! service calls it for tasks that such a client has begun.

mod call;
pub mod command;
pub mod metadata;
pub mod opening;
pub mod outcome;

use serde_json::{Value, json};

use super::devtool::data;
use crate::domain::calls::OpenCalls;
use crate::domain::extension::CODER_AGENT;
use crate::domain::snapshot::Snapshot;
use crate::proto::a2a::stream_response::Payload;
use crate::proto::a2a::{
    Artifact, Message, Part, Role, StreamResponse, Task, TaskArtifactUpdateEvent, TaskState, TaskStatus,
    TaskStatusUpdateEvent,
};
use crate::proto::devtool::{AgentSettings, LiveOutput, ToolCall, Usage};
use crate::proto::gemini::Content;
use crate::proto::gemini::part::Data;
use crate::proto::task::task_event::Event;
use crate::proto::task::{StateChanged, TaskEvent};
use crate::proto::wkt::Struct;

/// What an update is about, in the words of that server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Confirmation,
    ToolCall,
    Text,
    State,
    Thought,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Confirmation => "tool-call-confirmation",
            Self::ToolCall => "tool-call-update",
            Self::Text => "text-content",
            Self::State => "state-change",
            Self::Thought => "thought",
        }
    }
}

/// What one such client sees of one task.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct View {
    pub task_id: String,
    pub context_id: String,
    /// The model that works on the task, as far as is known.
    pub model: String,
    /// The calls that the client knows of.
    pub calls: OpenCalls,
    pub settings: Option<AgentSettings>,
    usage: Option<Usage>,
}

impl View {
    /// From where a client stands. `model` is the server's own.
    pub fn of(seen: &Snapshot, model: &str) -> Self {
        let named = seen.settings.as_ref().map(|settings| settings.model.as_str());
        Self {
            task_id: seen.task.id.clone(),
            context_id: seen.task.context_id.clone(),
            model: named.filter(|named| !named.is_empty()).unwrap_or(model).to_owned(),
            calls: seen.calls.clone(),
            settings: seen.settings.clone(),
            usage: None,
        }
    }

    /// None for what this dialect does not show.
    pub fn event(&mut self, event: &TaskEvent) -> Option<StreamResponse> {
        let what = event.event.as_ref()?;
        // Before the piece is known: whether there was one before it, and where that ended.
        let printed = match what {
            Event::ToolOutput(output) => self.printed(output),
            _ => None,
        };
        self.calls.fold(what);
        self.remember(what);
        let payload =
            match what {
                Event::State(change) => self.state(change, event),
                Event::Answer(answer) if wants_tools(answer) => self.works(event),
                // The model reads the results when the last call has ended.
                Event::ToolAnswer(_) if self.calls.is_empty() => self.works(event),
                Event::Text(delta) => {
                    let id = str::from_utf8(&delta.message_id).unwrap_or_default().to_owned();
                    self.says(id, Part::text(delta.text.as_str()), Kind::Text, event)
                }
                Event::Thought(thought) => self.tells(data(thought), Kind::Thought, event),
                Event::ToolCall(call) => self.call(call, event),
                Event::Decision(decided) => self.call(self.approved(&decided.tool_call_id)?, event),
                Event::ToolOutput(_) => Payload::ArtifactUpdate(Box::new(printed?)),
                Event::Artifact(delta) if !delta.of_file => Payload::ArtifactUpdate(Box::new(
                    super::artifact(&self.task_id, &self.context_id, delta, None),
                )),
                _ => return None,
            };
        Some(StreamResponse { payload: Some(payload) })
    }

    /// Puts on a task what such a client looks for there.
    pub fn mark(&self, task: &mut Task) {
        let state = task.status.as_ref().map(|status| status.state()).unwrap_or_default();
        let persisted = json!({
            "_agentSettings": self.settings.as_ref().map(|settings| json!({
                "kind": "agent-settings",
                "workspacePath": settings.workspace_path,
            })).unwrap_or_else(|| json!({})),
            "_taskState": metadata::state(state),
        });
        let more = object(&json!({"__persistedState": persisted, "_contextId": self.context_id}));
        task.metadata.get_or_insert_default().fields.extend(more.fields);
        let printing = self.calls.iter().filter_map(|call| Some((call, call.live_content.as_ref()?)));
        let outputs = printing.map(|(call, text)| output(&call.tool_call_id, text.clone()));
        task.artifacts.extend(outputs);
    }

    /// The question stands in the calls that wait; in words it would be asked twice.
    fn state(&self, change: &StateChanged, event: &TaskEvent) -> Payload {
        let asks = change.state() == TaskState::InputRequired && self.calls.asking().next().is_some();
        let message = change.message.clone().filter(|_| !asks);
        let error = change.error.as_ref().map(|error| error.message.as_str());
        let over = change.state().is_terminal() || change.state().is_interrupted();
        let metadata = self.about(Kind::State, error, self.usage.as_ref().filter(|_| over));
        self.update(change.state(), message, metadata, event)
    }

    fn works(&self, event: &TaskEvent) -> Payload {
        self.update(TaskState::Working, None, self.about(Kind::State, None, None), event)
    }

    fn call(&self, call: &ToolCall, event: &TaskEvent) -> Payload {
        let kind = if call.confirmation_request.is_some() { Kind::Confirmation } else { Kind::ToolCall };
        self.tells(data(&call::shape(call, &self.task_id)), kind, event)
    }

    /// A call that goes on after an answer. One that does not is shown as cancelled in a moment.
    fn approved(&self, tool_call_id: &str) -> Option<&ToolCall> {
        let goes_on = |call: &&ToolCall| {
            call.decision.as_ref().is_some_and(|decision| decision.selected_option_id != outcome::CANCEL)
        };
        self.calls.get(tool_call_id).filter(goes_on)
    }

    fn tells(&self, part: Part, kind: Kind, event: &TaskEvent) -> Payload {
        self.says(format!("{}-{}", self.task_id, event.sequence), part, kind, event)
    }

    /// All pieces of one answer have the id of the message that they add up to, as that server's have.
    fn says(&self, message_id: String, part: Part, kind: Kind, event: &TaskEvent) -> Payload {
        let message = Message {
            message_id,
            task_id: self.task_id.clone(),
            context_id: self.context_id.clone(),
            role: Role::Agent.into(),
            parts: vec![part],
            ..Message::default()
        };
        self.update(TaskState::Working, Some(message), self.about(kind, None, None), event)
    }

    fn update(
        &self,
        state: TaskState,
        message: Option<Message>,
        metadata: Struct,
        event: &TaskEvent,
    ) -> Payload {
        Payload::StatusUpdate(Box::new(TaskStatusUpdateEvent {
            task_id: self.task_id.clone(),
            context_id: self.context_id.clone(),
            status: Some(TaskStatus { state: state.into(), message, timestamp: event.time }),
            metadata: Some(metadata),
        }))
    }

    fn about(&self, kind: Kind, error: Option<&str>, usage: Option<&Usage>) -> Struct {
        let mut members = json!({CODER_AGENT: {"kind": kind.name()}});
        if !self.model.is_empty() {
            members["model"] = self.model.as_str().into();
        }
        if let Some(error) = error {
            members["error"] = error.into();
        }
        if let Some(usage) = usage {
            members["usageMetadata"] = json!({
                "promptTokenCount": usage.input_tokens,
                "candidatesTokenCount": usage.output_tokens,
                "totalTokenCount": usage.input_tokens + usage.output_tokens,
                "cachedContentTokenCount": usage.cached_tokens,
            });
        }
        object(&members)
    }

    fn remember(&mut self, what: &Event) {
        match what {
            Event::Usage(usage) => {
                if !usage.model.is_empty() {
                    self.model.clone_from(&usage.model);
                }
                self.usage = Some(Usage::clone(usage));
            }
            Event::Text(delta) if !delta.model.is_empty() => self.model.clone_from(&delta.model),
            Event::Turn(_) => self.usage = None,
            _ => {}
        }
    }

    /// Just the piece, appended where there is something to append to. What was left out before it is said.
    fn printed(&self, piece: &LiveOutput) -> Option<TaskArtifactUpdateEvent> {
        self.calls.get(&piece.tool_call_id)?;
        let known = self.calls.printed(&piece.tool_call_id);
        let gap = piece.offset.saturating_sub(known);
        let text = if gap == 0 { piece.text.clone() } else { OpenCalls::gap(gap) + &piece.text };
        Some(TaskArtifactUpdateEvent {
            task_id: self.task_id.clone(),
            context_id: self.context_id.clone(),
            artifact: Some(output(&piece.tool_call_id, text)),
            append: known > 0,
            last_chunk: false,
            metadata: None,
        })
    }
}

/// What a call prints, under the name that such clients look for.
fn output(tool_call_id: &str, text: String) -> Artifact {
    Artifact {
        artifact_id: format!("tool-{tool_call_id}-output"),
        parts: vec![Part::text(text)],
        ..Artifact::default()
    }
}

fn wants_tools(answer: &Content) -> bool {
    answer.parts.iter().any(|part| matches!(part.data, Some(Data::FunctionCall(_))))
}

/// Objects made here always print.
fn object(members: &Value) -> Struct {
    serde::Deserialize::deserialize(members).unwrap_or_default()
}
