//! 1.0 messages printed as the JSON of 0.3, without a copy: `V03(&task)` is `task` with `kind`, lower-case states and
//! nested files. Members that 0.3 requires are always printed, others when there is something in them. Knows no
//! JSON-RPC envelope; the JSON-RPC front and push print with it.

mod members;
mod part;

use serde::ser::{Error, Serialize, Serializer};

use super::names;
use crate::proto::a2a::{
    Artifact, AuthenticationInfo, ListTaskPushNotificationConfigsResponse, Message, SendMessageResponse,
    StreamResponse, Task, TaskArtifactUpdateEvent, TaskPushNotificationConfig, TaskStatus,
    TaskStatusUpdateEvent, send_message_response, stream_response,
};
use members::Members;

/// A 1.0 message as 0.3 prints it.
#[derive(Debug, Clone, Copy)]
pub struct V03<'a, T>(pub &'a T);

impl<T: Show> Serialize for V03<'_, T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.show(to)
    }
}

/// What 0.3 has a form for.
pub trait Show {
    fn show<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error>;
}

/// Only for what 0.3 requires and protobuf cannot: printed as if it were blank.
impl<T: Show + Default> Show for Option<T> {
    fn show<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Some(value) => value.show(to),
            None => T::default().show(to),
        }
    }
}

/// One event of a stream: the object itself, with its kind.
#[derive(Debug, Clone, Copy)]
pub struct StreamItem<'a> {
    pub response: &'a StreamResponse,
    /// No event follows. 0.3 says so in every status update, 1.0 by closing the stream.
    pub last: bool,
}

impl Serialize for StreamItem<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        use stream_response::Payload;
        match &self.response.payload {
            Some(Payload::Task(task)) => task.show(to),
            Some(Payload::Message(message)) => message.show(to),
            Some(Payload::StatusUpdate(update)) => status_update(update, self.last, to),
            Some(Payload::ArtifactUpdate(update)) => update.show(to),
            None => Err(S::Error::custom("the event is empty")),
        }
    }
}

impl Show for SendMessageResponse {
    fn show<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        use send_message_response::Payload;
        match &self.payload {
            Some(Payload::Task(task)) => task.show(to),
            Some(Payload::Message(message)) => message.show(to),
            None => Err(S::Error::custom("the answer is neither a task nor a message")),
        }
    }
}

impl Show for Task {
    fn show<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        Members::begin(to)?
            .put("kind", "task")?
            .put("id", &self.id)?
            .put("contextId", &self.context_id)?
            .put("status", &V03(&self.status))?
            .each("artifacts", &self.artifacts)?
            .each("history", &self.history)?
            .some("metadata", self.metadata.as_ref())?
            .end()
    }
}

impl Show for TaskStatus {
    fn show<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        Members::begin(to)?
            .put("state", names::state(self.state))?
            .some("message", self.message.as_ref().map(V03))?
            .some("timestamp", self.timestamp.as_ref())?
            .end()
    }
}

impl Show for Message {
    fn show<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        Members::begin(to)?
            .put("kind", "message")?
            .put("messageId", &self.message_id)?
            .text("contextId", &self.context_id)?
            .text("taskId", &self.task_id)?
            .put("role", names::role(self.role))?
            .list("parts", &self.parts)?
            .some("metadata", self.metadata.as_ref())?
            .texts("extensions", &self.extensions)?
            .texts("referenceTaskIds", &self.reference_task_ids)?
            .end()
    }
}

impl Show for Artifact {
    fn show<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        Members::begin(to)?
            .put("artifactId", &self.artifact_id)?
            .text("name", &self.name)?
            .text("description", &self.description)?
            .list("parts", &self.parts)?
            .some("metadata", self.metadata.as_ref())?
            .texts("extensions", &self.extensions)?
            .end()
    }
}

fn status_update<S: Serializer>(
    update: &TaskStatusUpdateEvent,
    last: bool,
    to: S,
) -> Result<S::Ok, S::Error> {
    Members::begin(to)?
        .put("kind", "status-update")?
        .put("taskId", &update.task_id)?
        .put("contextId", &update.context_id)?
        .put("status", &V03(&update.status))?
        .put("final", &last)?
        .some("metadata", update.metadata.as_ref())?
        .end()
}

impl Show for TaskArtifactUpdateEvent {
    fn show<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        Members::begin(to)?
            .put("kind", "artifact-update")?
            .put("taskId", &self.task_id)?
            .put("contextId", &self.context_id)?
            .put("artifact", &V03(&self.artifact))?
            .flag("append", self.append)?
            .flag("lastChunk", self.last_chunk)?
            .some("metadata", self.metadata.as_ref())?
            .end()
    }
}

impl Show for TaskPushNotificationConfig {
    fn show<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        Members::begin(to)?.put("taskId", &self.task_id)?.put("pushNotificationConfig", &Webhook(self))?.end()
    }
}

/// What 1.0 has flat beside the task.
struct Webhook<'a>(&'a TaskPushNotificationConfig);

impl Serialize for Webhook<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        Members::begin(to)?
            .text("id", &self.0.id)?
            .put("url", &self.0.url)?
            .text("token", &self.0.token)?
            .some("authentication", self.0.authentication.as_ref().map(V03))?
            .end()
    }
}

impl Show for AuthenticationInfo {
    fn show<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let schemes = Some(&self.scheme).filter(|scheme| !scheme.is_empty());
        Members::begin(to)?.put("schemes", schemes.as_slice())?.text("credentials", &self.credentials)?.end()
    }
}

/// A bare array; 0.3's JSON-RPC has no pages.
impl Show for ListTaskPushNotificationConfigsResponse {
    fn show<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.configs.iter().map(V03))
    }
}
