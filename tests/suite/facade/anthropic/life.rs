//! The real server with a Gemini on the wire: what reaches the model, and what the client hears.

use agena::proto::anthropic::message_stream_event::Event;
use agena::proto::anthropic::messages_service_client::MessagesServiceClient;
use agena::proto::anthropic::models_service_client::ModelsServiceClient;
use agena::proto::anthropic::{CountTokensRequest, CreateMessageRequest, ListModelsRequest};
use agena::proto::vendor;
use serde_json::{Value, json};

use crate::kit::process::Running;
use crate::kit::upstream::{Reply, Step, Upstream, chunk, says};
use crate::kit::{http, soon};

pub(super) const OLD: &str = "2023-06-01";

/// The real binary before this model.
pub(super) fn serve(upstream: &Upstream, options: &[&str]) -> Running {
    let url = upstream.url();
    let environment =
        [("GEMINI_API_KEY", "the-key"), ("GOOGLE_GEMINI_BASE_URL", &url), ("DEFAULT_MODEL", "gemini-x")];
    Running::start_with(tempfile::tempdir().unwrap(), options, &environment)
}

pub(super) async fn post(server: &Running, path: &str, body: &Value) -> reqwest::Response {
    let post = http().post(format!("{}{path}", server.url)).header("anthropic-version", OLD).json(body);
    soon(post.send()).await.unwrap()
}

/// Names and data of all events.
pub(super) async fn events(response: reqwest::Response) -> Vec<(String, Value)> {
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let text = soon(response.text()).await.unwrap();
    let frame = |frame: &str| {
        let (name, data) = frame.split_once('\n').unwrap();
        let data = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
        (name.strip_prefix("event: ").unwrap().to_owned(), data)
    };
    text.split_terminator("\n\n").map(frame).collect()
}

fn hi() -> Value {
    json!({"model": "gemini-x", "max_tokens": 100, "messages": [{"role": "user", "content": "hi"}]})
}

fn usage(mut chunk: Value) -> Value {
    chunk["usageMetadata"] = json!({"promptTokenCount": 30, "cachedContentTokenCount": 10, "candidatesTokenCount": 4, "thoughtsTokenCount": 2});
    chunk
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_answered_whole() {
    let upstream =
        Upstream::start([Reply::json(200, &usage(chunk(json!([{"text": "hello"}]), "STOP")))]).await;
    let server = serve(&upstream, &["--auth", "none"]);
    let response = post(&server, "/v1/messages?beta=true", &hi()).await;
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["request-id"], response.headers()["x-request-id"]);
    let body: Value = soon(response.json()).await.unwrap();
    assert!(body["id"].as_str().unwrap().starts_with("msg_"), "{body}");
    assert_eq!(
        (&body["type"], &body["role"], &body["model"]),
        (&json!("message"), &json!("assistant"), &json!("gemini-x"))
    );
    assert_eq!(body["content"], json!([{"type": "text", "text": "hello"}]));
    assert_eq!((&body["stop_reason"], &body["stop_sequence"]), (&json!("end_turn"), &Value::Null));
    let usage = &body["usage"];
    assert_eq!((&usage["input_tokens"], &usage["cache_read_input_tokens"]), (&json!(20), &json!(10)));
    assert_eq!(
        (&usage["output_tokens"], &usage["output_tokens_details"]),
        (&json!(6), &json!({"thinking_tokens": 2}))
    );
    let asked = upstream.asked();
    assert_eq!(asked[0].path, "/v1beta/models/gemini-x:generateContent");
    assert_eq!(asked[0].json()["contents"], json!([{"role": "user", "parts": [{"text": "hi"}]}]));
    // The model cannot do without thinking, and its thoughts count too.
    assert_eq!(asked[0].json()["generationConfig"]["maxOutputTokens"], 100 + 1024);
}

