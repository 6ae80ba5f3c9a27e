//! The life of a task as a pure machine: which state may follow which, and that every event has the next sequence.
//!
//! ```text
//!              +--> working <--> input-required, auth-required
//! submitted ---+       |                |
//!              +-------+----------------+--> completed, failed, canceled, rejected   (nothing follows)
//! ```
//!
//! Knows no store and no clock; the runner calls it and performs what it allows.

use crate::proto::a2a::TaskState;
use crate::proto::task::task_event::Event;
use crate::proto::task::{StateChanged, TaskEvent};
use crate::proto::wkt::Timestamp;

/// Where a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Machine {
    sequence: u64,
    state: TaskState,
}

/// What cannot happen to a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("the task has ended as {0:?} and does not change any more")]
    Terminal(TaskState),
    #[error("a task cannot go from {from:?} to {to:?}")]
    Transition { from: TaskState, to: TaskState },
}

impl Machine {
    /// Before its first event.
    pub fn new() -> Self {
        Self { sequence: 0, state: TaskState::Unspecified }
    }

    /// As the journal left it.
    pub fn at(sequence: u64, state: TaskState) -> Self {
        Self { sequence, state }
    }

    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    pub fn state(&self) -> TaskState {
        self.state
    }

    /// The event with its place in the journal, or why it cannot happen.
    pub fn apply(&mut self, event: Event, time: Timestamp) -> Result<TaskEvent, Refused> {
        self.state = self.after(&event)?;
        self.sequence += 1;
        Ok(TaskEvent { sequence: self.sequence, time: Some(time), event: Some(event) })
    }

    fn after(&self, event: &Event) -> Result<TaskState, Refused> {
        if self.state.is_terminal() {
            return Err(Refused::Terminal(self.state));
        }
        match (self.state, event) {
            (TaskState::Unspecified, Event::Created(_)) => Ok(TaskState::Submitted),
            (TaskState::Unspecified, _) => Err(self.refuse(TaskState::Unspecified)),
            (_, Event::Created(_)) => Err(self.refuse(TaskState::Submitted)),
            (_, Event::State(change)) => self.change(change),
            // What is said to a task does not move it, nor that somebody begins to listen.
            (state, Event::Message(_) | Event::Turn(_)) => Ok(state),
            // An answer to what was asked, and the work goes on.
            (TaskState::InputRequired, Event::Decision(_)) => Ok(TaskState::Working),
            // Calls that wait for an answer can still be withdrawn.
            (TaskState::InputRequired, Event::ToolCall(_) | Event::ToolAnswer(_)) => {
                Ok(TaskState::InputRequired)
            }
            // Work is only done at work.
            (TaskState::Working, _) => Ok(TaskState::Working),
            (_, _) => Err(self.refuse(TaskState::Working)),
        }
    }

    fn change(&self, change: &StateChanged) -> Result<TaskState, Refused> {
        let to = change.state();
        let allowed = match to {
            TaskState::Unspecified | TaskState::Submitted => false,
            TaskState::Working => self.state != TaskState::Working,
            _ => true,
        };
        if allowed { Ok(to) } else { Err(self.refuse(to)) }
    }

    fn refuse(&self, to: TaskState) -> Refused {
        Refused::Transition { from: self.state, to }
    }
}

#[cfg(test)]
mod tests;
