//! What it took, as this API counts: the prompt without what came from a cache, the answer with its thoughts.

use crate::proto::anthropic::{OutputTokensDetails, ServerToolUsage, Usage};
use crate::proto::gemini::UsageMetadata;

pub(super) fn usage(counted: &UsageMetadata, searches: usize, fetches: usize) -> Usage {
    let prompt = i64::from(counted.prompt_token_count) + i64::from(counted.tool_use_prompt_token_count);
    let cached = i64::from(counted.cached_content_token_count);
    let thoughts = i64::from(counted.thoughts_token_count);
    let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
    let used = ServerToolUsage { web_search_requests: count(searches), web_fetch_requests: count(fetches) };
    Usage {
        input_tokens: (prompt - cached).max(0),
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: cached,
        output_tokens: i64::from(counted.candidates_token_count) + thoughts,
        output_tokens_details: (thoughts > 0).then_some(OutputTokensDetails { thinking_tokens: thoughts }),
        server_tool_use: (searches + fetches > 0).then_some(used),
        service_tier: "standard".to_owned(),
    }
}
