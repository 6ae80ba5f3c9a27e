//! What thinks. Given what was said it answers at once, or works on a task step by step. The agent drives it and
//! performs nothing that it does not say; models and the rehearsal stand behind it.

use futures::stream::BoxStream;

use crate::proto::a2a::{Artifact, Message, Part, Task};
use crate::proto::devtool::AgentThought;

/// What a turn begins with.
#[derive(Debug, Clone, Default)]
pub struct Turn {
    pub task_id: String,
    pub context_id: String,
    /// What is new, oldest first; never empty.
    pub messages: Vec<Message>,
    /// What was said in the task before.
    pub history: Vec<Message>,
    /// The tasks that the messages refer to, or else those of the context, newest first.
    pub references: Vec<Task>,
}

/// One step of the work.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// A piece of the answer.
    Text(String),
    Thought(AgentThought),
    /// An artifact, or a piece of it.
    Artifact {
        artifact: Box<Artifact>,
        append: bool,
        last_chunk: bool,
    },
    /// Nothing follows.
    End(End),
}

/// How a turn ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// With words of its own, or with the answer that was given.
    Completed(Option<String>),
    /// Asks, and goes on with what the user says.
    InputRequired(String),
    Rejected(String),
    Failed(String),
}

pub trait Brain: Send + Sync + 'static {
    /// The answer to a first message that needs no task.
    fn reply(&self, message: &Message) -> Option<Vec<Part>>;

    /// Works until the stream ends; without an `End` the turn is completed. Dropping the stream stops the work. None
    /// if the model is to work on it.
    fn work(&self, turn: Turn) -> Option<BoxStream<'static, Step>>;
}

/// Leaves everything to the model.
#[derive(Debug, Clone, Copy)]
pub struct Brainless;

impl Brain for Brainless {
    fn reply(&self, _message: &Message) -> Option<Vec<Part>> {
        None
    }

    fn work(&self, _turn: Turn) -> Option<BoxStream<'static, Step>> {
        None
    }
}
