//! Thought signatures for clients that lose them: under which keys a signed call can be found again, and which calls of a
//! conversation miss theirs. Pure; the ledger of the services stores and looks up.
//!
//! A call is known by its id, and for clients that change ids by what led to it: what the user said last, what the model
//! said and called since, and the call itself. What tools answered does not count, since clients shorten it.

use serde_json::{Number, Value};
use sha2::{Digest, Sha256};

use super::one_more;
use crate::proto::gemini::part::Data;
use crate::proto::gemini::{Content, FunctionCall, Part};

const MODEL: &str = "model";
/// Nobody signs ids that are longer.
const LONGEST_ID: usize = 256;

/// The way of a turn so far.
#[derive(Debug, Clone, Default)]
pub struct Trail {
    turn: Sha256,
    /// Said by the model and not yet taken in: it comes in pieces, and clients trim it.
    text: String,
}

impl Trail {
    /// At the end of a conversation.
    pub fn of(contents: &[Content]) -> Self {
        let mut trail = Self::default();
        let start = contents.iter().rposition(begins_turn).unwrap_or_default();
        contents.iter().skip(start).for_each(|content| trail.follow(content, |_, _, _| {}));
        trail
    }

    /// Tells each call of the content: its place, itself and its key.
    fn follow(&mut self, content: &Content, mut found: impl FnMut(usize, &FunctionCall, String)) {
        if begins_turn(content) {
            let texts: String = content.parts.iter().filter_map(text).collect();
            *self = Self::default();
            self.absorb(b'u', texts.trim());
        }
        if content.role != MODEL {
            return;
        }
        for (at, part) in content.parts.iter().enumerate() {
            if let Some((call, key)) = self.step(part) {
                found(at, call, key);
            }
        }
        self.pause();
    }

    /// The next part of what the model says; of a call also its key.
    fn step<'a>(&mut self, part: &'a Part) -> Option<(&'a FunctionCall, String)> {
        if let Some(Data::FunctionCall(call)) = &part.data {
            self.pause();
            self.absorb(b'c', &call.name);
            self.absorb(b'a', &canonical(&call.args));
            return Some((call, format!("h:{}", hex(&self.turn.clone().finalize()))));
        }
        self.text.push_str(text(part).unwrap_or_default());
        None
    }

    fn pause(&mut self) {
        let text = std::mem::take(&mut self.text);
        if !text.trim().is_empty() {
            self.absorb(b't', text.trim());
        }
    }

    fn absorb(&mut self, kind: u8, text: &str) {
        self.turn.update([kind]);
        self.turn.update((text.len() as u64).to_be_bytes());
        self.turn.update(text);
    }
}

/// The user says something, rather than tools.
fn begins_turn(content: &Content) -> bool {
    let answers = |part: &Part| matches!(part.data, Some(Data::FunctionResponse(_)));
    content.role != MODEL && !content.parts.iter().any(answers)
}

/// That is no thought.
fn text(part: &Part) -> Option<&str> {
    match &part.data {
        Some(Data::Text(text)) if !part.thought => Some(text),
        _ => None,
    }
}

fn id_key(id: &str) -> Option<String> {
    (!id.is_empty() && id.len() <= LONGEST_ID).then(|| format!("i:{id}"))
}

/// A call that was signed, and what it can be found by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signed {
    pub keys: Vec<String>,
    pub signature: String,
}

/// Signed calls of one answer, seen while it comes. One for each candidate, since each goes its own way.
#[derive(Debug, Default)]
pub struct Watch {
    from: Trail,
    ways: Vec<(i32, Trail)>,
    pub signed: Vec<Signed>,
}

impl Watch {
    /// `from` is the end of the conversation that is answered.
    pub fn new(from: Trail) -> Self {
        Self { from, ..Self::default() }
    }

    pub fn see(&mut self, candidate: i32, part: &Part) {
        let at = self.ways.iter().position(|(index, _)| *index == candidate).unwrap_or_else(|| {
            one_more(&mut self.ways).push((candidate, self.from.clone()));
            self.ways.len() - 1
        });
        let Some((_, trail)) = self.ways.get_mut(at) else { return };
        let Some((call, key)) = trail.step(part) else { return };
        if !part.thought_signature.is_empty() {
            let keys = id_key(&call.id).into_iter().chain([key]).collect();
            self.signed.push(Signed { keys, signature: part.thought_signature.clone() });
        }
    }
}

/// A call without a signature, and what one could be found by, best first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    content: usize,
    part: usize,
    pub keys: Vec<String>,
}

/// Of calls that were made together only the first is signed, so the others are known by their ids alone, and where the
/// first has its signature, by nothing.
pub fn lost(contents: &[Content]) -> Vec<Lost> {
    let (mut lost, mut trail) = (Vec::new(), Trail::default());
    let is_call = |part: &Part| matches!(part.data, Some(Data::FunctionCall(_)));
    // Most conversations have none, and need not be followed.
    if !contents.iter().any(|content| content.parts.iter().any(is_call)) {
        return lost;
    }
    for (at, content) in contents.iter().enumerate() {
        let mut first = None;
        trail.follow(content, |part, call, key| {
            let signed = content.parts.get(part).is_some_and(|part| !part.thought_signature.is_empty());
            let leads = first.is_none();
            let led = *first.get_or_insert(signed);
            if signed || led {
                return;
            }
            let keys: Vec<String> = id_key(&call.id).into_iter().chain(leads.then_some(key)).collect();
            if !keys.is_empty() {
                lost.push(Lost { content: at, part, keys });
            }
        });
    }
    lost
}

/// Gives it back.
pub fn sign(contents: &mut [Content], lost: &Lost, signature: String) {
    let part = contents.get_mut(lost.content).and_then(|content| content.parts.get_mut(lost.part));
    if let Some(part) = part.filter(|part| part.thought_signature.is_empty()) {
        part.thought_signature = signature;
    }
}

/// Numbers and members in one spelling, because clients read arguments and print them again.
fn canonical(args: &str) -> String {
    let mut out = String::new();
    match serde_json::from_str(args) {
        Ok(value) => print(&value, &mut out),
        Err(_) if args.trim().is_empty() => out.push_str("{}"),
        Err(_) => out.push_str(args.trim()),
    }
    out
}

fn print(value: &Value, out: &mut String) {
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => out.push_str(&value.to_string()),
        Value::Number(number) => out.push_str(&plain(number)),
        Value::Array(items) => {
            out.push('[');
            for item in items {
                print(item, out);
                out.push(',');
            }
            out.push(']');
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(name, _)| *name);
            out.push('{');
            for (name, value) in members {
                out.push_str(&Value::from(name.as_str()).to_string());
                out.push(':');
                print(value, out);
                out.push(',');
            }
            out.push('}');
        }
    }
}

/// As a client keeps it that knows one kind of number.
fn plain(number: &Number) -> String {
    number.as_f64().map_or_else(|| number.to_string(), |number| format!("{number:e}"))
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;

    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests;
