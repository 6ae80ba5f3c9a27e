//! OpenAI's API in front of Gemini's: chat completions whole, piece by piece and over gRPC, embeddings, models and errors.

use agena::proto::openai::chat_service_client::ChatServiceClient;
use agena::proto::openai::embeddings_service_client::EmbeddingsServiceClient;
use agena::proto::openai::models_service_client::ModelsServiceClient;
use agena::proto::openai::{ChatCompletionRequest, EmbeddingRequest, GetModelRequest};
use agena::proto::vendor;
use futures::StreamExt;
use reqwest::Response;
use serde_json::{Value, json};
use tonic::Code;

use crate::kit::process::Running;
use crate::kit::upstream::{Reply, Step, Upstream, chunk};
use crate::kit::{http, soon};

const CHAT: &str = "/v1/chat/completions";

fn before(upstream: &Upstream) -> Running {
    let url = upstream.url();
    let environment = [("GEMINI_API_KEY", "the-key-of-the-model"), ("GOOGLE_GEMINI_BASE_URL", url.as_str())];
    Running::start_with(tempfile::tempdir().unwrap(), &["--auth", "none"], &environment)
}

async fn post(server: &Running, path: &str, body: &Value) -> Response {
    let request = http().post(format!("{}{path}", server.url)).json(body);
    soon(request.header("authorization", "Bearer the-client's").send()).await.unwrap()
}

async fn get(server: &Running, path: &str) -> (u16, Value) {
    let answer = soon(http().get(format!("{}{path}", server.url)).send()).await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap())
}

/// What stands behind `data: `; comments are left out.
async fn events(answer: Response) -> Vec<String> {
    assert_eq!(
        (answer.status().as_u16(), &answer.headers()["content-type"]),
        (200, &"text/event-stream".parse().unwrap())
    );
    let body = soon(answer.text()).await.unwrap();
    let events = body.split_terminator("\n\n").filter(|event| !event.starts_with(':'));
    events.map(|event| event.strip_prefix("data: ").unwrap().to_owned()).collect()
}

fn says(text: &str) -> Value {
    json!({"model": "gemini-x", "messages": [{"role": "user", "content": text}]})
}

