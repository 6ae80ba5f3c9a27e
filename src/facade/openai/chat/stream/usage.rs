//! What an answer took, in OpenAI's words.

use serde_json::Value;

use crate::proto::gemini::UsageMetadata;
use crate::proto::openai::{CompletionTokensDetails, PromptTokensDetails, Usage};
use crate::proto::vendor;

pub fn usage(taken: &UsageMetadata) -> Usage {
    let details: Value = vendor::kept(&taken.extra).unwrap_or_default();
    let prompt = i64::from(taken.prompt_token_count) + i64::from(taken.tool_use_prompt_token_count);
    let completion = i64::from(taken.candidates_token_count) + i64::from(taken.thoughts_token_count);
    Usage {
        prompt_tokens: prompt,
        completion_tokens: completion,
        total_tokens: i64::from(taken.total_token_count).max(prompt + completion),
        prompt_tokens_details: Some(PromptTokensDetails {
            cached_tokens: Some(taken.cached_content_token_count.into()),
            audio_tokens: Some(of(&details["promptTokensDetails"], "AUDIO").unwrap_or_default()),
            image_tokens: of(&details["promptTokensDetails"], "IMAGE"),
            ..PromptTokensDetails::default()
        }),
        completion_tokens_details: Some(CompletionTokensDetails {
            reasoning_tokens: Some(taken.thoughts_token_count.into()),
            audio_tokens: Some(of(&details["candidatesTokensDetails"], "AUDIO").unwrap_or_default()),
            accepted_prediction_tokens: Some(0),
            rejected_prediction_tokens: Some(0),
            ..CompletionTokensDetails::default()
        }),
        ..Usage::default()
    }
}

/// `[{"modality": "AUDIO", "tokenCount": 5}]`.
fn of(details: &Value, modality: &str) -> Option<i64> {
    let found = details.as_array()?.iter().find(|each| each["modality"] == modality)?;
    found["tokenCount"].as_i64()
}

/// What the model says that it was served with.
pub fn tier(taken: &UsageMetadata) -> Option<&'static str> {
    let details: Value = vendor::kept(&taken.extra)?;
    match details["serviceTier"].as_str()?.to_ascii_lowercase().as_str() {
        "flex" => Some("flex"),
        "priority" => Some("priority"),
        "standard" => Some("default"),
        _ => None,
    }
}
