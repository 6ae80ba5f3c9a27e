//! The end of a task's journal in memory, for those who follow it. Events come here after they are stored, and
//! whoever is too far behind reads the store instead: nothing is ever skipped.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::proto::task::TaskEvent;

/// Enough for a follower that is a moment late; who is later reads the store.
const TAIL: usize = 1024;

#[derive(Debug)]
pub(super) struct Live {
    tail: Mutex<Tail>,
    /// The sequence of the last event that was published.
    head: watch::Sender<u64>,
}

#[derive(Debug)]
struct Tail {
    events: VecDeque<Arc<TaskEvent>>,
    /// Everything behind this sequence is in `events`. None as long as that is not known.
    whole_after: Option<u64>,
}

/// What the tail has to say to a follower.
#[derive(Debug, PartialEq)]
pub(super) enum Recent {
    Events(Vec<Arc<TaskEvent>>),
    /// It does not reach back far enough.
    AskStore,
}

impl Live {
    /// Of a task that begins now: the tail has all of it.
    pub(super) fn from_start() -> Self {
        Self::new(Some(0))
    }

    /// Of a task that may have a past.
    pub(super) fn joined() -> Self {
        Self::new(None)
    }

    fn new(whole_after: Option<u64>) -> Self {
        Self { tail: Mutex::new(Tail { events: VecDeque::new(), whole_after }), head: watch::Sender::new(0) }
    }

    pub(super) fn publish(&self, events: Vec<Arc<TaskEvent>>) {
        let Some(last) = events.last().map(|event| event.sequence) else { return };
        {
            let mut tail = self.tail();
            for event in events {
                tail.whole_after = tail.whole_after.or(Some(event.sequence.saturating_sub(1)));
                if tail.events.len() == TAIL {
                    tail.whole_after = tail.events.pop_front().map(|oldest| oldest.sequence);
                }
                tail.events.push_back(event);
            }
        }
        self.head.send_replace(last);
    }

    pub(super) fn recent(&self, after: u64) -> Recent {
        let tail = self.tail();
        match tail.whole_after {
            Some(from) if from <= after => {
                let skip = tail.events.partition_point(|event| event.sequence <= after);
                Recent::Events(tail.events.range(skip..).cloned().collect())
            }
            _ => Recent::AskStore,
        }
    }

    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.head.subscribe()
    }

    /// The tail is whole after every single push, so a panic elsewhere cannot leave it broken.
    fn tail(&self) -> MutexGuard<'_, Tail> {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(range: std::ops::RangeInclusive<u64>) -> Vec<Arc<TaskEvent>> {
        range.map(|sequence| Arc::new(TaskEvent { sequence, ..TaskEvent::default() })).collect()
    }

    #[test]
    fn a_tail_answers_only_for_what_it_has_whole() {
        let live = Live::from_start();
        assert_eq!(live.recent(0), Recent::Events(vec![]));
        live.publish(events(1..=3));
        assert_eq!(live.recent(0), Recent::Events(events(1..=3)));
        assert_eq!(live.recent(2), Recent::Events(events(3..=3)));
        live.publish(events(4..=TAIL as u64 + 3));
        assert_eq!(live.recent(2), Recent::AskStore);
        assert_eq!(live.recent(3), Recent::Events(events(4..=TAIL as u64 + 3)));

        let joined = Live::joined();
        assert_eq!(joined.recent(7), Recent::AskStore);
        joined.publish(events(8..=9));
        assert_eq!(joined.recent(7), Recent::Events(events(8..=9)));
        assert_eq!(joined.recent(6), Recent::AskStore);
    }
}
