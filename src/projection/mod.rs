//! What clients see of a task: its events in the words of each dialect. Pure: no I/O, no clock, no randomness;
//! services and fronts call it.

pub mod coder;
pub mod devtool;
pub mod push_state;
pub mod typed;
pub mod v03;
pub mod v10;
pub mod view;

use crate::proto::a2a::TaskArtifactUpdateEvent;
use crate::proto::task::ArtifactDelta;
use crate::proto::wkt::Struct;

/// What every dialect tells of an artifact.
fn artifact(
    task_id: &str,
    context_id: &str,
    delta: &ArtifactDelta,
    metadata: Option<Struct>,
) -> TaskArtifactUpdateEvent {
    TaskArtifactUpdateEvent {
        task_id: task_id.to_owned(),
        context_id: context_id.to_owned(),
        artifact: delta.artifact.clone(),
        append: delta.append,
        last_chunk: delta.last_chunk,
        metadata,
    }
}
