//! The end of a task's journal in memory, for those who follow it. Events come here after they are stored, and
//! whoever is too far behind reads the store instead: nothing is ever skipped.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use prost::Message as _;
use tokio::sync::watch;

use crate::proto::task::TaskEvent;

/// Enough for a follower that is a moment late; who is later reads the store.
const TAIL: usize = 1024;
/// As stored. An event that is larger alone is never here.
const TAIL_BYTES: usize = 8 * 1024 * 1024;

#[derive(Debug)]
pub(super) struct Live {
    tail: Mutex<Tail>,
    /// The sequence of the last event that was published.
    head: watch::Sender<u64>,
}

#[derive(Debug)]
struct Tail {
    events: VecDeque<Arc<TaskEvent>>,
    /// Of all of them.
    bytes: usize,
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
        let tail = Tail { events: VecDeque::new(), bytes: 0, whole_after };
        Self { tail: Mutex::new(tail), head: watch::Sender::new(0) }
    }

    pub(super) fn publish(&self, events: Vec<Arc<TaskEvent>>) {
        let Some(last) = events.last().map(|event| event.sequence) else { return };
        {
            let mut tail = self.tail();
            for event in events {
                tail.push(event);
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

impl Tail {
    fn push(&mut self, event: Arc<TaskEvent>) {
        self.whole_after = self.whole_after.or(Some(event.sequence.saturating_sub(1)));
        self.bytes += event.encoded_len();
        self.events.push_back(event);
        while self.events.len() > TAIL || self.bytes > TAIL_BYTES {
            let Some(oldest) = self.events.pop_front() else { break };
            self.bytes = self.bytes.saturating_sub(oldest.encoded_len());
            self.whole_after = Some(oldest.sequence);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::devtool::LiveOutput;
    use crate::proto::task::task_event::Event;

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

    #[test]
    fn a_tail_holds_no_more_than_its_bytes() {
        let large = |sequence, bytes| {
            let output = LiveOutput { text: "x".repeat(bytes), ..LiveOutput::default() };
            let event = Some(Event::ToolOutput(Box::new(output)));
            Arc::new(TaskEvent { sequence, event, ..TaskEvent::default() })
        };
        let live = Live::from_start();
        live.publish((1..=10).map(|sequence| large(sequence, TAIL_BYTES / 4)).collect());
        assert_eq!(live.recent(6), Recent::AskStore);
        let kept = (8..=10).map(|sequence| large(sequence, TAIL_BYTES / 4)).collect();
        assert_eq!(live.recent(7), Recent::Events(kept));
        live.publish(vec![large(11, 2 * TAIL_BYTES)]);
        assert_eq!((live.recent(10), live.recent(11)), (Recent::AskStore, Recent::Events(vec![])));
        live.publish(events(12..=13));
        assert_eq!(live.recent(11), Recent::Events(events(12..=13)));
    }
}
