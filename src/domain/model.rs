//! What a model is to everybody else: one streaming call on the hub's types, and some questions beside it. Backends
//! implement it, the agent, the tools and the facades call it.

mod gather;
mod relay;

use std::time::Duration;

use async_trait::async_trait;
use futures::stream::BoxStream;

pub use gather::Gathered;
pub use relay::{Relay, Relayed, Verb};

use super::change::Change;

use crate::proto::gemini::{
    BatchEmbedContentsRequest, BatchEmbedContentsResponse, CountTokensRequest, CountTokensResponse,
    GenerateContentRequest, GenerateContentResponse, Model,
};

/// The chunks of an answer. Dropping it stops the call, also on the other side.
pub type Chunks = BoxStream<'static, Result<GenerateContentResponse, ModelError>>;

#[async_trait]
pub trait Backend: Send + Sync + 'static {
    /// An error before the first chunk has changed nothing; one behind it cuts the answer off.
    fn stream(&self, request: GenerateContentRequest) -> Chunks;

    /// The answer as a whole. Where the other side has no call for that, the chunks put together.
    async fn generate(
        &self,
        request: &GenerateContentRequest,
    ) -> Result<GenerateContentResponse, ModelError> {
        gather::whole(self.stream(request.clone())).await
    }

    async fn count_tokens(&self, request: CountTokensRequest) -> Result<CountTokensResponse, ModelError> {
        Err(ModelError::unsupported(&request.model, "does not count tokens"))
    }

    /// A vector for each text, in their order.
    async fn embed(
        &self,
        request: BatchEmbedContentsRequest,
    ) -> Result<BatchEmbedContentsResponse, ModelError> {
        Err(ModelError::unsupported(&request.model, "makes no embeddings"))
    }

    /// Those that can be asked for by name.
    async fn models(&self) -> Result<Vec<Model>, ModelError> {
        Ok(Vec::new())
    }

    /// What this model would be asked, and what that changes of the request. Nobody is asked. What comes out of it goes
    /// in again without a change.
    fn prepare(&self, request: GenerateContentRequest) -> Prepared {
        Prepared { request, changes: Vec::new(), upstream: String::new() }
    }

    /// Hands a request of Gemini's API on as it came, where the other side speaks that too, and the answer likewise. None
    /// if it does not.
    async fn relay(&self, _relay: &Relay) -> Option<Result<Relayed, ModelError>> {
        None
    }

    /// The model that answers where none is named; none where that is not known here.
    fn default_model(&self) -> Option<String> {
        None
    }

    /// Whether this model looks things up on the web by itself (`googleSearch`, `urlContext`).
    fn searches(&self, _model: &str) -> bool {
        false
    }
}

/// A request as it will go out.
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared {
    /// Under the name that the other side knows the model by.
    pub request: GenerateContentRequest,
    pub changes: Vec<Change>,
    /// Who would be asked first, as `backend/model`; nothing where nobody says so.
    pub upstream: String,
}

/// The words of a server on one line. More of them helps nobody, and they are told at every wait.
pub fn brief<'a>(words: impl Iterator<Item = &'a str>) -> String {
    const LONGEST: usize = 600;
    let line = words.collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

/// Why a model did not answer, or stopped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    pub cause: ModelCause,
    /// For the user to read. It holds no key.
    pub message: String,
    /// When it may be worth another try, if the other side says so.
    pub retry_after: Option<Duration>,
    /// It was staged, so that whoever serves it can show it on the wire as what it stands for.
    pub staged: Option<Staged>,
}

/// What a script wants to be seen on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Staged {
    /// An answer with this status of HTTP.
    Status(u16),
    /// A connection that breaks.
    Reset,
    /// Bytes that are no answer.
    Garbage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ModelCause {
    /// The request cannot be answered as it is.
    Invalid,
    /// The conversation does not fit.
    TooLong,
    /// The key is missing or wrong.
    Denied,
    /// The key is right, and may not do this.
    Forbidden,
    NotFound,
    /// This model cannot do that at all.
    Unsupported,
    /// Too many requests; later they are welcome.
    Limited,
    /// The quota is used up; waiting a little does not help.
    Exhausted,
    /// Down, overloaded or not reachable.
    Unavailable,
    /// It failed at this request; at the same one later it may not.
    Failed,
    /// The answer cannot be read.
    Broken,
}

impl ModelCause {
    /// The same request may well be answered a little later.
    pub fn is_passing(self) -> bool {
        matches!(self, Self::Limited | Self::Unavailable | Self::Failed | Self::Broken)
    }
}

impl ModelError {
    pub fn new(cause: ModelCause, message: impl Into<String>) -> Self {
        Self { cause, message: message.into(), retry_after: None, staged: None }
    }

    pub fn unsupported(model: &str, lack: &str) -> Self {
        Self::new(ModelCause::Unsupported, format!("the model {model} {lack}"))
    }
}
