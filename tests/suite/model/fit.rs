//! Requests fitted to a model, as they reach its server.

use agena::domain::model::Backend;
use agena::proto::gemini::GenerateContentRequest;
use agena::proto::vendor;
use serde_json::{Value, json};

use super::{api, heard};
use crate::kit::upstream::{Reply, Upstream, says};

fn asked(request: &Value) -> GenerateContentRequest {
    vendor::decode(request.to_string().as_bytes()).unwrap()
}

fn with_tool() -> Value {
    json!({
        "model": "gemini-3-pro-preview",
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
        "tools": [{"functionDeclarations": [{
            "name": "f",
            "parametersJsonSchema": {"type": "object", "properties": {"a": {"const": "x"}}, "not": {}},
        }]}],
    })
}

#[tokio::test]
async fn a_schema_that_is_refused_is_reduced_once_and_for_all() {
    let refused = json!({"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "Unknown name \"not\" at 'tools[0].function_declarations[0].parameters_json_schema'"}});
    let upstream = Upstream::start([Reply::json(400, &refused), says("a")]).await;
    let api = api(&upstream.url());
    for _ in 0..2 {
        let (_, error) = heard(&api, asked(&with_tool())).await;
        assert_eq!(error, None);
    }
    let sent: Vec<Value> = upstream
        .asked()
        .iter()
        .map(|asked| asked.json()["tools"][0]["functionDeclarations"][0].clone())
        .collect();
    let full = json!({"name": "f", "parametersJsonSchema": {"type": "object", "properties": {"a": {"enum": ["x"]}}, "not": {}}});
    let reduced = json!({"name": "f", "parameters": {"type": "OBJECT", "description": "(not: {})", "properties": {"a": {"type": "STRING", "enum": ["x"]}}}});
    assert_eq!(sent, [full, reduced.clone(), reduced]);
}

#[tokio::test]
async fn what_is_refused_again_is_not_learned() {
    let refused = json!({"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "Invalid function_declarations"}});
    let upstream = Upstream::start([Reply::json(400, &refused), Reply::json(400, &refused), says("a")]).await;
    let api = api(&upstream.url());
    assert!(api.generate(&asked(&with_tool())).await.is_err());
    assert_eq!(heard(&api, asked(&with_tool())).await.1, None);
    let last = upstream.asked().pop().unwrap().json();
    assert!(last["tools"][0]["functionDeclarations"][0]["parametersJsonSchema"].is_object(), "{last}");
}
