//! Chat completions as OpenAI prints them, and the servers that follow it. Derives do most of it (`build/vendor.rs`);
//! here is what they cannot: text-or-list, what has a `type`, texts where others send numbers or objects, and unknown
//! members. Knows nothing of the hub; the backend and the facade of this dialect stand on it.

mod plain;
mod responses;
mod tagged;
#[cfg(test)]
mod tests;
mod unions;

pub use super::generated::agena::openai::v1::*;
use super::vendor::keep_extra;
pub(super) use plain::{arguments, code, error_or_text, texts, usage};

keep_extra!(
    Message,
    ChatCompletionRequest,
    StreamOptions,
    ResponseFormat,
    ChatCompletion,
    Choice,
    ResponseMessage,
    ChatCompletionChunk,
    ChunkChoice,
    Delta,
    ToolCallDelta,
    Usage,
    PromptTokensDetails,
    CompletionTokensDetails,
    Model,
    EmbeddingRequest,
    EmbeddingResponse,
    ErrorResponse,
    Error,
);
