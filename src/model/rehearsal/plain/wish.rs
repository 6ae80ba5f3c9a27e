//! What a plain request comes to: a thought, one call, and an honest report of what came of it.

use serde_json::{Map, Value};

use crate::model::rehearsal::conversation::{Conversation, Told};
use crate::model::rehearsal::line::{Call, Line, Thinking, Thought};

#[derive(Debug, Clone, PartialEq)]
pub(in crate::model::rehearsal) struct Wish {
    /// Of the thought.
    pub(super) subject: String,
    /// In words that go behind "I will" and "I could not".
    pub(super) deed: String,
    pub(super) tool: &'static str,
    pub(super) with: Map<String, Value>,
    pub(super) done: Done,
}

/// How success is reported.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Done {
    /// In these words.
    Said(String),
    /// With so many lines of what the tool gave.
    Shown { intro: String, lines: usize },
    /// With what the user answered.
    Answered,
}

impl Wish {
    /// What the model says and calls now.
    pub(in crate::model::rehearsal) fn lines(self, conversation: &Conversation) -> Vec<Line> {
        if conversation.answered > 0 {
            return vec![Line::say(self.report(&conversation.results))];
        }
        if !conversation.tools.iter().any(|tool| tool == self.tool) {
            let (deed, tool) = (self.deed, self.tool);
            return vec![Line::say(format!(
                "I would {deed}, but the tool for it, {tool}, is not offered to me."
            ))];
        }
        let description = format!("I will {}.", self.deed);
        let thought = Thought { subject: self.subject, description };
        let call = Call { tool: self.tool.to_owned(), with: self.with.into(), id: None, signature: None };
        vec![Line::Think(Thinking::Thought(thought)), Line::Call(call)]
    }

    fn report(&self, results: &[Told]) -> String {
        let last = results.last();
        let text = last.map_or("", |told| told.text.trim());
        if last.is_some_and(|told| told.failed) {
            return format!("I could not {}: {text}", self.deed);
        }
        match &self.done {
            Done::Said(words) => words.clone(),
            Done::Shown { intro, lines } => format!("{intro}\n\n{}", beginning(text, *lines)),
            Done::Answered => format!("You answered: {}", answers(text)),
        }
    }
}

/// The first lines, and how many there are besides.
fn beginning(text: &str, most: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let shown = lines[..lines.len().min(most)].join("\n");
    match lines.len().saturating_sub(most) {
        0 if shown.is_empty() => "(nothing)".to_owned(),
        0 => shown,
        1 => format!("{shown}\n\n(and one more line)"),
        more => format!("{shown}\n\n(and {more} more lines)"),
    }
}

/// `{"answers": {"0": "blue"}}`, as the tool tells it; anything else as it is.
fn answers(text: &str) -> String {
    let told: Value = serde_json::from_str(text).unwrap_or_default();
    let Some(answers) = told.get("answers").and_then(Value::as_object) else { return text.to_owned() };
    let word = |answer: &Value| answer.as_str().map_or_else(|| answer.to_string(), str::to_owned);
    answers.values().map(word).collect::<Vec<_>>().join(", ")
}

/// With a capital, and with an end.
pub(super) fn sentence(text: &str, end: char) -> String {
    let text = text.trim().trim_end_matches(['.', '?', '!']);
    let mut characters = text.chars();
    let first = characters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}{end}", characters.as_str())
}

/// The members of a JSON object.
pub(super) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}
