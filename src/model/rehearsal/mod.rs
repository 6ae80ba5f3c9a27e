//! The rehearsal: a brain that follows a script, for tests, for authors of clients, and for a first look without a
//! key. The format is documented in `docs/rehearsal.md`.

mod duration;
mod perform;
mod script;

use std::sync::Arc;

use futures::StreamExt;
use futures::stream::BoxStream;

pub use script::{BadScript, Script};

use crate::domain::brain::{Brain, Step, Turn};
use crate::proto::a2a::{Message, Part, Role};

/// What happens when there is no script: it says what it heard, and that it is a rehearsal.
const BUILT_IN: &str = include_str!("built_in.yaml");

#[derive(Debug, Clone)]
pub struct Rehearsal {
    script: Script,
}

impl Rehearsal {
    pub fn new(script: Script) -> Self {
        Self { script }
    }

    /// Without a script of one's own.
    pub fn built_in() -> Result<Self, BadScript> {
        Script::parse(BUILT_IN).map(Self::new)
    }
}

impl Brain for Rehearsal {
    fn reply(&self, message: &Message) -> Option<Vec<Part>> {
        let rule = self.script.rule(std::iter::once(message))?;
        rule.reply().map(|text| vec![Part::text(perform::fill(text, message))])
    }

    fn work(&self, turn: Turn) -> BoxStream<'static, Step> {
        // What is new decides; an answer to a question of ours belongs to what was asked before.
        let new = turn.messages.iter().rev();
        let old = turn.history.iter().rev().filter(|message| message.role() == Role::User);
        match self.script.rule(new.chain(old)) {
            Some(rule) => perform::steps(Arc::clone(rule), turn),
            None => futures::stream::empty().boxed(),
        }
    }
}