/// The life of a tool call as an agent has it: streamed, answered, and the signature back where it was.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_streams_and_its_signature_comes_back() {
    let call =
        json!({"functionCall": {"name": "read", "args": {"path": "a.txt"}}, "thoughtSignature": "c2lnLTE="});
    let upstream = Upstream::start([
        Reply::stream(&[
            chunk(json!([{"text": "I must read it.", "thought": true}]), ""),
            chunk(json!([call, {"functionCall": {"name": "read", "args": {"path": "b.txt"}}}]), ""),
            usage(chunk(json!([{"text": ""}]), "STOP")),
        ]),
        says("It says A."),
    ])
    .await;
    let server = serve(&upstream, &["--auth", "none"]);
    let mut request = hi();
    request["stream"] = true.into();
    request["thinking"] = json!({"type": "adaptive"});
    request["tools"] = json!([{"name": "read", "input_schema": {"type": "object"}}]);
    let heard = events(post(&server, "/v1/messages", &request).await).await;
    let names: Vec<&str> = heard.iter().map(|(name, _)| name.as_str()).collect();
    let block = ["content_block_start", "content_block_delta", "content_block_stop"];
    let thinking =
        ["content_block_start", "content_block_delta", "content_block_delta", "content_block_stop"];
    let expected =
        [&["message_start", "ping"][..], &thinking, &block, &block, &["message_delta", "message_stop"]];
    assert_eq!(names, expected.concat());
    assert!(heard.iter().all(|(name, data)| data["type"] == name.as_str()));
    assert_eq!(heard[names.len() - 2].1["delta"]["stop_reason"], "tool_use");
    assert_eq!(heard[names.len() - 2].1["usage"]["input_tokens"], 20);
    let calls: Vec<&Value> = heard
        .iter()
        .map(|(_, data)| &data["content_block"])
        .filter(|block| block["type"] == "tool_use")
        .collect();
    assert_ne!(calls[0]["id"], calls[1]["id"]);
    assert!(
        calls
            .iter()
            .all(|call| call["id"].as_str().unwrap().starts_with("toolu_") && call["input"] == json!({}))
    );

    let thought = json!({"type": "thinking", "thinking": "I must read it.", "signature": heard[4].1["delta"]["signature"]});
    let made = |at: usize, path: &str| json!({"type": "tool_use", "id": calls[at]["id"], "name": "read", "input": {"path": path}});
    let result = |at: usize, text: &str| json!({"type": "tool_result", "tool_use_id": calls[at]["id"], "content": text});
    request["messages"] = json!([
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [thought, made(0, "a.txt"), made(1, "b.txt")]},
        {"role": "user", "content": [result(1, "B"), result(0, "A"), {"type": "text", "text": "well?"}]},
    ]);
    let heard = events(post(&server, "/v1/messages", &request).await).await;
    assert!(heard.iter().any(|(_, data)| data["delta"]["text"] == "It says A."));
    let contents = upstream.asked()[1].json()["contents"].clone();
    assert_eq!(contents[1]["parts"][0]["thoughtSignature"], "c2lnLTE=");
    assert_eq!(contents[1]["parts"][0]["functionCall"]["args"], json!({"path": "a.txt"}));
    assert_eq!(contents[1]["parts"][1]["functionCall"]["args"], json!({"path": "b.txt"}));
    let answer = |at: usize| contents[2]["parts"][at]["functionResponse"]["response"].clone();
    assert_eq!((answer(0), answer(1)), (json!({"output": "A"}), json!({"output": "B"})));
    assert_eq!(contents[3]["parts"], json!([{"text": "well?"}]));
}

