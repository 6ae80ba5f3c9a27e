//! What is sent, and what is made of whatever comes back.

use std::time::Duration;

use agena::domain::model::{Backend, ModelCause};
use agena::proto::gemini::{
    BatchEmbedContentsRequest, CountTokensRequest, GenerateContentRequest, GenerateContentResponse,
};
use agena::proto::vendor;
use futures::StreamExt;
use serde_json::{Value, json};

use super::{TEAM, backend, delta, says};
use crate::kit::soon;
use crate::kit::upstream::{Reply, Step, Upstream};
use crate::model::{KEY, heard, printed};

fn hub(request: &Value) -> GenerateContentRequest {
    vendor::decode(request.to_string().as_bytes()).unwrap()
}

fn hi() -> GenerateContentRequest {
    hub(&json!({"model": "m", "contents": [{"role": "user", "parts": [{"text": "hi"}]}]}))
}

/// Two calls, each in three pieces, and what they took.
fn two_calls() -> Reply {
    let piece = |call: Value| delta(json!({"tool_calls": [call]}), None);
    let call = |index: u32, id: &str, city: &str| {
        let whole = json!({"city": city}).to_string();
        let (head, tail) = whole.split_at(6);
        let named = json!({"name": "weather", "arguments": ""});
        [
            piece(json!({"index": index, "id": id, "type": "function", "function": named})),
            piece(json!({"index": index, "function": {"arguments": head}})),
            piece(json!({"index": index, "function": {"arguments": tail}})),
        ]
    };
    let mut events = vec![delta(json!({"role": "assistant", "content": "I look."}), None)];
    events.extend(call(0, "call_a", "Paris"));
    events.extend(call(1, "call_b", "Rome"));
    events.push(delta(json!({}), Some("tool_calls")));
    let details = json!({"reasoning_tokens": 2});
    let usage = json!({"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14, "completion_tokens_details": details});
    events.push(json!({"choices": [], "usage": usage}));
    Reply::stream(&events).send("data: [DONE]\r\n\r\n")
}

fn called(id: &str, city: &str) -> Value {
    json!({"functionCall": {"id": id, "name": "weather", "args": {"city": city}}})
}

fn candidate(parts: Value, finish: Option<&str>) -> Value {
    let mut candidate = json!({"content": {"role": "model", "parts": parts}});
    if let Some(finish) = finish {
        candidate["finishReason"] = finish.into();
    }
    json!({"candidates": [candidate], "modelVersion": "m", "responseId": "c"})
}

#[tokio::test]
async fn two_calls_at_once_are_told_one_by_one() {
    let upstream = Upstream::start([two_calls()]).await;
    let schema = json!({"type": "OBJECT", "properties": {"city": {"type": "STRING"}}});
    let request = json!({
        "model": "m",
        "contents": [{"role": "user", "parts": [{"text": "weather?"}]}],
        "tools": [{"functionDeclarations": [{"name": "weather", "parameters": schema}]}],
        "generationConfig": {"maxOutputTokens": 50},
    });
    let (told, error) = heard(&backend(&upstream.url(), Some(KEY)), hub(&request)).await;
    assert_eq!(error, None);
    assert_eq!(
        told,
        [
            candidate(json!([{"text": "I look."}]), None),
            candidate(json!([called("call_a", "Paris")]), None),
            candidate(json!([called("call_b", "Rome")]), Some("STOP")),
            json!({"usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 3, "thoughtsTokenCount": 2, "totalTokenCount": 14}}),
        ]
    );
    let asked = upstream.asked();
    let first = asked.first().unwrap();
    assert_eq!(
        (first.method.as_str(), first.path.as_str(), first.header("authorization")),
        ("POST", "/v1/chat/completions", format!("Bearer {KEY}").as_str())
    );
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    assert_eq!(
        first.json(),
        json!({
            "model": "m",
            "messages": [{"role": "user", "content": "weather?"}],
            "stream": true,
            "stream_options": {"include_usage": true},
            "max_tokens": 50,
            "tools": [{"type": "function", "function": {"name": "weather", "parameters": schema}}],
        })
    );
}

/// What was told goes back as it came, with the answers of the tools.
#[tokio::test]
async fn the_answers_of_tools_go_back_by_id() {
    let upstream = Upstream::start([two_calls(), says("Sunny.")]).await;
    let backend = backend(&upstream.url(), None);
    let (told, _) = heard(&backend, hi()).await;
    let parts = told.iter().filter_map(|chunk| chunk["candidates"][0]["content"]["parts"].as_array());
    let parts: Vec<Value> = parts.flatten().cloned().collect();
    let answer = |id: &str, said: &str| json!({"functionResponse": {"id": id, "name": "weather", "response": {"output": said}}});
    let contents = json!([
        {"role": "user", "parts": [{"text": "weather?"}]},
        {"role": "model", "parts": parts},
        {"role": "user", "parts": [answer("call_b", "sun"), answer("call_a", "rain")]},
    ]);
    let (told, error) = heard(&backend, hub(&json!({"model": "m", "contents": contents}))).await;
    assert_eq!(error, None);
    assert_eq!(told, [candidate(json!([{"text": "Sunny."}]), Some("STOP"))]);
    let call = |id: &str, city: &str| {
        let arguments = json!({"city": city}).to_string();
        json!({"id": id, "type": "function", "function": {"name": "weather", "arguments": arguments}})
    };
    let calls = [call("call_a", "Paris"), call("call_b", "Rome")];
    assert_eq!(
        upstream.asked().last().unwrap().json()["messages"],
        json!([
            {"role": "user", "content": "weather?"},
            {"role": "assistant", "content": "I look.", "tool_calls": calls},
            {"role": "tool", "content": "rain", "tool_call_id": "call_a"},
            {"role": "tool", "content": "sun", "tool_call_id": "call_b"},
        ])
    );
}

#[tokio::test]
async fn text_is_passed_on_as_it_comes_and_leaving_ends_the_answer() {
    let reply = Reply::stream(&[delta(json!({"content": "a"}), None)])
        .then(Step::Hold)
        .event(&delta(json!({"content": "b"}), None))
        .then(Step::Silence);
    let upstream = Upstream::start([reply]).await;
    let mut chunks = backend(&upstream.url(), None).stream(hi());
    let text = |chunk: &GenerateContentResponse| {
        printed(chunk)["candidates"][0]["content"]["parts"][0]["text"].clone()
    };
    assert_eq!(text(&soon(chunks.next()).await.unwrap().unwrap()), "a");
    upstream.release();
    assert_eq!(text(&soon(chunks.next()).await.unwrap().unwrap()), "b");
    drop(chunks);
    upstream.was_left(1).await;
    assert_eq!(upstream.asked()[0].header("authorization"), "", "no key, no header");
}

#[tokio::test]
async fn whole_answers() {
    let call = json!({"id": "1", "type": "function", "function": {"name": "f", "arguments": "{\"n\":1}"}});
    let message = json!({"role": "assistant", "content": "whole", "tool_calls": [call]});
    let choice = json!({"index": 0, "message": message, "finish_reason": "tool_calls"});
    let usage = json!({"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3});
    let upstream = Upstream::start([
        Reply::json(200, &json!({"id": "c", "model": "m", "choices": [choice], "usage": usage})),
        Reply::json(200, &json!({"error": {"message": "Loading model", "code": 503}})),
    ])
    .await;
    let backend = backend(&upstream.url(), Some(KEY));
    let call = json!({"functionCall": {"id": "1", "name": "f", "args": {"n": 1}}});
    let mut expected = candidate(json!([{"text": "whole"}, call]), Some("STOP"));
    expected["usageMetadata"] =
        json!({"promptTokenCount": 1, "candidatesTokenCount": 2, "totalTokenCount": 3});
    assert_eq!(printed(&soon(backend.generate(&hi())).await.unwrap()), expected);
    let sent = upstream.asked().first().unwrap().json();
    assert_eq!(sent, json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]}));
    let loading = soon(backend.generate(&hi())).await.unwrap_err();
    assert_eq!(loading.cause, ModelCause::Unavailable, "an error that calls itself a success");
    let counting = soon(backend.count_tokens(CountTokensRequest::default())).await.unwrap_err();
    assert_eq!(counting.cause, ModelCause::Unsupported);
}

fn embed(texts: &[&str]) -> BatchEmbedContentsRequest {
    let one = |text: &&str| json!({"content": {"parts": [{"text": text}]}, "outputDimensionality": 2, "taskType": "RETRIEVAL_QUERY"});
    let all: Vec<Value> = texts.iter().map(one).collect();
    vendor::decode(json!({"model": "e", "requests": all}).to_string().as_bytes()).unwrap()
}

#[tokio::test]
async fn embeddings() {
    let listed = json!([{"index": 1, "embedding": "AAAAPwAAgL8="}, {"index": 0, "embedding": [1, 2.5]}]);
    let upstream = Upstream::start([Reply::json(200, &json!({"data": listed, "model": "e"}))]).await;
    let backend = backend(&upstream.url(), Some(KEY));
    let embedded = soon(backend.embed(embed(&["x", "y"]))).await.unwrap().embeddings;
    let values: Vec<Vec<f32>> = embedded.into_iter().map(|one| one.values).collect();
    assert_eq!(values, [vec![1.0, 2.5], vec![0.5, -1.0]]);
    let few = soon(backend.embed(embed(&["x"]))).await.unwrap_err();
    assert_eq!(
        (few.cause, few.message.contains("2 vectors for 1 texts")),
        (ModelCause::Broken, true),
        "{few}"
    );
    let asked = upstream.asked();
    assert_eq!((asked[0].method.as_str(), asked[0].path.as_str()), ("POST", "/v1/embeddings"));
    assert_eq!(
        asked[0].json(),
        json!({"model": "e", "input": ["x", "y"], "encoding_format": "float", "dimensions": 2})
    );
}

#[tokio::test]
async fn names_of_models() {
    let listed = json!([{"id": "a", "object": "model", "max_model_len": 4096}, {"id": "b:8b", "meta": {"n_ctx_train": 8192}}, {"id": "c"}]);
    let upstream = Upstream::start([
        Reply::json(200, &json!({"object": "list", "data": listed})),
        Reply::json(200, &json!({"object": "list", "data": null})),
    ])
    .await;
    let backend = backend(&upstream.url(), Some(KEY));
    let models = soon(backend.models()).await.unwrap();
    let models: Vec<_> = models.iter().map(|model| (model.name.as_str(), model.input_token_limit)).collect();
    assert_eq!(models, [("a", 4096), ("b:8b", 8192), ("c", 0)]);
    assert!(soon(backend.models()).await.unwrap().is_empty());
    let asked = upstream.asked();
    assert_eq!((asked[0].method.as_str(), asked[0].path.as_str()), ("GET", "/v1/models"));
    let sent = (asked[0].header("authorization"), asked[0].header("x-team"));
    assert_eq!(sent, (format!("Bearer {KEY}").as_str(), TEAM));
}

/// An answer, how many chunks come of it, and what is said then.
type Fault = (Reply, usize, ModelCause, &'static str);

fn refusals() -> Vec<Fault> {
    let say = |status: u16, message: &str, code: &str| {
        Reply::json(status, &json!({"error": {"message": message, "type": "t", "param": null, "code": code}}))
    };
    let slow = json!({"error": "slow down"}).to_string();
    vec![
        (
            say(400, &format!("bad {KEY}"), ""),
            0,
            ModelCause::Invalid,
            "refused the request (400): bad [redacted]",
        ),
        (
            say(400, "long", "context_length_exceeded"),
            0,
            ModelCause::TooLong,
            "too long for the fake (400): long",
        ),
        (
            say(401, KEY, "invalid_api_key"),
            0,
            ModelCause::Denied,
            "the fake refused the key from OPENAI_API_KEY (401)",
        ),
        (
            say(403, KEY, ""),
            0,
            ModelCause::Forbidden,
            "refused the key from OPENAI_API_KEY (403): it is wrong, or may not do this: [redacted]",
        ),
        (
            say(404, "no m", "model_not_found"),
            0,
            ModelCause::NotFound,
            "no such model or address (404): no m",
        ),
        (say(400, "m does not support tools", ""), 0, ModelCause::Unsupported, "cannot do that"),
        (
            Reply::text(429, "application/json", &slow, "retry-after-ms: 1500\r\n"),
            0,
            ModelCause::Limited,
            "slow down",
        ),
        (say(429, "pay", "insufficient_quota"), 0, ModelCause::Exhausted, "is used up (429): pay"),
        (say(503, "busy", ""), 0, ModelCause::Unavailable, "not available (503): busy"),
        (Reply::text(502, "text/html", "<h1>no</h1>", ""), 0, ModelCause::Unavailable, "a web page"),
        (
            Reply::text(302, "text/html", "", "location: http://127.0.0.1:1/\r\n"),
            0,
            ModelCause::NotFound,
            "(302)",
        ),
    ]
}

fn breaks() -> Vec<Fault> {
    let begun = || Reply::stream(&[delta(json!({"content": "a"}), None)]);
    vec![
        (Reply::reset(), 0, ModelCause::Unavailable, "broke the connection off"),
        (Reply::silence(), 0, ModelCause::Unavailable, "said nothing for 0.3 s"),
        (begun().then(Step::Silence), 1, ModelCause::Unavailable, "said nothing for 0.3 s"),
        (begun(), 1, ModelCause::Broken, "was cut off"),
        (begun().send("data: nonsense\n\n"), 1, ModelCause::Broken, "cannot be read"),
        (
            begun().event(&json!({"error": {"message": format!("{KEY} {TEAM}"), "type": "server_error"}})),
            1,
            ModelCause::Unavailable,
            "[redacted]",
        ),
        (Reply::text(200, "text/html", "<p>welcome</p>", ""), 0, ModelCause::Broken, "a web page"),
        (Reply::text(200, "text/event-stream", "", ""), 0, ModelCause::Broken, "was cut off"),
    ]
}

#[tokio::test]
async fn each_fault_has_one_verdict() {
    for (reply, chunks, cause, words) in refusals().into_iter().chain(breaks()) {
        let upstream = Upstream::start([reply.clone()]).await;
        let (told, error) = heard(&backend(&upstream.url(), Some(KEY)), hi()).await;
        let error = error.unwrap_or_else(|| panic!("{reply:?}"));
        assert_eq!((told.len(), error.cause), (chunks, cause), "{reply:?}: {error}");
        assert!(error.message.contains(words) && !error.message.contains(KEY), "{error}");
        assert!(!error.message.contains(TEAM), "{error}");
        let after = (cause == ModelCause::Limited).then_some(Duration::from_millis(1500));
        assert_eq!(error.retry_after, after);
        assert_eq!(upstream.asked().len(), 1, "one attempt");
    }
    let (_, nobody) = heard(&backend("http://127.0.0.1:1", None), hi()).await;
    assert_eq!(nobody.unwrap().cause, ModelCause::Unavailable);
}

#[tokio::test]
async fn the_limit_has_the_name_that_is_asked_for() {
    let refused = json!({"error": {"message": "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", "type": "invalid_request_error", "param": "max_tokens", "code": "unsupported_parameter"}});
    let upstream = Upstream::start([Reply::json(400, &refused), says("fine")]).await;
    let backend = backend(&upstream.url(), None);
    let limited = json!({"model": "m", "contents": [], "generationConfig": {"maxOutputTokens": 5}});
    assert_eq!(heard(&backend, hub(&limited)).await.1, None);
    let limits: Vec<(Value, Value)> = upstream
        .asked()
        .iter()
        .map(|asked| (asked.json()["max_tokens"].clone(), asked.json()["max_completion_tokens"].clone()))
        .collect();
    assert_eq!(limits, [(json!(5), Value::Null), (Value::Null, json!(5))]);
}
