//! The lines of a script: what each holds, who performs it, and what cannot be meant.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::fault::{Again, Fault, Times};
use super::json::Object;
use crate::proto::gemini::GenerateContentResponse;
use crate::proto::vendor;

/// One line of a script.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Line {
    /// The answer, whole or in pieces.
    Say(Pieces),
    Think(Thinking),
    #[serde(deserialize_with = "super::duration::deserialize")]
    Wait(Duration),
    Call(Call),
    /// At once, in one answer.
    Calls(Vec<Call>),
    Error(Fault),
    /// The connection breaks.
    Reset(Option<Again>),
    /// Something comes that cannot be read.
    Garbage(Option<Again>),
    /// Nothing comes any more.
    Silence(Option<Again>),
    Usage(Usage),
    /// What the answer names as its model, from here on.
    Model(String),
    ResponseId(String),
    /// Of what was said or thought in the same entry.
    Signature(String),
    /// Why the answer ends.
    Finish(String),
    /// The answer ends, and nothing is added.
    End,
    /// A chunk as it is.
    #[serde(deserialize_with = "chunk")]
    Chunk(Box<GenerateContentResponse>),
    /// All of it in one chunk: an entry with several keys.
    #[serde(skip)]
    Together(Vec<Line>),
    Artifact(Box<Thing>),
    Ask(String),
    Reply(String),
    Complete(Option<String>),
    Reject(String),
    Fail(String),
}

/// Who performs a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    Either,
    /// Goes through the turn loop.
    Model,
    /// Acts on the task directly.
    Agent,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub(super) enum Pieces {
    One(String),
    Many(Vec<String>),
}

impl Pieces {
    pub(super) fn into_vec(self) -> Vec<String> {
        match self {
            Self::One(text) => vec![text],
            Self::Many(pieces) => pieces,
        }
    }

    pub(super) fn as_slice(&self) -> &[String] {
        match self {
            Self::One(text) => std::slice::from_ref(text),
            Self::Many(pieces) => pieces,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub(super) enum Thinking {
    /// To the letter.
    Text(String),
    Thought(Thought),
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Thought {
    pub(super) subject: String,
    pub(super) description: String,
}

/// A tool that the model calls.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Call {
    pub(super) tool: String,
    #[serde(default)]
    pub(super) with: Object,
    /// Instead of the next number. Such a call has no signature but the one that is given.
    pub(super) id: Option<String>,
    pub(super) signature: Option<String>,
}

/// Tokens to be told. In a line of its own it is told at the end, and what is not given is estimated; in an entry with
/// others it is exactly this.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Usage {
    pub(super) input: Option<i32>,
    pub(super) output: Option<i32>,
    pub(super) thoughts: Option<i32>,
    /// Of the input, from a cache.
    pub(super) cached: Option<i32>,
    /// Of what tools on the model's side said.
    pub(super) tools: Option<i32>,
    /// Otherwise their sum.
    pub(super) total: Option<i32>,
    /// Further members.
    pub(super) more: Option<Object>,
}

fn chunk<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Box<GenerateContentResponse>, D::Error> {
    let text = Object::deserialize(deserializer)?.to_json();
    vendor::decode(text.as_bytes()).map(Box::new).map_err(serde::de::Error::custom)
}

/// An artifact. Exactly one of text, bytes, url and data is its content.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Thing {
    #[serde(default)]
    pub(super) name: String,
    #[serde(default)]
    pub(super) description: String,
    #[serde(default)]
    pub(super) filename: String,
    #[serde(default)]
    pub(super) media_type: String,
    /// Whole, or sent in pieces.
    pub(super) text: Option<Pieces>,
    /// In base64.
    pub(super) bytes: Option<String>,
    pub(super) url: Option<String>,
    pub(super) data: Option<Value>,
    /// A new version of the artifact that the message refers to: its name is kept, and if it is not clear which one
    /// is meant, the user is asked.
    #[serde(default)]
    pub(super) refine: bool,
}

impl Line {
    pub(super) fn say(text: impl Into<String>) -> Self {
        Self::Say(Pieces::One(text.into()))
    }

