//! The Responses API as OpenAI prints it. Derives do most of it (`build/vendor.rs`); here are its unions.

mod flat;
mod unions;

#[cfg(test)]
mod tests;

use super::{
    ActionCallItem, AdditionalToolsItem, ApplyPatchCallItem, CallOutputItem, CodeInterpreterCallItem,
    CreateResponseRequest, CustomToolCallItem, FilePart, FunctionCallItem, ImageGenerationCallItem,
    ImagePart, MessageItem, OutputTextPart, Reasoning, ReasoningItem, ResponseCustomTool,
    ResponseFunctionTool, ResponseNamespaceTool, ShellCallOutputItem, TextFormat, TextOptions, TextPart,
    WebSearchCallItem,
};
use crate::proto::vendor::keep_extra;

keep_extra!(
    CreateResponseRequest,
    MessageItem,
    TextPart,
    ImagePart,
    FilePart,
    OutputTextPart,
    ReasoningItem,
    FunctionCallItem,
    CustomToolCallItem,
    CallOutputItem,
    WebSearchCallItem,
    CodeInterpreterCallItem,
    ImageGenerationCallItem,
    ActionCallItem,
    ShellCallOutputItem,
    ApplyPatchCallItem,
    AdditionalToolsItem,
    ResponseFunctionTool,
    ResponseCustomTool,
    ResponseNamespaceTool,
    Reasoning,
    TextOptions,
    TextFormat,
);
