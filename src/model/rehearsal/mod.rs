//! The rehearsal: a model that follows a script, or understands a few plain requests, for tests, for authors of clients,
//! and for a first look without a key. As a [`Backend`] it thinks, speaks and calls tools; as a [`Brain`] it performs the
//! rules that act on a task directly. It remembers nothing but how often a script went wrong so far: all else that it needs
//! is in what it is asked with. The format is documented in `docs/rehearsal.md`.

mod answer;
mod beat;
mod besides;
mod conversation;
mod duration;
mod entry;
mod fault;
mod fence;
mod fill;
mod json;
mod line;
mod perform;
mod plain;
mod script;
mod spoken;
#[cfg(test)]
mod tests;
mod transcript;
mod when;
mod yaml;

use std::borrow::Cow;
use std::sync::Arc;

use async_trait::async_trait;
use futures::stream::BoxStream;

pub use script::{BadScript, Script};
pub(super) use transcript::{Outcome, Take};
pub(super) use when::SECRET;

use self::conversation::Conversation;
use self::fence::Fenced;
use self::fill::Filler;
use self::line::Line;
use self::script::Rule;
use self::when::Asked;
use crate::domain::brain::{Brain, Step, Turn};
use crate::domain::model::{Backend, Chunks, ModelError};
use crate::proto::a2a::{Message, Part, Role};
use crate::proto::gemini::{
    BatchEmbedContentsRequest, BatchEmbedContentsResponse, CountTokensRequest, CountTokensResponse,
    GenerateContentRequest, Model,
};

/// What happens when there is no script: it says what it heard, and that it is a rehearsal.
const BUILT_IN: &str = include_str!("built_in.yaml");

#[derive(Debug, Clone)]
pub struct Rehearsal {
    script: Script,
    /// Plain requests are understood: nobody has said what should happen to anything else.
    plain: bool,
}

impl Rehearsal {
    /// Follows the script. What no rule of it is for is taken as a plain request, and if it is none, it says so.
    pub fn new(script: Script) -> Self {
        let plain = script.anything().is_none();
        Self { script, plain }
    }

    /// Without a script of one's own.
    pub fn built_in() -> Result<Self, BadScript> {
        Script::parse(BUILT_IN).map(|script| Self { script, plain: true })
    }

    /// What it is asked for as.
    pub const NAME: &str = beat::MODEL;

    /// What the model is to say and to call now.
    fn lines(&self, conversation: &Conversation) -> Vec<Line> {
        let said = conversation.said.as_str();
        match fence::find(said) {
            Some(Err(problem)) => {
                // Behind its first line, the parser draws a picture.
                let problem = problem.to_string();
                let problem = problem.lines().next().unwrap_or_default().trim_start_matches("error: ");
                vec![Line::say(format!("The rehearsal in this message cannot be followed: {problem}"))]
            }
            Some(Ok(Fenced { script, around })) => {
                match script.named(asked(&around, conversation)).or_else(|| script.anything()) {
                    Some(rule) => follow(rule, &around, conversation),
                    None => vec![Line::say("No rule of the rehearsal in this message is for what it says.")],
                }
            }
            None => self.own_lines(said, conversation),
        }
    }

    fn own_lines(&self, said: &str, conversation: &Conversation) -> Vec<Line> {
        if let Some(rule) = self.script.named(asked(said, conversation)) {
            return follow(rule, said, conversation);
        }
        let wish = if self.plain { plain::understand(said) } else { None };
        match (wish, self.script.anything()) {
            (Some(wish), _) => wish.lines(conversation),
            (None, Some(rule)) => follow(rule, said, conversation),
            (None, None) => vec![Line::say("No rule of the rehearsal's script is for what was said.")],
        }
    }
}

fn asked<'a>(text: &'a str, conversation: &Conversation) -> Asked<'a> {
    let (turn, answered) = (Some(conversation.turn), Some(conversation.answered));
    Asked { text, turn, answered, message_id: None }
}

/// The part of the rule that is due.
fn follow(rule: &Rule, text: &str, conversation: &Conversation) -> Vec<Line> {
    let filler = Filler { text, result: conversation.result() };
    let due =
        if rule.is_one_answer() { &rule.lines } else { answer::due(&rule.lines, conversation.answered) };
    due.iter().map(|line| filler.line(line)).collect()
}

#[async_trait]
impl Backend for Rehearsal {
    fn stream(&self, request: GenerateContentRequest) -> Chunks {
        let conversation = Conversation::of(&request);
        answer::chunks(self.lines(&conversation), &conversation)
    }

    async fn count_tokens(&self, request: CountTokensRequest) -> Result<CountTokensResponse, ModelError> {
        Ok(besides::count(&request))
    }

    async fn embed(
        &self,
        request: BatchEmbedContentsRequest,
    ) -> Result<BatchEmbedContentsResponse, ModelError> {
        besides::embed(&request)
    }

    async fn models(&self) -> Result<Vec<Model>, ModelError> {
        Ok(besides::models())
    }

    fn searches(&self, _model: &str) -> bool {
        self.script.searches
    }
}

impl Brain for Rehearsal {
    fn reply(&self, message: &Message) -> Option<Vec<Part>> {
        let (script, stripped) = self.script_of(message)?;
        let message = stripped.as_ref().unwrap_or(message);
        let rule = script.rule(std::iter::once(message))?;
        rule.reply().map(|text| vec![Part::text(perform::fill(text, message))])
    }

    fn work(&self, mut turn: Turn) -> Option<BoxStream<'static, Step>> {
        let last = turn.messages.last_mut()?;
        let (script, stripped) = self.script_of(last)?;
        if let Some(stripped) = stripped {
            *last = stripped;
        }
        // What is new decides; an answer to a question of ours belongs to what was asked before.
        let new = turn.messages.iter().rev();
        let old = turn.history.iter().rev().filter(|message| message.role() == Role::User);
        let rule = script.rule(new.chain(old)).filter(|rule| rule.is_agents())?;
        Some(perform::steps(Arc::clone(&rule.lines), turn))
    }
}

impl Rehearsal {
    /// The script for a message, which may bring its own: then also the message without it. None if what it brings is
    /// wrong: then the model says so.
    fn script_of(&self, message: &Message) -> Option<(Cow<'_, Script>, Option<Message>)> {
        let Some(found) = fence::find(&message.text()) else {
            return Some((Cow::Borrowed(&self.script), None));
        };
        let Fenced { script, around } = found.ok()?;
        let stripped = Message { parts: vec![Part::text(around)], ..message.clone() };
        Some((Cow::Owned(script), Some(stripped)))
    }
}