/// Bug 33: nothing but this makes the search of Claude Code find anything.
#[tokio::test(flavor = "multi_thread")]
async fn claude_code_searches_the_web() {
    let grounding = json!({"webSearchQueries": ["rust"], "groundingChunks": [{"web": {"uri": "https://rust.example", "title": "Rust"}}], "groundingSupports": [{"segment": {"text": "Found."}, "groundingChunkIndices": [0]}]});
    let mut last = chunk(json!([{"text": "Found."}]), "STOP");
    last["candidates"][0]["groundingMetadata"] = grounding;
    let upstream = Upstream::start([Reply::stream(&[last])]).await;
    let server = serve(&upstream, &["--auth", "none"]);
    let mut request = hi();
    request["stream"] = true.into();
    request["tools"] = json!([{"type": "web_search_20250305", "name": "web_search", "max_uses": 8}]);
    let response = post(&server, "/v1/messages?beta=true", &request).await;
    let told = response.headers()["x-agena-conversion"].to_str().unwrap().to_owned();
    assert!(told.contains(r#"dropped;field="tools[0].max_uses""#), "{told}");
    let heard = events(response).await;
    let blocks: Vec<&Value> =
        heard.iter().map(|(_, data)| &data["content_block"]).filter(|b| b.is_object()).collect();
    let kinds: Vec<&str> = blocks.iter().map(|block| block["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["text", "server_tool_use", "web_search_tool_result"]);
    assert_eq!(blocks[2]["content"][0]["url"], "https://rust.example");
    assert_eq!(blocks[2]["tool_use_id"], blocks[1]["id"]);
    assert!(heard.iter().any(|(_, data)| data["delta"]["citation"]["cited_text"] == "Found."));
    assert_eq!(upstream.asked()[0].json()["tools"], json!([{"googleSearch": {}}]));
}

/// The request that is recorded among the conversions, with its query and its headers.
#[tokio::test(flavor = "multi_thread")]
async fn claude_code_asks_as_it_really_does() {
    let upstream = Upstream::start([says("It says hello.")]).await;
    let server = serve(&upstream, &["--auth", "none"]);
    let case = std::fs::read_to_string("tests/golden/anthropic/claude-code.in.json").unwrap();
    let case: Value = serde_json::from_str(&case).unwrap();
    let asking = http()
        .post(format!("{}/v1/messages?beta=true", server.url))
        .header("anthropic-version", OLD)
        .header("anthropic-beta", "claude-code-20250219,interleaved-thinking-2025-05-14,brand-new-2027-01-01")
        .header("anthropic-dangerous-direct-browser-access", "true")
        .header("x-app", "cli")
        .header("x-stainless-lang", "js")
        .header("user-agent", "claude-cli/2.1.15 (external, cli)")
        .json(&case["request"]);
    let heard = events(soon(asking.send()).await.unwrap()).await;
    assert_eq!(heard[0].1["message"]["model"], "claude-opus-4-8");
    assert!(heard.iter().any(|(_, data)| data["delta"]["text"] == "It says hello."));
    let body = upstream.asked()[0].json();
    let system = body["systemInstruction"]["parts"].as_array().unwrap();
    assert!(system.len() == 2 && !body.to_string().contains("billing"), "{system:?}");
    assert_eq!(body["contents"][1]["parts"][1]["thoughtSignature"], "c2lnLTE=");
    assert_eq!(body["contents"][2]["parts"][0]["functionResponse"]["name"], "Read");
    assert_eq!(body["tools"][0]["functionDeclarations"].as_array().unwrap().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_breaks_off_ends_with_an_error() {
    let upstream =
        Upstream::start([Reply::stream(&[chunk(json!([{"text": "I was"}]), "")]).then(Step::Reset)]).await;
    let server = serve(&upstream, &["--auth", "none"]);
    let mut request = hi();
    request["stream"] = true.into();
    let heard = events(post(&server, "/v1/messages", &request).await).await;
    let (name, data) = heard.last().unwrap();
    assert_eq!((name.as_str(), &data["type"]), ("error", &json!("error")));
    assert!(
        !data["error"]["type"].as_str().unwrap().is_empty()
            && !data["request_id"].as_str().unwrap().is_empty()
    );
    assert!(!heard.iter().any(|(name, _)| name == "message_stop"));
}

#[tokio::test(flavor = "multi_thread")]
async fn leaving_a_stream_ends_the_call_of_the_model() {
    let upstream =
        Upstream::start([Reply::stream(&[chunk(json!([{"text": "slowly"}]), "")]).then(Step::Silence)]).await;
    let server = serve(&upstream, &["--auth", "none"]);
    let mut request = hi();
    request["stream"] = true.into();
    let mut response = post(&server, "/v1/messages", &request).await;
    soon(response.chunk()).await.unwrap().unwrap();
    drop(response);
    upstream.was_left(1).await;
}

/// Bug 37: the whole request is counted by the model, not guessed.
#[tokio::test(flavor = "multi_thread")]
async fn tokens_are_counted_by_the_model() {
    let upstream = Upstream::start([Reply::json(200, &json!({"totalTokens": 77}))]).await;
    let server = serve(&upstream, &["--auth", "none"]);
    let mut request = hi();
    request.as_object_mut().unwrap().remove("max_tokens");
    request["system"] = "Be brief.".into();
    request["tools"] =
        json!([{"name": "f", "input_schema": {"type": "object", "properties": {"a": {"type": "string"}}}}]);
    let response = post(&server, "/v1/messages/count_tokens", &request).await;
    assert_eq!(soon(response.json::<Value>()).await.unwrap(), json!({"input_tokens": 77}));
    let asked = upstream.asked();
    assert_eq!(asked[0].path, "/v1beta/models/gemini-x:countTokens");
    let whole = &asked[0].json()["generateContentRequest"];
    assert_eq!(whole["systemInstruction"]["parts"], json!([{"text": "Be brief."}]));
    assert_eq!(whole["tools"][0]["functionDeclarations"][0]["name"], "f");
}

#[tokio::test(flavor = "multi_thread")]
async fn models_are_listed_with_what_they_can_hold() {
    let models = json!({"models": [
        {"name": "models/gemini-a", "displayName": "Gemini A", "inputTokenLimit": 1_048_576, "outputTokenLimit": 65536, "supportedGenerationMethods": ["generateContent"], "thinking": true},
        {"name": "models/gemini-b", "supportedGenerationMethods": ["generateContent"]},
        {"name": "models/embedding", "supportedGenerationMethods": ["embedContent"]},
    ]});
    let upstream = Upstream::start([Reply::json(200, &models)]).await;
    let server = serve(&upstream, &["--auth", "none"]);
    let get = |path: &str| {
        let request = http().get(format!("{}{path}", server.url)).header("anthropic-version", OLD);
        async move { soon(soon(request.send()).await.unwrap().json::<Value>()).await.unwrap() }
    };
    let listed = get("/v1/models?limit=1").await;
    assert_eq!((&listed["has_more"], &listed["last_id"]), (&json!(true), &json!("gemini-a")));
    let model = &listed["data"][0];
    assert_eq!((&model["type"], &model["display_name"]), (&json!("model"), &json!("Gemini A")));
    assert_eq!((&model["max_input_tokens"], &model["max_tokens"]), (&json!(1_048_576), &json!(65536)));
    assert_eq!(model["capabilities"]["thinking"]["supported"], true);
    let rest = get("/anthropic/v1/models?limit=1&after_id=gemini-a").await;
    assert_eq!((&rest["has_more"], &rest["data"][0]["id"]), (&json!(false), &json!("gemini-b")));
    assert_eq!(get("/v1/models/gemini-b").await["id"], "gemini-b");
    let unknown = get("/v1/models/gemini-c").await;
    assert_eq!((&unknown["type"], &unknown["error"]["type"]), (&json!("error"), &json!("not_found_error")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preview_asks_nobody() {
    let upstream = Upstream::start([says("no")]).await;
    let server = serve(&upstream, &["--auth", "none"]);
    let mut request = hi();
    request["cache_control"] = json!({"type": "ephemeral"});
    let body: Value = soon(post(&server, "/v1/messages:preview", &request).await.json()).await.unwrap();
    assert_eq!(body["request"]["contents"][0]["parts"], json!([{"text": "hi"}]));
    assert_eq!(
        (&body["changes"][0]["field"], &body["changes"][0]["how"]),
        (&json!("cache_control"), &json!("ignored"))
    );
    assert_eq!(upstream.asked().len(), 0);
}

fn typed(request: &Value) -> CreateMessageRequest {
    vendor::decode(request.to_string().as_bytes()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_over_grpc_without_a_version() {
    let upstream = Upstream::start([
        Reply::json(200, &chunk(json!([{"text": "hello"}]), "STOP")),
        says("hello"),
        Reply::json(200, &json!({"totalTokens": 5})),
        Reply::json(200, &json!({"models": [{"name": "models/gemini-a"}]})),
    ])
    .await;
    let server = serve(&upstream, &["--auth", "none"]);
    let mut client = soon(MessagesServiceClient::connect(server.url.clone())).await.unwrap();
    let mut request = hi();
    request["temperature"] = 0.5.into();
    let whole = soon(client.create_message(typed(&request))).await.unwrap().into_inner();
    assert_eq!((whole.stop_reason.as_deref(), whole.content.len()), (Some("end_turn"), 1));
    let mut stream = soon(client.stream_message(typed(&request))).await.unwrap().into_inner();
    let mut last = None;
    while let Some(event) = soon(stream.message()).await.unwrap() {
        last = event.event;
    }
    assert!(matches!(last, Some(Event::MessageStop(_))));
    let message = typed(&request).messages;
    let count = CountTokensRequest {
        model: "gemini-x".to_owned(),
        messages: message,
        ..CountTokensRequest::default()
    };
    assert_eq!(soon(client.count_tokens(count)).await.unwrap().into_inner().input_tokens, 5);
    assert_eq!(upstream.asked()[1].json()["generationConfig"]["temperature"], 0.5);
    let mut models = soon(ModelsServiceClient::connect(server.url.clone())).await.unwrap();
    let listed = soon(models.list_models(ListModelsRequest::default())).await.unwrap().into_inner();
    assert_eq!(listed.data[0].id, "gemini-a");
    let refused =
        soon(client.create_message(CreateMessageRequest { max_tokens: None, ..typed(&request) })).await;
    assert!(refused.unwrap_err().message().contains("max_tokens"));
}
