//! The end of a task's journal in memory, for those who follow it. Events come here after they are stored, and
//! whoever is too far behind reads the store instead: nothing is ever skipped.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use prost::Message as _;
use tokio::sync::watch;

use crate::domain::stretch::Stretch;
use crate::proto::task::TaskEvent;
use crate::proto::task::task_event::Event;

/// Enough for a follower that is a moment late; who is later reads the store.
const TAIL: usize = 1024;
/// A stretch that is larger alone is never here.
const TAIL_BYTES: usize = 8 * 1024 * 1024;

#[derive(Debug)]
pub(super) struct Live {
    tail: Mutex<Tail>,
    /// The sequence of the last event that was published.
    head: watch::Sender<u64>,
}

#[derive(Debug)]
struct Tail {
    /// As they were stored: what comes together goes together.
    stretches: VecDeque<Kept>,
    /// Of all of them.
    events: usize,
    bytes: usize,
    /// Everything behind this sequence is in `stretches`. None as long as that is not known.
    whole_after: Option<u64>,
}

#[derive(Debug)]
struct Kept {
    stretch: Stretch,
    last: u64,
    bytes: usize,
}

/// What the tail has to say to a follower.
#[derive(Debug, PartialEq)]
pub(super) enum Next {
    /// What comes next, as it was stored.
    Stretch(Stretch),
    /// Nothing is new.
    Nothing,
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
        let tail = Tail { stretches: VecDeque::new(), events: 0, bytes: 0, whole_after };
        Self { tail: Mutex::new(tail), head: watch::Sender::new(0) }
    }

    pub(super) fn publish(&self, stretch: Stretch) {
        let Some(last) = stretch.last().map(|event| event.sequence) else { return };
        let bytes = stretch.iter().map(size).sum();
        self.tail().push(Kept { stretch, last, bytes });
        self.head.send_replace(last);
    }

    pub(super) fn next(&self, after: u64) -> Next {
        let tail = self.tail();
        if tail.whole_after.is_none_or(|from| from > after) {
            return Next::AskStore;
        }
        let next = tail.stretches.partition_point(|kept| kept.last <= after);
        tail.stretches
            .get(next)
            .map_or(Next::Nothing, |kept| Next::Stretch(kept.stretch.clone().after(after)))
    }

    /// All of the task, if the tail has it from the start.
    pub(super) fn all(&self) -> Option<Vec<Stretch>> {
        let tail = self.tail();
        let is_whole = tail.whole_after == Some(0) && !tail.stretches.is_empty();
        is_whole.then(|| tail.stretches.iter().map(|kept| kept.stretch.clone()).collect())
    }

    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.head.subscribe()
    }

    /// Lets everybody look again who waits for a change.
    pub(super) fn wake(&self) {
        self.head.send_modify(|_| {});
    }

    /// The tail is whole after every single push, so a panic elsewhere cannot leave it broken.
    fn tail(&self) -> MutexGuard<'_, Tail> {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tail {
    fn push(&mut self, kept: Kept) {
        let first = kept.stretch.first().map_or(kept.last, |event| event.sequence);
        self.whole_after = self.whole_after.or(Some(first.saturating_sub(1)));
        self.events += kept.stretch.len();
        self.bytes += kept.bytes;
        self.stretches.push_back(kept);
        while self.events > TAIL || self.bytes > TAIL_BYTES {
            let Some(oldest) = self.stretches.pop_front() else { break };
            self.events -= oldest.stretch.len();
            self.bytes -= oldest.bytes;
            self.whole_after = Some(oldest.last);
        }
    }
}

/// About. Most events are pieces of text, and not worth counting to the byte.
fn size(event: &TaskEvent) -> usize {
    match &event.event {
        Some(Event::Text(delta)) => size_of::<TaskEvent>() + delta.text.len(),
        _ => event.encoded_len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::devtool::LiveOutput;

    fn events(range: std::ops::RangeInclusive<u64>) -> Stretch {
        range.map(|sequence| TaskEvent { sequence, ..TaskEvent::default() }).collect::<Vec<_>>().into()
    }

    fn next(range: std::ops::RangeInclusive<u64>) -> Next {
        Next::Stretch(events(range))
    }

    #[test]
    fn a_tail_answers_only_for_what_it_has_whole() {
        let live = Live::from_start();
        assert_eq!(live.next(0), Next::Nothing);
        live.publish(events(1..=3));
        assert_eq!(live.next(0), next(1..=3));
        assert_eq!(live.next(2), next(3..=3));
        assert_eq!(live.all(), Some(vec![events(1..=3)]));
        live.publish(events(4..=TAIL as u64 + 3));
        assert_eq!(live.next(2), Next::AskStore);
        assert_eq!(live.next(3), next(4..=TAIL as u64 + 3));

        let joined = Live::joined();
        assert_eq!(joined.next(7), Next::AskStore);
        joined.publish(events(8..=9));
        assert_eq!(joined.next(7), next(8..=9));
        assert_eq!(joined.next(6), Next::AskStore);
    }

    #[test]
    fn a_tail_holds_no_more_than_its_bytes() {
        let large = |sequence, bytes| {
            let output = LiveOutput { text: "x".repeat(bytes), ..LiveOutput::default() };
            let event = Some(Event::ToolOutput(Box::new(output)));
            Stretch::from(vec![TaskEvent { sequence, event, ..TaskEvent::default() }])
        };
        let live = Live::from_start();
        (1..=10).for_each(|sequence| live.publish(large(sequence, TAIL_BYTES / 4)));
        assert_eq!(live.next(6), Next::AskStore);
        for kept in 8..=10 {
            assert_eq!(live.next(kept - 1), Next::Stretch(large(kept, TAIL_BYTES / 4)));
        }
        assert_eq!(live.all(), None);
        live.publish(large(11, 2 * TAIL_BYTES));
        assert_eq!((live.next(10), live.next(11)), (Next::AskStore, Next::Nothing));
        live.publish(events(12..=13));
        assert_eq!(live.next(11), next(12..=13));
    }
}
