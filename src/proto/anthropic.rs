//! The Messages API as Anthropic prints it. Derives do most of it (`build/vendor.rs`); here is what they cannot:
//! text-or-list, and what has a `type` with its members beside it. Knows nothing of the hub; the facade of this dialect
//! stands on it.

mod tagged;
#[cfg(test)]
mod tests;
mod unions;

pub use super::generated::agena::anthropic::v1::*;
use super::vendor::keep_extra;

keep_extra!(
    CreateMessageRequest,
    CountTokensRequest,
    InputMessage,
    TextBlock,
    ImageBlock,
    DocumentBlock,
    Source,
    SearchResultBlock,
    ThinkingBlock,
    RedactedThinkingBlock,
    ToolUseBlock,
    ToolResultBlock,
    ServerToolResultBlock,
    Tool,
    ToolChoice,
    Thinking,
    OutputConfig,
    OutputFormat,
    Metadata,
);
