//! What a model is to everybody else: one streaming call on the hub's types. Backends implement it, the agent and the
//! facades call it.

use futures::stream::BoxStream;

use crate::proto::gemini::{GenerateContentRequest, GenerateContentResponse};

/// The chunks of an answer. Dropping it stops the call, also on the other side.
pub type Chunks = BoxStream<'static, Result<GenerateContentResponse, ModelError>>;

pub trait Backend: Send + Sync + 'static {
    /// An error before the first chunk has changed nothing; one behind it cuts the answer off.
    fn stream(&self, request: GenerateContentRequest) -> Chunks;
}

/// Why a model did not answer, or stopped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    pub cause: ModelCause,
    /// For the user to read.
    pub message: String,
    /// When it may be worth another try, if the other side says so.
    pub retry_after: Option<std::time::Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelCause {
    /// The request cannot be answered as it is.
    Invalid,
    /// The conversation does not fit.
    TooLong,
    /// The key is missing or wrong.
    Denied,
    NotFound,
    /// Too many requests; later they are welcome.
    Limited,
    /// The quota is used up; waiting a little does not help.
    Exhausted,
    /// Down, overloaded or not reachable.
    Unavailable,
    /// The answer cannot be read.
    Broken,
}

impl ModelError {
    pub fn new(cause: ModelCause, message: impl Into<String>) -> Self {
        Self { cause, message: message.into(), retry_after: None }
    }
}