    pub(super) fn level(&self) -> Level {
        match self {
            Self::Say(_) | Self::Think(_) | Self::Wait(_) => Level::Either,
            Self::Artifact(_)
            | Self::Ask(_)
            | Self::Reply(_)
            | Self::Complete(_)
            | Self::Reject(_)
            | Self::Fail(_) => Level::Agent,
            _ => Level::Model,
        }
    }

    /// Nothing may follow.
    pub(super) fn ends(&self) -> bool {
        match self {
            Self::Finish(_) | Self::End => true,
            Self::Error(_) | Self::Reset(_) | Self::Garbage(_) | Self::Silence(_) => self.times().is_none(),
            other => other.level() == Level::Agent && !matches!(other, Self::Artifact(_)),
        }
    }

    /// How often it goes wrong, if not always.
    pub(super) fn times(&self) -> Option<&Times> {
        match self {
            Self::Error(fault) => fault.times.as_ref(),
            Self::Reset(again) | Self::Garbage(again) | Self::Silence(again) => {
                again.as_ref().map(|again| &again.times)
            }
            _ => None,
        }
    }

    /// The answer ends here, and the next begins when the tools have answered.
    pub(super) fn calls(&self) -> bool {
        match self {
            Self::Call(_) | Self::Calls(_) => true,
            Self::Together(lines) => lines.iter().any(Self::calls),
            _ => false,
        }
    }

    pub(super) fn check(&self) -> Result<(), &'static str> {
        match self {
            Self::Artifact(thing) => thing.check(),
            Self::Call(call) => call.check(),
            Self::Calls(calls) if calls.is_empty() => Err("`calls` has no call"),
            Self::Calls(calls) => calls.iter().try_for_each(Call::check),
            Self::Error(fault) if fault.cause().is_none() => Err(
                "the status of an error is 400, 401, 402, 403, 404, 413, 429, 500, 501, 502, 503, 504 or 529",
            ),
            Self::Signature(_) => Err("a signature stands in one entry with what was said or thought"),
            Self::Together(lines) => together(lines),
            _ => Ok(()),
        }
    }
}

/// An entry with several keys is one chunk: something in it must be said, and all of it must be part of a chunk.
fn together(lines: &[Line]) -> Result<(), &'static str> {
    let is_spoken = |line: &Line| matches!(line, Line::Say(_) | Line::Think(_)) || line.calls();
    let fits = |line: &Line| {
        is_spoken(line) || matches!(line, Line::Signature(_) | Line::Usage(_) | Line::Finish(_))
    };
    if !lines.iter().all(fits) {
        return Err(
            "an entry with several keys is one chunk: think, say, signature, call, calls, usage, finish",
        );
    }
    if !lines.iter().any(|line| is_spoken(line) || matches!(line, Line::Finish(_))) {
        return Err("an entry with several keys says something, or finishes");
    }
    let signs =
        |pair: &[Line]| matches!(pair, [before, Line::Signature(_)] if before.calls() || !is_spoken(before));
    if matches!(lines.first(), Some(Line::Signature(_))) || lines.windows(2).any(signs) {
        return Err("a signature stands behind what was said or thought; that of a call stands in the call");
    }
    lines.iter().filter(|line| !matches!(line, Line::Signature(_))).try_for_each(Line::check)
}

impl Call {
    fn check(&self) -> Result<(), &'static str> {
        if self.tool.trim().is_empty() { Err("a call names its tool") } else { Ok(()) }
    }
}

impl Thing {
    fn check(&self) -> Result<(), &'static str> {
        let contents = [self.text.is_some(), self.bytes.is_some(), self.url.is_some(), self.data.is_some()];
        if contents.into_iter().filter(|given| *given).count() != 1 {
            return Err("an artifact has exactly one of text, bytes, url and data");
        }
        match &self.bytes {
            Some(bytes) if STANDARD.decode(bytes).is_err() => Err("the bytes of an artifact are not base64"),
            _ => Ok(()),
        }
    }
}
