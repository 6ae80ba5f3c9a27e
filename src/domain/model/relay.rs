//! Bytes of Gemini's API that pass through: the request as it came, the answer as it comes.

use bytes::Bytes;
use futures::stream::BoxStream;
use http::HeaderMap;

use super::ModelError;

/// A request on its way through.
#[derive(Debug, Clone)]
pub struct Relay {
    pub model: String,
    pub verb: Verb,
    /// A stream as server-sent events; else as one JSON array.
    pub events: bool,
    pub body: Bytes,
}

/// What is asked of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    Generate,
    Stream,
    Count,
    Embed,
    BatchEmbed,
}

impl Verb {
    /// What stands behind the colon of an address.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Generate => "generateContent",
            Self::Stream => "streamGenerateContent",
            Self::Count => "countTokens",
            Self::Embed => "embedContent",
            Self::BatchEmbed => "batchEmbedContents",
        }
    }
}

impl Relay {
    /// With the query that asks for events.
    pub fn action(&self) -> &'static str {
        match (self.verb, self.events) {
            (Verb::Stream, true) => "streamGenerateContent?alt=sse",
            (verb, _) => verb.as_str(),
        }
    }
}

/// An answer on its way through, also one that refuses.
pub struct Relayed {
    pub status: u16,
    /// Only those that the client should see.
    pub headers: HeaderMap,
    /// In bytes, where it is known beforehand.
    pub length: Option<u64>,
    /// Dropping it stops the call, also on the other side.
    pub body: BoxStream<'static, Result<Bytes, ModelError>>,
}
