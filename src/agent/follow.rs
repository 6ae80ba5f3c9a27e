//! Following a task: what is stored, then what happens, joined by sequence without gap or repeat.

use std::collections::VecDeque;
use std::sync::Arc;

use futures::Stream;
use tokio::sync::watch;

use super::live::Recent;
use super::tasks::Held;
use crate::domain::principal::Principal;
use crate::domain::store::{Result, Store};
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
    buffer: VecDeque<Arc<TaskEvent>>,
    /// The store had nothing more, after the tail was joined: from then on the tail is enough.
    caught_up: bool,
    ended: bool,
}

impl Follower {
    /// Ends behind the event that ends the task.
    pub(super) fn stream(self) -> impl Stream<Item = Result<Arc<TaskEvent>>> + Send {
        let changes = self.held.live.changes();
        let ended = self.last.is_some_and(|last| self.cursor >= last);
        let state = State { follower: self, changes, buffer: VecDeque::new(), caught_up: false, ended };
        futures::stream::try_unfold(state, |mut state| async move {
            Ok(state.next().await?.map(|event| (event, state)))
        })
    }
}

impl State {
    async fn next(&mut self) -> Result<Option<Arc<TaskEvent>>> {
        while self.buffer.is_empty() {
            if self.ended {
                return Ok(None);
            }
            self.fill().await?;
        }
        let event = self.buffer.pop_front();
        if let Some(event) = &event {
            self.follower.cursor = event.sequence;
            self.ended = self.follower.last.is_some_and(|last| event.sequence >= last) || is_last(event);
        }
        Ok(event)
    }

    /// Looks where more may be; waits only if there is nothing anywhere.
    async fn fill(&mut self) -> Result<()> {
        // Marked as seen before looking, so that what comes meanwhile wakes us.
        self.changes.borrow_and_update();
        match self.follower.held.live.recent(self.follower.cursor) {
            Recent::Events(events) if !events.is_empty() => self.buffer.extend(events),
            Recent::Events(_) => self.wait().await,
            Recent::AskStore if self.caught_up => {
                self.wait().await;
                self.caught_up = false;
            }
            Recent::AskStore => self.read().await?,
        }
        Ok(())
    }

    async fn read(&mut self) -> Result<()> {
        let Follower { store, who, task_id, cursor, .. } = &self.follower;
        let events = store.events(who, task_id, *cursor, PAGE).await?;
        self.caught_up = events.is_empty();
        let behind = events.into_iter().filter(|event| event.sequence > *cursor);
        self.buffer.extend(behind.map(Arc::new));
        Ok(())
    }

    async fn wait(&mut self) {
        if self.changes.changed().await.is_err() {
            self.ended = true;
        }
    }
}

fn is_last(event: &TaskEvent) -> bool {
    matches!(&event.event, Some(Event::State(change)) if change.state().is_terminal())
}
