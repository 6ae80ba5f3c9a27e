//! A stretch of a task's journal: events that were stored together, shared by all who look at them. Pure.

use std::ops::Deref;
use std::sync::Arc;

use crate::proto::task::TaskEvent;

/// Events in their order. A clone is the same memory.
#[derive(Debug, Clone, Default)]
pub struct Stretch {
    events: Arc<Vec<TaskEvent>>,
    from: usize,
    to: usize,
}

impl Stretch {
    /// What of it comes behind a sequence.
    pub fn after(mut self, sequence: u64) -> Self {
        self.from += self.partition_point(|event| event.sequence <= sequence);
        self
    }

    /// Leaves the first so many.
    pub fn truncate(&mut self, length: usize) {
        self.to = self.to.min(self.from + length);
    }
}

impl From<Vec<TaskEvent>> for Stretch {
    fn from(events: Vec<TaskEvent>) -> Self {
        Self { from: 0, to: events.len(), events: Arc::new(events) }
    }
}

impl Deref for Stretch {
    type Target = [TaskEvent];

    fn deref(&self) -> &[TaskEvent] {
        self.events.get(self.from..self.to).unwrap_or_default()
    }
}

impl PartialEq for Stretch {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stretch_is_cut_at_both_ends() {
        let events: Vec<TaskEvent> =
            (3..=7).map(|sequence| TaskEvent { sequence, ..TaskEvent::default() }).collect();
        let whole = Stretch::from(events.clone());
        for (after, length, left) in [
            (0, 9, 0..5),
            (2, 5, 0..5),
            (3, 9, 1..5),
            (5, 1, 3..4),
            (6, 0, 4..4),
            (7, 9, 5..5),
            (99, 9, 5..5),
        ] {
            let mut cut = whole.clone().after(after);
            cut.truncate(length);
            assert_eq!(&*cut, &events[left], "{after} {length}");
        }
    }
}
