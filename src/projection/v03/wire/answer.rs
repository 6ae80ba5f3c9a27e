//! Answers on their way out: tasks, artifacts, events. Knows no request; the gRPC service calls it.

use super::each;
use crate::proto::{a2a, a2a_v03};

/// One event of a stream. `last` says that none follows, which 0.3 wants to know from every status update.
pub fn stream_item(response: a2a::StreamResponse, last: bool) -> a2a_v03::StreamResponse {
    use a2a::stream_response::Payload as From;
    use a2a_v03::stream_response::Payload as To;
    let payload = response.payload.map(|payload| match payload {
        From::Task(task) => To::Task((*task).into()),
        From::Message(message) => To::Msg((*message).into()),
        From::StatusUpdate(update) => To::StatusUpdate(status_update(*update, last)),
        From::ArtifactUpdate(update) => To::ArtifactUpdate((*update).into()),
    });
    a2a_v03::StreamResponse { payload }
}

fn status_update(update: a2a::TaskStatusUpdateEvent, last: bool) -> a2a_v03::TaskStatusUpdateEvent {
    a2a_v03::TaskStatusUpdateEvent {
        task_id: update.task_id,
        context_id: update.context_id,
        status: update.status.map(Into::into),
        r#final: last,
        metadata: update.metadata,
    }
}

impl From<a2a::TaskArtifactUpdateEvent> for a2a_v03::TaskArtifactUpdateEvent {
    fn from(update: a2a::TaskArtifactUpdateEvent) -> Self {
        Self {
            task_id: update.task_id,
            context_id: update.context_id,
            artifact: update.artifact.map(Into::into),
            append: update.append,
            last_chunk: update.last_chunk,
            metadata: update.metadata,
        }
    }
}

impl From<a2a::SendMessageResponse> for a2a_v03::SendMessageResponse {
    fn from(response: a2a::SendMessageResponse) -> Self {
        use a2a::send_message_response::Payload as From;
        use a2a_v03::send_message_response::Payload as To;
        let payload = response.payload.map(|payload| match payload {
            From::Task(task) => To::Task(task.into()),
            From::Message(message) => To::Msg(message.into()),
        });
        Self { payload }
    }
}

impl From<a2a::Task> for a2a_v03::Task {
    fn from(task: a2a::Task) -> Self {
        Self {
            id: task.id,
            context_id: task.context_id,
            status: task.status.map(Into::into),
            artifacts: each(task.artifacts),
            history: each(task.history),
            metadata: task.metadata,
        }
    }
}

impl From<a2a::TaskStatus> for a2a_v03::TaskStatus {
    fn from(status: a2a::TaskStatus) -> Self {
        Self { state: status.state, update: status.message.map(Into::into), timestamp: status.timestamp }
    }
}

impl From<a2a::Artifact> for a2a_v03::Artifact {
    fn from(artifact: a2a::Artifact) -> Self {
        Self {
            artifact_id: artifact.artifact_id,
            name: artifact.name,
            description: artifact.description,
            parts: each(artifact.parts),
            metadata: artifact.metadata,
            extensions: artifact.extensions,
        }
    }
}
