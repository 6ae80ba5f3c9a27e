//! How sure the model was of each token, in OpenAI's words. The hub carries it as an unknown member of a candidate.

use serde_json::{Value, json};

use crate::proto::vendor;

/// JSON text; nothing where nothing is told.
pub fn of(candidate: &str) -> String {
    if !candidate.contains("logprobsResult") {
        return String::new();
    }
    let candidate: Value = vendor::kept(candidate).unwrap_or_default();
    let Some(chosen) = candidate.pointer("/logprobsResult/chosenCandidates").and_then(Value::as_array) else {
        return String::new();
    };
    let top = candidate.pointer("/logprobsResult/topCandidates").and_then(Value::as_array);
    let others = |at: usize| top.and_then(|top| top.get(at)).and_then(|top| top.get("candidates"));
    let content: Vec<Value> = chosen
        .iter()
        .enumerate()
        .map(|(at, chosen)| {
            let others = others(at).and_then(Value::as_array).into_iter().flatten();
            let mut token = token(chosen);
            token["top_logprobs"] = others.map(self::token).collect();
            token
        })
        .collect();
    json!({"content": content, "refusal": null}).to_string()
}

fn token(candidate: &Value) -> Value {
    let text = candidate.get("token").and_then(Value::as_str).unwrap_or_default();
    json!({"token": text, "bytes": text.as_bytes(), "logprob": candidate.get("logProbability")})
}
