//! A view of one task for whoever may see it: as it is, and what happens to it. Holding one keeps the tail of a running
//! task in memory, so that what was just sent is followed without asking the store.

use std::sync::Arc;

use futures::StreamExt;
use futures::stream::BoxStream;

use super::engine::Result;
use super::follow::Follower;
use super::tasks::Held;
use crate::domain::principal::Principal;
use crate::domain::snapshot::Snapshot;
use crate::domain::store::{Store, StoreError};
use crate::domain::stretch::Stretch;
use crate::proto::task::TaskEvent;

/// Events in their order, as many at once as were stored at once.
pub type Events = BoxStream<'static, Result<Stretch>>;

pub struct Watch {
    pub(super) store: Arc<dyn Store>,
    pub(super) who: Principal,
    pub(super) task_id: String,
    pub(super) held: Held,
    /// Of a task that has ended: its last sequence.
    pub(super) last: Option<u64>,
}

impl Watch {
    pub fn task_id(&self) -> &str {
        &self.task_id
    }

    /// The events behind `after`, then what happens, until the task ends. What was stored together comes together.
    pub fn events(&self, after: u64) -> Events {
        let follower = Follower {
            store: Arc::clone(&self.store),
            who: self.who.clone(),
            task_id: self.task_id.clone(),
            held: self.held.clone(),
            cursor: after,
            last: self.last,
        };
        follower.stream().boxed()
    }

    /// The task up to an event, or up to now.
    pub async fn snapshot(&self, upto: Option<u64>) -> Result<Snapshot> {
        let within = |event: &TaskEvent| upto.is_none_or(|upto| event.sequence <= upto);
        if let Some(all) = self.held.live.all() {
            let events = all.iter().flat_map(|stretch| stretch.iter());
            return Ok(Snapshot::of(events.take_while(|event| within(event))));
        }
        let events = self.store.events(&self.who, &self.task_id, 0, usize::MAX).await?;
        if events.is_empty() {
            return Err(StoreError::NotFound.into());
        }
        Ok(Snapshot::of(events.iter().take_while(|event| within(event))))
    }
}
