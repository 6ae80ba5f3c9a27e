//! What a conversion did to a request, told to whoever sent it: in a header, in a preview, in the log. Facades and
//! backends write it, services pass it on.

use std::fmt;

/// One thing that is not as it was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Where it stood in the request, for example `messages[1].name`.
    pub field: String,
    pub how: How,
    /// In a few words.
    pub why: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// It has no effect on the answer here, and is let pass.
    Ignored,
    /// It would have had an effect.
    Dropped,
    /// The model is asked for something else that comes near.
    Altered,
    /// What was missing was made up.
    Guessed,
}

impl How {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ignored => "ignored",
            Self::Dropped => "dropped",
            Self::Altered => "altered",
            Self::Guessed => "guessed",
        }
    }

    /// Whether the answer may be another one than was asked for. Strict callers are refused then.
    pub fn matters(self) -> bool {
        self != Self::Ignored
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { field, how, why } = self;
        write!(f, "{field}: {} ({why})", how.as_str())
    }
}
