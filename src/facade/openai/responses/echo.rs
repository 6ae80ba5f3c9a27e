//! An answer before anything was said: what was asked, as clients want to see it again.

use crate::facade::Asked;
use crate::proto::openai::response_tool_choice::Choice;
use crate::proto::openai::{CreateResponseRequest, Response, ResponseToolChoice, TextFormat, TextOptions};

pub(super) fn opening(request: &CreateResponseRequest, asked: &Asked<'_>) -> Response {
    let text = request.text.clone().unwrap_or_default();
    let plain = || TextFormat { r#type: "text".to_owned(), ..TextFormat::default() };
    let auto = || ResponseToolChoice { choice: Some(Choice::Mode("auto".to_owned())), ..Default::default() };
    let or = |text: &str, other: &str| if text.is_empty() { other.to_owned() } else { text.to_owned() };
    Response {
        id: format!("resp_{}", asked.id),
        object: "response".to_owned(),
        created_at: asked.now,
        status: "in_progress".to_owned(),
        background: Some(request.background == Some(true)),
        instructions: request.instructions.clone(),
        max_output_tokens: request.max_output_tokens,
        max_tool_calls: request.max_tool_calls,
        model: request.model.clone(),
        parallel_tool_calls: request.parallel_tool_calls != Some(false),
        previous_response_id: request.previous_response_id.clone().filter(|id| !id.is_empty()),
        prompt_cache_key: request.prompt_cache_key.clone(),
        reasoning: Some(request.reasoning.clone().unwrap_or_default()),
        safety_identifier: request.safety_identifier.clone(),
        service_tier: or(&request.service_tier, "default"),
        store: request.store != Some(false),
        temperature: request.temperature,
        text: Some(TextOptions { format: Some(text.format.clone().unwrap_or_else(plain)), ..text }),
        tool_choice: Some(request.tool_choice.clone().unwrap_or_else(auto)),
        tools: request.tools.clone(),
        top_logprobs: request.top_logprobs,
        top_p: request.top_p,
        truncation: or(request.truncation.as_deref().unwrap_or_default(), "disabled"),
        user: request.user.clone(),
        metadata: request.metadata.clone(),
        ..Response::default()
    }
}
