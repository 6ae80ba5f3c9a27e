//! How sure the model was of each token, in the hub's words.

use serde_json::{Value, json};

/// An unknown member for a candidate (JSON text): the hub carries it on without looking.
pub fn result(logprobs: &str) -> String {
    if logprobs.is_empty() {
        return String::new();
    }
    let logprobs: Value = serde_json::from_str(logprobs).unwrap_or_default();
    let Some(tokens) = logprobs.get("content").and_then(Value::as_array).filter(|tokens| !tokens.is_empty())
    else {
        return String::new();
    };
    let chosen: Vec<Value> = tokens.iter().map(token).collect();
    let top = |token_: &Value| {
        let others = token_.get("top_logprobs").and_then(Value::as_array);
        json!({"candidates": others.into_iter().flatten().map(token).collect::<Vec<_>>()})
    };
    let top: Vec<Value> = tokens.iter().map(top).collect();
    json!({"logprobsResult": {"topCandidates": top, "chosenCandidates": chosen}}).to_string()
}

fn token(token: &Value) -> Value {
    json!({"token": token.get("token"), "logProbability": token.get("logprob")})
}
