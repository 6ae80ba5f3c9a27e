//! Following a task: what is stored, then what happens, joined by sequence without gap or repeat.

use std::sync::Arc;

use futures::Stream;
use tokio::sync::watch;

use super::engine::{EngineError, Result};
use super::live::Next;
use super::tasks::Held;
use crate::domain::principal::Principal;
use crate::domain::store::Store;
use crate::domain::stretch::Stretch;
use crate::proto::task::TaskEvent;
use crate::proto::task::task_event::Event;

/// Read at once; a follower from far back takes several.
const PAGE: usize = 256;

/// A follower and how far it is.
pub(super) struct Follower {
    pub(super) store: Arc<dyn Store>,
    pub(super) who: Principal,
    pub(super) task_id: String,
    pub(super) held: Held,
    pub(super) cursor: u64,
    /// Of a task that has ended: its last sequence. Nothing comes behind it.
    pub(super) last: Option<u64>,
}

struct State {
    follower: Follower,
    changes: watch::Receiver<u64>,
    /// The store had nothing more, after the tail was joined: from then on the tail is enough.
    caught_up: bool,
    ended: bool,
}

impl Follower {
    /// What was stored at once comes at once, never nothing. Ends behind the event that ends the task.
    pub(super) fn stream(self) -> impl Stream<Item = Result<Stretch>> + Send {
        let changes = self.held.live.changes();
        let ended = self.last.is_some_and(|last| self.cursor >= last);
        let state = State { follower: self, changes, caught_up: false, ended };
        futures::stream::try_unfold(state, |mut state| async move {
            Ok(state.next().await?.map(|events| (events, state)))
        })
    }
}

impl State {
    async fn next(&mut self) -> Result<Option<Stretch>> {
        while !self.ended {
            let mut events = self.look().await?;
            let last = self.follower.last.unwrap_or(u64::MAX);
            let is_end = |event: &TaskEvent| event.sequence >= last || is_last(event);
            if let Some(end) = events.iter().position(is_end) {
                events.truncate(end + 1);
                self.ended = true;
            }
            if let Some(last) = events.last() {
                self.follower.cursor = last.sequence;
                return Ok(Some(events));
            }
        }
        Ok(None)
    }

    /// Looks where more may be; waits only if there is nothing anywhere.
    async fn look(&mut self) -> Result<Stretch> {
        // Marked as seen before looking, so that what comes meanwhile wakes us.
        self.changes.borrow_and_update();
        // And left before looking, so that the last words of whoever leaves are still heard.
        let left = self.follower.held.is_left();
        match self.follower.held.live.next(self.follower.cursor) {
            Next::Stretch(events) => return Ok(events),
            Next::AskStore if left || !self.caught_up => {
                let events = self.read().await?;
                if !(left && self.caught_up) {
                    return Ok(events);
                }
            }
            Next::Nothing | Next::AskStore => {}
        }
        // What nobody works on would hold up a stop without end. Its follower is told, and comes back with its cursor.
        if left {
            return Err(EngineError::Stopping);
        }
        self.ended = self.changes.changed().await.is_err();
        self.caught_up = false;
        Ok(Stretch::default())
    }

    async fn read(&mut self) -> Result<Stretch> {
        let Follower { store, who, task_id, cursor, .. } = &self.follower;
        let events = store.events(who, task_id, *cursor, PAGE).await?;
        self.caught_up = events.is_empty();
        Ok(Stretch::from(events).after(*cursor))
    }
}

fn is_last(event: &TaskEvent) -> bool {
    matches!(&event.event, Some(Event::State(change)) if change.state().is_terminal())
}