fn with(mut body: Value, more: Value) -> Value {
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

fn whole(parts: Value) -> Value {
    with(
        chunk(parts, "STOP"),
        json!({"usageMetadata": {"promptTokenCount": 7, "candidatesTokenCount": 2, "thoughtsTokenCount": 3, "cachedContentTokenCount": 4, "totalTokenCount": 12}}),
    )
}

fn typed<T: serde::de::DeserializeOwned>(body: &Value) -> T {
    vendor::decode(body.to_string().as_bytes()).unwrap()
}

/// Calls, their answers, a picture and an instruction.
fn conversation() -> Value {
    let call = |id: &str, city: &str| json!({"id": id, "type": "function", "function": {"name": "weather", "arguments": format!("{{\"city\":\"{city}\"}}")}});
    let mut first = call("call_1", "Köln");
    first["extra_content"] = json!({"google": {"thought_signature": "c2ln"}});
    json!({
        "model": "gemini-x",
        "user": "ann",
        "max_completion_tokens": 50,
        "tools": [{"type": "function", "function": {"name": "weather", "description": "Tells.", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}}],
        "messages": [
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": [
                {"type": "text", "text": "Where was this?"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
            ]},
            {"role": "assistant", "content": null, "tool_calls": [first, call("call_2", "Bonn")]},
            {"role": "tool", "tool_call_id": "call_2", "content": "rain"},
            {"role": "tool", "tool_call_id": "call_1", "content": "{\"sky\":\"clear\"}"},
        ],
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_with_calls_and_pictures_reaches_the_model_and_its_answer_the_client() {
    let answer = whole(
        json!([{"text": "hm", "thought": true}, {"text": "In Köln."}, {"functionCall": {"name": "weather", "args": {"city": "Köln"}}, "thoughtSignature": "bmV3"}]),
    );
    let upstream = Upstream::start([Reply::json(200, &answer)]).await;
    let server = before(&upstream);
    let told = post(&server, CHAT, &conversation()).await;
    assert_eq!(told.status(), 200);
    assert!(told.headers()["x-agena-conversion"].to_str().unwrap().contains(r#"ignored;field="user""#));
    let told: Value = told.json().await.unwrap();
    let message = &told["choices"][0]["message"];
    assert_eq!((&message["content"], &message["reasoning_content"]), (&json!("In Köln."), &json!("hm")));
    let call = &message["tool_calls"][0];
    assert_eq!(call["function"], json!({"name": "weather", "arguments": r#"{"city":"Köln"}"#}));
    assert_eq!(call["extra_content"]["google"]["thought_signature"], "bmV3");
    assert!(call["id"].as_str().unwrap().starts_with("call_") && call["id"].as_str().unwrap().len() <= 40);
    assert_eq!(told["choices"][0]["finish_reason"], "tool_calls");
    assert_eq!((&told["model"], &told["object"]), (&json!("gemini-x"), &json!("chat.completion")));
    assert_eq!(
        (&told["usage"]["prompt_tokens"], &told["usage"]["completion_tokens"]),
        (&json!(7), &json!(5))
    );
    assert_eq!(told["usage"]["prompt_tokens_details"]["cached_tokens"], 4);
    assert!(told.get("system_fingerprint").is_none());
    check_conversation(&upstream);
}

fn check_conversation(upstream: &Upstream) {
    let asked = upstream.asked();
    assert_eq!(asked[0].path, "/v1beta/models/gemini-x:generateContent");
    let body = asked[0].json();
    assert_eq!(body["systemInstruction"]["parts"], json!([{"text": "Be brief."}]));
    assert_eq!(body["generationConfig"]["maxOutputTokens"], 50);
    assert_eq!(body["tools"][0]["functionDeclarations"][0]["name"], "weather");
    let contents = body["contents"].as_array().unwrap();
    assert_eq!(contents.len(), 3);
    assert_eq!(
        contents[0]["parts"][1]["inlineData"],
        json!({"mimeType": "image/png", "data": "iVBORw0KGgo="})
    );
    assert_eq!(contents[1]["parts"][0]["thoughtSignature"], "c2ln");
    let answers = contents[2]["parts"].as_array().unwrap();
    let response = |at: usize| &answers[at]["functionResponse"]["response"];
    assert_eq!(
        (answers.len(), response(0), response(1)),
        (2, &json!({"sky": "clear"}), &json!({"output": "rain"}))
    );
}

fn streamed() -> Reply {
    Reply::stream(&[
        chunk(json!([{"text": "hm", "thought": true}]), ""),
        chunk(json!([{"text": "Gr"}]), ""),
        chunk(json!([{"text": "üße"}, {"functionCall": {"name": "f", "args": {"n": 1}}}]), ""),
        chunk(json!([{"functionCall": {"name": "f", "args": {"n": 2}}}]), ""),
        whole(json!([{"text": ""}])),
    ])
}

fn streaming() -> Value {
    let tools = json!([{"type": "function", "function": {"name": "f"}}]);
    with(says("go"), json!({"stream": true, "stream_options": {"include_usage": true}, "tools": tools}))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_comes_in_the_order_that_clients_expect() {
    let upstream = Upstream::start([streamed()]).await;
    let server = before(&upstream);
    for path in [CHAT, "/openai/v1/chat/completions"] {
        let mut events = events(post(&server, path, &streaming()).await).await;
        assert_eq!(events.pop().unwrap(), "[DONE]");
        let chunks: Vec<Value> = events.iter().map(|event| serde_json::from_str(event).unwrap()).collect();
        let delta = |at: usize| &chunks[at]["choices"][0]["delta"];
        assert_eq!(delta(0), &json!({"role": "assistant", "content": ""}));
        assert_eq!(delta(1), &json!({"reasoning_content": "hm"}));
        assert_eq!((delta(2), delta(3)), (&json!({"content": "Gr"}), &json!({"content": "üße"})));
        let calls: Vec<&Value> = (4..8).map(|at| &delta(at)["tool_calls"][0]).collect();
        assert_eq!(
            calls.iter().map(|call| call["index"].as_i64().unwrap()).collect::<Vec<_>>(),
            [0, 0, 1, 1]
        );
        assert_ne!(calls[0]["id"], calls[2]["id"]);
        assert_eq!(calls[3]["function"], json!({"arguments": r#"{"n":2}"#}));
        let last = &chunks[chunks.len() - 1];
        let end = &chunks[chunks.len() - 2];
        assert_eq!(
            (&end["choices"][0]["finish_reason"], &end["usage"]),
            (&json!("tool_calls"), &Value::Null)
        );
        assert_eq!((&last["choices"], &last["usage"]["total_tokens"]), (&json!([]), &json!(12)));
        assert!(
            chunks
                .iter()
                .all(|chunk| chunk["id"] == last["id"] && chunk["object"] == "chat.completion.chunk")
        );
    }
    assert_eq!(upstream.asked()[0].path, "/v1beta/models/gemini-x:streamGenerateContent?alt=sse");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_over_grpc() {
    let answer = whole(json!([{"text": "hello"}]));
    let upstream = Upstream::start([Reply::json(200, &answer), streamed()]).await;
    let server = before(&upstream);
    let mut client = ChatServiceClient::connect(server.url.clone()).await.unwrap();
    let told =
        soon(client.create_chat_completion(typed::<ChatCompletionRequest>(&says("hi")))).await.unwrap();
    let choice = &told.get_ref().choices[0];
    assert_eq!(choice.finish_reason.as_deref(), Some("stop"));
    let request: ChatCompletionRequest = typed(&streaming());
    let mut chunks = soon(client.stream_chat_completion(request)).await.unwrap().into_inner();
    let mut ends = Vec::new();
    while let Some(chunk) = soon(chunks.next()).await {
        ends.extend(chunk.unwrap().choices.into_iter().filter_map(|choice| choice.finish_reason));
    }
    assert_eq!(ends, ["tool_calls"]);
    let previewed =
        soon(client.preview_chat_completion(typed::<ChatCompletionRequest>(&conversation()))).await;
    let previewed = previewed.unwrap().into_inner();
    assert_eq!(previewed.request.unwrap().contents.len(), 3);
    assert!(previewed.changes.iter().any(|change| change.field == "user" && change.how == "ignored"));
    assert_eq!(upstream.asked().len(), 2, "a preview asks nobody");
    let refused = client.create_chat_completion(ChatCompletionRequest::default());
    let refused = soon(refused).await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument);
    assert!(refused.message().contains("model"), "{}", refused.message());
}

fn error(code: u16, message: &str, details: Value) -> Reply {
    Reply::json(
        code,
        &json!({"error": {"code": code, "message": message, "status": "X", "details": details}}),
    )
}

/// The same whether the answer was to be streamed or not.
#[tokio::test(flavor = "multi_thread")]
async fn bug43_and_50_errors_of_the_model_are_the_dialects_own() {
    let upstream = Upstream::start([error(429, "Slow down.", json!([]))]).await;
    let server = before(&upstream);
    let retry = json!([{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "12.5s"}]);
    let key = json!([{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]);
    let cases = [
        (error(429, "Slow down.", retry), 429, "rate_limit_exceeded", Some("rate_limit_exceeded")),
        (error(400, "Bad key.", key), 401, "invalid_request_error", Some("invalid_api_key")),
        (error(400, "Nonsense.", json!([])), 400, "invalid_request_error", None),
        (
            error(404, "models/gemini-x is not found.", json!([])),
            404,
            "invalid_request_error",
            Some("model_not_found"),
        ),
        (
            error(
                400,
                "The input token count (5000000) exceeds the maximum number of tokens allowed (1048576).",
                json!([]),
            ),
            400,
            "invalid_request_error",
            Some("context_length_exceeded"),
        ),
    ];
    for (reply, status, kind, code) in cases {
        upstream.answer_from_now_on([reply]);
        for body in [says("hi"), with(says("hi"), json!({"stream": true}))] {
            let told = post(&server, CHAT, &body).await;
            assert_eq!(told.status().as_u16(), status, "{kind} {code:?}");
            if status == 429 {
                let header = |name: &str| told.headers()[name].to_str().unwrap().parse::<u64>().unwrap();
                assert_eq!((header("retry-after"), header("retry-after-ms")), (13, 12500));
            }
            let told: Value = told.json().await.unwrap();
            assert_eq!(
                (&told["error"]["type"], &told["error"]["code"]),
                (&json!(kind), &json!(code)),
                "{told}"
            );
            assert!(!told["error"]["message"].as_str().unwrap().is_empty());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn bug43_an_answer_that_breaks_off_ends_with_an_error_and_without_done() {
    let begun = || Reply::stream(&[chunk(json!([{"text": "half of "}]), "")]);
    let lost = chunk(json!([]), "MALFORMED_FUNCTION_CALL");
    for reply in [begun(), begun().then(Step::Reset), begun().event(&lost)] {
        let upstream = Upstream::start([reply]).await;
        let server = before(&upstream);
        let events = events(post(&server, CHAT, &with(says("hi"), json!({"stream": true}))).await).await;
        let last: Value = serde_json::from_str(events.last().unwrap()).unwrap();
        assert_eq!(last["error"]["type"], "server_error", "{events:?}");
        assert!(events.iter().any(|event| event.contains("half of ")));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn bug46_a_client_that_leaves_stops_the_model() {
    let reply = Reply::stream(&[chunk(json!([{"text": "slowly "}]), "")]).then(Step::Silence);
    let upstream = Upstream::start([reply]).await;
    let server = before(&upstream);
    let answer = post(&server, CHAT, &with(says("hi"), json!({"stream": true}))).await;
    let mut bytes = answer.bytes_stream();
    soon(bytes.next()).await.unwrap().unwrap();
    drop(bytes);
    upstream.was_left(1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_at_the_door_are_in_words_that_clients_read() {
    let upstream = Upstream::start([Reply::json(200, &whole(json!([{"text": "x"}])))]).await;
    let server = before(&upstream);
    let unread = with(says("hi"), json!({"messages": [{"role": "user", "content": 5}]}));
    for (body, param) in [
        (json!({"model": "m"}), "messages"),
        (json!({"messages": [{"role": "user", "content": "x"}]}), "model"),
        (with(says("hi"), json!({"logit_bias": {"1": 1}})), "logit_bias"),
        (with(says("hi"), json!({"messages": [{"content": "x"}]})), "messages[0].role"),
        (unread, "messages[0].content"),
    ] {
        let told = post(&server, CHAT, &body).await;
        assert_eq!(told.status(), 400);
        let told: Value = told.json().await.unwrap();
        assert_eq!(
            (&told["error"]["param"], &told["error"]["type"]),
            (&json!(param), &json!("invalid_request_error")),
            "{told}"
        );
    }
    for (path, status) in
        [(CHAT, 405), ("/v1/chat/nothing", 404), ("/openai/v1/nothing", 404), ("/v1/embeddings", 405)]
    {
        let (told, body) = get(&server, path).await;
        assert_eq!(
            (told, &body["error"]["type"]),
            (status, &json!("invalid_request_error")),
            "{path} {body}"
        );
    }
    let strict = http().post(format!("{}{CHAT}", server.url)).header("x-agena-strict", "true");
    let strict = soon(strict.json(&with(says("hi"), json!({"verbosity": "low"}))).send()).await.unwrap();
    assert_eq!(strict.status(), 400);
    assert_eq!(strict.json::<Value>().await.unwrap()["error"]["param"], "verbosity");
    assert!(upstream.asked().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn embeddings_come_as_numbers_or_as_bytes() {
    let vectors = json!({"embeddings": [{"values": [1.0, -0.5]}, {"values": [0.0, 2.0]}]});
    let upstream = Upstream::start([Reply::json(200, &vectors)]).await;
    let server = before(&upstream);
    let body = json!({"model": "gemini-embedding", "input": ["one", "two"], "dimensions": 2});
    let told: Value = post(&server, "/v1/embeddings", &body).await.json().await.unwrap();
    assert_eq!((&told["object"], &told["model"]), (&json!("list"), &json!("gemini-embedding")));
    assert_eq!(told["data"][1], json!({"object": "embedding", "index": 1, "embedding": [0.0, 2.0]}));
    assert_eq!(told["usage"], json!({"prompt_tokens": 2, "total_tokens": 2}));
    let bytes = with(body.clone(), json!({"encoding_format": "base64"}));
    let told: Value = post(&server, "/v1/embeddings", &bytes).await.json().await.unwrap();
    assert_eq!(told["data"][0]["embedding"], "AACAPwAAAL8=");
    let asked = upstream.asked()[0].json();
    assert_eq!(asked["requests"][0]["content"]["parts"], json!([{"text": "one"}]));
    assert_eq!(asked["requests"][0]["outputDimensionality"], 2);
    let tokens = post(&server, "/v1/embeddings", &with(body.clone(), json!({"input": [1, 2]}))).await;
    assert_eq!(
        (tokens.status().as_u16(), tokens.json::<Value>().await.unwrap()["error"]["param"].clone()),
        (400, json!("input"))
    );
    let mut client = EmbeddingsServiceClient::connect(server.url.clone()).await.unwrap();
    let told = soon(client.create_embedding(typed::<EmbeddingRequest>(&body))).await.unwrap();
    assert_eq!(told.get_ref().data.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn bug51_models_say_how_much_fits() {
    let models = json!({"models": [{"name": "models/gemini-x", "inputTokenLimit": 1_048_576, "outputTokenLimit": 65_536}]});
    let upstream = Upstream::start([Reply::json(200, &models)]).await;
    let server = before(&upstream);
    let (status, told) = get(&server, "/v1/models").await;
    assert_eq!((status, &told["object"]), (200, &json!("list")));
    let listed = told["data"].as_array().unwrap();
    let found = listed.iter().find(|model| model["id"] == "gemini-x").unwrap();
    assert_eq!((&found["context_window"], &found["context_length"]), (&json!(1_048_576), &json!(1_048_576)));
    assert_eq!((&found["object"], &found["max_output_tokens"]), (&json!("model"), &json!(65_536)));
    let (status, told) = get(&server, "/openai/v1/models/gemini-x").await;
    assert_eq!((status, &told["id"]), (200, &json!("gemini-x")));
    let (status, told) = get(&server, "/v1/models/nobody").await;
    assert_eq!((status, &told["error"]["code"]), (404, &json!("model_not_found")));
    let mut client = ModelsServiceClient::connect(server.url.clone()).await.unwrap();
    let told = soon(client.get_model(GetModelRequest { model: "gemini-x".to_owned() })).await.unwrap();
    assert_eq!(told.get_ref().context_length, Some(1_048_576));
}
