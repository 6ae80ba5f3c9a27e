//! The lines of a script: what each holds, who performs it, and what cannot be meant.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::domain::model::ModelCause;

/// One line of a script.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Line {
    /// The answer, whole or in pieces.
    Say(Pieces),
    Think(Thought),
    #[serde(deserialize_with = "super::duration::deserialize")]
    Wait(Duration),
    Call(Call),
    /// At once, in one answer.
    Calls(Vec<Call>),
    Error(Fault),
    Usage(Usage),
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
    pub(super) with: Map<String, Value>,
}

/// The model fails: at once, or behind what it said so far.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Fault {
    /// As HTTP would have it.
    pub(super) status: u16,
    #[serde(default)]
    pub(super) message: String,
    /// When another try is welcome.
    #[serde(default, deserialize_with = "super::duration::optional")]
    pub(super) after: Option<Duration>,
}

const CAUSES: [(u16, ModelCause); 12] = [
    (400, ModelCause::Invalid),
    (401, ModelCause::Denied),
    (402, ModelCause::Exhausted),
    (403, ModelCause::Denied),
    (404, ModelCause::NotFound),
    (413, ModelCause::TooLong),
    (429, ModelCause::Limited),
    (500, ModelCause::Unavailable),
    (502, ModelCause::Broken),
    (503, ModelCause::Unavailable),
    (504, ModelCause::Unavailable),
    (529, ModelCause::Unavailable),
];

impl Fault {
    pub(super) fn cause(&self) -> Option<ModelCause> {
        CAUSES.iter().find(|(status, _)| *status == self.status).map(|(_, cause)| *cause)
    }
}

/// Tokens to be told instead of the estimate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Usage {
    pub(super) input: Option<i32>,
    pub(super) output: Option<i32>,
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
            Self::Call(_) | Self::Calls(_) | Self::Error(_) | Self::Usage(_) => Level::Model,
            Self::Artifact(_)
            | Self::Ask(_)
            | Self::Reply(_)
            | Self::Complete(_)
            | Self::Reject(_)
            | Self::Fail(_) => Level::Agent,
        }
    }

    /// Nothing may follow.
    pub(super) fn ends(&self) -> bool {
        matches!(self, Self::Error(_)) || self.level() == Level::Agent && !matches!(self, Self::Artifact(_))
    }

    /// The answer ends here, and the next begins when the tools have answered.
    pub(super) fn calls(&self) -> bool {
        matches!(self, Self::Call(_) | Self::Calls(_))
    }

    pub(super) fn check(&self) -> Result<(), &'static str> {
        match self {
            Self::Artifact(thing) => thing.check(),
            Self::Call(call) => call.check(),
            Self::Calls(calls) if calls.is_empty() => Err("`calls` has no call"),
            Self::Calls(calls) => calls.iter().try_for_each(Call::check),
            Self::Error(fault) if fault.cause().is_none() => {
                Err("the status of an error is 400, 401, 402, 403, 404, 413, 429, 500, 502, 503, 504 or 529")
            }
            _ => Ok(()),
        }
    }
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
