//! Servers of OpenAI's dialect: conversions by golden files, and the real client against a fake on the wire.

mod conversations;
mod golden;
mod life;
mod wire;

use agena::domain::secret::Secret;
use agena::model::http::{Http, Proxy};
use agena::model::openai::{Endpoint, OpenAi, Who};
use serde_json::{Value, json};

use super::deadlines;
use crate::kit::upstream::Reply;

/// A header that is nobody's business.
const TEAM: &str = "the-header-of-the-team";

fn backend(url: &str, key: Option<&str>) -> OpenAi {
    let endpoint = Endpoint {
        base_url: format!("{url}/v1/"),
        key: key.map(Secret::new),
        // The one that is a word stays in what is told.
        headers: [("x-team", TEAM), ("x-tier", "no")]
            .map(|(name, value)| (name.to_owned(), Secret::new(value)))
            .into(),
        who: Who { name: "the fake".to_owned(), credentials: "the key from OPENAI_API_KEY".to_owned() },
    };
    OpenAi::new(endpoint, Http::new(deadlines(), &Proxy::None).unwrap())
}

fn delta(delta: Value, finish: Option<&str>) -> Value {
    json!({"id": "c", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
}

fn says(text: &str) -> Reply {
    Reply::stream(&[delta(json!({"content": text}), Some("stop"))]).send("data: [DONE]\n\n")
}
