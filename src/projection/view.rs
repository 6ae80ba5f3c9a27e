//! What one client sees of one task, in whichever dialect it speaks. Pure; the service asks it for every event.

use super::{coder, v10};
use crate::proto::a2a::{StreamResponse, Task};
use crate::proto::task::TaskEvent;

#[derive(Debug, Clone, PartialEq)]
pub enum View {
    Native(v10::View),
    /// For clients of Gemini CLI's own server.
    Coder(coder::View),
}

impl View {
    /// None for what the dialect does not show.
    pub fn event(&mut self, event: &TaskEvent) -> Option<StreamResponse> {
        match self {
            Self::Native(view) => view.event(event),
            Self::Coder(view) => view.event(event),
        }
    }

    /// Puts on a task what the client looks for there.
    pub fn mark(&self, task: &mut Task, sequence: u64) {
        match self {
            Self::Native(view) => view.mark(task, sequence),
            Self::Coder(view) => view.mark(task),
        }
    }
}
