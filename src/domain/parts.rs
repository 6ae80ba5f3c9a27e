//! Small words for the parts of a message.

use crate::proto::a2a::part::Content;
use crate::proto::a2a::{Message, Part, TaskState};

impl Part {
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: Some(Content::Text(text.into())), ..Self::default() }
    }

    pub fn as_text(&self) -> Option<&str> {
        match &self.content {
            Some(Content::Text(text)) => Some(text),
            _ => None,
        }
    }
}

impl Message {
    /// All text of the message, a line per part.
    pub fn text(&self) -> String {
        self.parts.iter().filter_map(Part::as_text).collect::<Vec<_>>().join("\n")
    }
}

impl TaskState {
    /// Never changes again.
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Canceled | Self::Rejected)
    }

    /// Waits for the client.
    pub fn is_interrupted(self) -> bool {
        matches!(self, Self::InputRequired | Self::AuthRequired)
    }
}
