//! TaskEvent to A2A 1.0's stream: one event becomes at most one item. Pure; the service calls it.

use super::devtool;
use crate::domain::calls::OpenCalls;
pub use crate::domain::extension::RESUME;
use crate::proto::a2a::stream_response::Payload;
use crate::proto::a2a::{
    Message, Part, Role, StreamResponse, Task, TaskArtifactUpdateEvent, TaskState, TaskStatus,
    TaskStatusUpdateEvent,
};
use crate::proto::devtool::{LiveOutput, ToolCall};
use crate::proto::task::task_event::Event;
use crate::proto::task::{ArtifactDelta, StateChanged, TaskEvent};
use crate::proto::wkt::{Kind, Struct, Value};

/// What one client sees of one task.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct View {
    pub task_id: String,
    pub context_id: String,
    /// The client has activated the resume extension.
    pub resume: bool,
    /// The client has activated the development-tool extension: these are the calls that it knows of. Without it, it
    /// sees text, and questions in words.
    pub calls: Option<OpenCalls>,
}

impl View {
    /// None for what this dialect does not show.
    pub fn event(&mut self, event: &TaskEvent) -> Option<StreamResponse> {
        let what = event.event.as_ref()?;
        if let Some(calls) = &mut self.calls {
            calls.fold(what);
        }
        let payload = match what {
            Event::State(change) => self.update(change.state, self.said_with(change), event),
            Event::Text(delta) => {
                let id = str::from_utf8(&delta.message_id).unwrap_or_default();
                self.says(id, Part::text(delta.text.as_str()), event)
            }
            // Whoever follows calls has seen what they made of the file.
            Event::Artifact(delta) if delta.of_file && self.calls.is_some() => return None,
            Event::Artifact(delta) => Payload::ArtifactUpdate(Box::new(self.artifact(delta, event.sequence))),
            Event::Thought(thought) if self.calls.is_some() => self.works(devtool::data(thought), event),
            Event::ToolCall(call) if self.calls.is_some() => self.works(devtool::data(call), event),
            Event::ToolOutput(output) => self.works(devtool::data(self.printing(output)?), event),
            _ => return None,
        };
        Some(StreamResponse { payload: Some(payload) })
    }

    /// Puts on a task what the client's extensions want to find there.
    pub fn mark(&self, task: &mut Task, sequence: u64) {
        if let Some(cursor) = self.cursor(sequence) {
            task.metadata.get_or_insert_default().fields.extend(cursor.fields);
        }
        if let Some(status) = &mut task.status
            && status.state() == TaskState::InputRequired
            && let Some(message) = &mut status.message
        {
            message.parts.extend(self.asked());
        }
    }

    fn update(&self, state: i32, message: Option<Message>, event: &TaskEvent) -> Payload {
        Payload::StatusUpdate(Box::new(TaskStatusUpdateEvent {
            task_id: self.task_id.clone(),
            context_id: self.context_id.clone(),
            status: Some(TaskStatus { state, message, timestamp: event.time }),
            metadata: self.metadata(event),
        }))
    }

    fn metadata(&self, event: &TaskEvent) -> Option<Struct> {
        let about = event.event.as_ref().filter(|_| self.calls.is_some()).and_then(devtool::about);
        let about = about.map(|about| devtool::metadata(&about));
        match (self.cursor(event.sequence), about) {
            (Some(mut cursor), Some(about)) => {
                cursor.fields.extend(about.fields);
                Some(cursor)
            }
            (cursor, about) => cursor.or(about),
        }
    }

    fn said_with(&self, change: &StateChanged) -> Option<Message> {
        let mut message = change.message.clone();
        if change.state() == TaskState::InputRequired
            && let Some(message) = &mut message
        {
            message.parts.extend(self.asked());
        }
        message
    }

    /// The calls that wait for an answer, beside the question in words.
    fn asked(&self) -> impl Iterator<Item = Part> {
        self.calls.iter().flat_map(OpenCalls::asking).map(devtool::data)
    }

    fn works(&self, part: Part, event: &TaskEvent) -> Payload {
        self.says(&self.task_id, part, event)
    }

    /// A piece of the answer is a message of its own, with an id of its own: clients tell messages apart by it.
    fn says(&self, id: &str, part: Part, event: &TaskEvent) -> Payload {
        let message = Message {
            message_id: piece_id(id, event.sequence),
            task_id: self.task_id.clone(),
            context_id: self.context_id.clone(),
            role: Role::Agent.into(),
            parts: vec![part],
            ..Message::default()
        };
        self.update(TaskState::Working.into(), Some(message), event)
    }

    /// The whole call with all that it has printed, as the extension wants it.
    fn printing(&self, output: &LiveOutput) -> Option<&ToolCall> {
        self.calls.as_ref().and_then(|calls| calls.get(&output.tool_call_id))
    }

    fn artifact(&self, delta: &ArtifactDelta, sequence: u64) -> TaskArtifactUpdateEvent {
        super::artifact(&self.task_id, &self.context_id, delta, self.cursor(sequence))
    }

    #[allow(clippy::cast_precision_loss, reason = "no task has 2^53 events")]
    fn cursor(&self, sequence: u64) -> Option<Struct> {
        if !self.resume {
            return None;
        }
        let sequence = Value::from(Kind::Number(sequence as f64));
        let fields = Struct { fields: [("sequence".to_owned(), sequence)].into() };
        Some(Struct { fields: [(RESUME.to_owned(), Value::from(Kind::Struct(fields)))].into() })
    }
}

/// Made for every piece of every answer, so it is written into room that is large enough at once.
fn piece_id(message_id: &str, sequence: u64) -> String {
    let mut digits = itoa::Buffer::new();
    let digits = digits.format(sequence);
    let mut id = String::with_capacity(message_id.len() + 1 + digits.len());
    id.push_str(message_id);
    id.push('-');
    id.push_str(digits);
    id
}
