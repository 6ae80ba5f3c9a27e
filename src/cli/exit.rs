//! How a command of the client ended, as the number that a script sees. `docs/terminal.md` and `--help` list them.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// What was asked for is done.
    Done,
    /// The task failed, or something went wrong here.
    Failed,
    /// What was asked for makes no sense. The command line's own errors have the same number.
    Usage,
    /// The agent asks for something, and nobody is there to answer.
    Unanswered,
    /// No server is reached, or it does not let us in.
    Unreached,
    /// Somebody else cancelled the task.
    Cancelled,
    /// The user did, here.
    Interrupted,
}

impl Exit {
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Unanswered => 3,
            Self::Unreached => 4,
            Self::Cancelled => 5,
            Self::Interrupted => 130,
        }
    }
}

/// What kept a command from its end: one line for the user, and the number.
#[derive(Debug, thiserror::Error)]
#[error("{problem}")]
pub struct Stop {
    pub exit: Exit,
    pub problem: String,
}

impl Stop {
    pub fn new(exit: Exit, problem: impl Into<String>) -> Self {
        Self { exit, problem: problem.into() }
    }
}

impl From<std::io::Error> for Stop {
    fn from(error: std::io::Error) -> Self {
        // Whoever closes a pipe early has read enough, and needs no word about it.
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Self::new(Exit::Failed, ""),
            _ => Self::new(Exit::Failed, format!("cannot print: {error}")),
        }
    }
}
