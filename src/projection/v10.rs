//! TaskEvent to A2A 1.0's stream: one event becomes at most one item. Pure; the service calls it.

use crate::proto::a2a::stream_response::Payload;
use crate::proto::a2a::{
    Message, Part, Role, StreamResponse, Task, TaskArtifactUpdateEvent, TaskState, TaskStatus,
    TaskStatusUpdateEvent,
};
use crate::proto::task::task_event::Event;
use crate::proto::task::{ArtifactDelta, TaskEvent, TextDelta};
use crate::proto::wkt::{Kind, Struct, Value};

/// Clients that activate it find the cursor in the metadata of every event and task.
pub const RESUME: &str = "urn:agena:extension:resume:v1";

/// What one client sees of one task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    pub task_id: String,
    pub context_id: String,
    /// The client has activated the resume extension.
    pub resume: bool,
}

impl View {
    /// None for what this dialect does not show.
    pub fn event(&self, event: &TaskEvent) -> Option<StreamResponse> {
        let payload = match event.event.as_ref()? {
            Event::State(change) => {
                let status = TaskStatus {
                    state: change.state,
                    message: change.message.clone(),
                    timestamp: event.time,
                };
                Payload::StatusUpdate(self.status(status, event.sequence))
            }
            Event::Text(delta) => Payload::StatusUpdate(self.text(delta, event)),
            Event::Artifact(delta) => Payload::ArtifactUpdate(self.artifact(delta, event.sequence)),
            _ => return None,
        };
        Some(StreamResponse { payload: Some(payload) })
    }

    /// Puts the cursor on a task, for clients that asked for it.
    pub fn mark(&self, task: &mut Task, sequence: u64) {
        if let Some(cursor) = self.cursor(sequence) {
            task.metadata.get_or_insert_default().fields.extend(cursor.fields);
        }
    }

    fn status(&self, status: TaskStatus, sequence: u64) -> TaskStatusUpdateEvent {
        TaskStatusUpdateEvent {
            task_id: self.task_id.clone(),
            context_id: self.context_id.clone(),
            status: Some(status),
            metadata: self.cursor(sequence),
        }
    }

    /// A piece of the answer is a message of its own, with an id of its own: clients tell messages apart by it.
    fn text(&self, delta: &TextDelta, event: &TaskEvent) -> TaskStatusUpdateEvent {
        let message = Message {
            message_id: format!("{}-{}", delta.message_id, event.sequence),
            task_id: self.task_id.clone(),
            context_id: self.context_id.clone(),
            role: Role::Agent.into(),
            parts: vec![Part::text(delta.text.as_str())],
            ..Message::default()
        };
        let status =
            TaskStatus { state: TaskState::Working.into(), message: Some(message), timestamp: event.time };
        self.status(status, event.sequence)
    }

    fn artifact(&self, delta: &ArtifactDelta, sequence: u64) -> TaskArtifactUpdateEvent {
        TaskArtifactUpdateEvent {
            task_id: self.task_id.clone(),
            context_id: self.context_id.clone(),
            artifact: delta.artifact.clone(),
            append: delta.append,
            last_chunk: delta.last_chunk,
            metadata: self.cursor(sequence),
        }
    }

    #[allow(clippy::cast_precision_loss, reason = "no task has 2^53 events")]
    fn cursor(&self, sequence: u64) -> Option<Struct> {
        let sequence = Value::from(Kind::Number(sequence as f64));
        let fields = Struct { fields: [("sequence".to_owned(), sequence)].into() };
        let named = [(RESUME.to_owned(), Value::from(Kind::Struct(fields)))];
        self.resume.then(|| Struct { fields: named.into() })
    }
}
