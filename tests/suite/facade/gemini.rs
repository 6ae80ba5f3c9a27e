//! Gemini's API: in every version, whole and piece by piece, in front of the rehearsal and, byte by byte, in front of
//! Gemini itself.

use agena::proto::gemini::generative_service_client::GenerativeServiceClient;
use agena::proto::gemini::{Content, GenerateContentRequest, Part};
use futures::StreamExt;
use reqwest::Response;
use serde_json::{Value, json};

use crate::kit::process::Running;
use crate::kit::upstream::{Reply, Step, Upstream, chunk};
use crate::kit::{http, soon, until};

const KEY: &str = "the-key-of-the-model";

fn rehearsed() -> Running {
    Running::start(&["--auth", "none"])
}

fn before(upstream: &Upstream) -> Running {
    let url = upstream.url();
    let environment = [("GEMINI_API_KEY", KEY), ("GOOGLE_GEMINI_BASE_URL", url.as_str())];
    Running::start_with(tempfile::tempdir().unwrap(), &["--auth", "none"], &environment)
}

async fn post(server: &Running, path: &str, body: impl Into<reqwest::Body>) -> Response {
    let request = http().post(format!("{}{path}", server.url)).header("content-type", "application/json");
    soon(request.header("x-goog-api-key", "the-client's").body(body).send()).await.unwrap()
}

async fn get(server: &Running, path: &str) -> Value {
    let answer = soon(http().get(format!("{}{path}", server.url)).send()).await.unwrap();
    assert_eq!(answer.status(), 200, "{path}");
    answer.json().await.unwrap()
}

fn says(text: &str) -> String {
    json!({"contents": [{"role": "user", "parts": [{"text": text}]}]}).to_string()
}

fn text(answer: &Value) -> String {
    let parts = answer["candidates"][0]["content"]["parts"].as_array().cloned().unwrap_or_default();
    parts.iter().filter_map(|part| part["text"].as_str()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_version_and_every_way_of_streaming_says_the_same() {
    let server = rehearsed();
    for version in ["v1", "v1beta", "v1alpha", "gemini/v1beta"] {
        let path = |verb: &str| format!("/{version}/models/rehearsal:{verb}");
        let whole: Value = post(&server, &path("generateContent"), says("hi")).await.json().await.unwrap();
        assert!(text(&whole).contains("You said: hi"), "{whole}");
        let events = post(&server, &path("streamGenerateContent?alt=sse"), says("hi")).await;
        assert_eq!(events.headers()["content-type"], "text/event-stream");
        let events = events.text().await.unwrap();
        let chunks: Vec<Value> = events
            .split_terminator("\n\n")
            .map(|event| serde_json::from_str(event.strip_prefix("data: ").unwrap()).unwrap())
            .collect();
        assert_eq!(chunks.iter().map(text).collect::<String>(), text(&whole));
        let array = post(&server, &path("streamGenerateContent"), says("hi")).await;
        assert_eq!(array.headers()["content-type"], "application/json");
        assert_eq!(array.json::<Vec<Value>>().await.unwrap(), chunks);
        let counted: Value = post(&server, &path("countTokens"), says("hi")).await.json().await.unwrap();
        assert_eq!(counted["totalTokens"], whole["usageMetadata"]["promptTokenCount"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn texts_have_their_places_and_models_their_names() {
    let server = rehearsed();
    let one = json!({"content": {"parts": [{"text": "a"}]}}).to_string();
    let answer: Value =
        post(&server, "/v1beta/models/rehearsal:embedContent", one).await.json().await.unwrap();
    let several = json!({"requests": [{"model": "models/rehearsal", "content": {"parts": [{"text": "a"}]}}]});
    let path = "/v1beta/models/rehearsal:batchEmbedContents";
    let answers: Value = post(&server, path, several.to_string()).await.json().await.unwrap();
    assert_eq!(answers["embeddings"][0], answer["embedding"]);
    assert!(answer["embedding"]["values"].as_array().unwrap().len() > 10);
    for path in ["/v1beta/models", "/v1/models?key=x", "/gemini/v1/models"] {
        assert_eq!(get(&server, path).await["models"][0]["name"], "models/rehearsal", "{path}");
    }
    assert_eq!(get(&server, "/v1alpha/models/rehearsal").await["displayName"], "Rehearsal");
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_are_in_google_s_words() {
    let server = Running::start(&[]);
    let generate = "/v1beta/models/rehearsal:generateContent";
    let denied = post(&server, generate, says("hi")).await;
    assert_eq!(denied.status(), 401);
    assert_eq!(denied.json::<Value>().await.unwrap()["error"]["status"], "UNAUTHENTICATED");
    let open = rehearsed();
    for (path, body, status, words) in [
        (generate, "{}".to_owned(), 400, "contents: is required"),
        (generate, r#"{"contents": [{"parts": [{"text": 5}]}]}"#.to_owned(), 400, "contents[0].parts[0]"),
        (generate, "{".to_owned(), 400, "cannot be read"),
        ("/v1beta/models/rehearsal:fly", says("hi"), 405, "takes GET"),
        ("/v1beta/nothing", says("hi"), 404, "nothing is at"),
    ] {
        let answer = post(&open, path, body).await;
        assert_eq!(answer.status(), status, "{path} {words}");
        let error = answer.json::<Value>().await.unwrap()["error"].clone();
        assert!(error["code"] == status && error["message"].as_str().unwrap().contains(words), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_generated_client_streams_an_answer() {
    let server = rehearsed();
    let mut client = GenerativeServiceClient::connect(server.url.clone()).await.unwrap();
    let contents = vec![Content { role: "user".to_owned(), parts: vec![Part::text("hi")] }];
    let request = GenerateContentRequest { model: "rehearsal".to_owned(), contents, ..Default::default() };
    let whole = soon(client.generate_content(request.clone())).await.unwrap().into_inner();
    let chunks = soon(client.stream_generate_content(request)).await.unwrap().into_inner();
    let chunks: Vec<_> = soon(chunks.collect::<Vec<_>>()).await.into_iter().map(Result::unwrap).collect();
    assert!(chunks.len() > 1);
    assert_eq!(chunks.last().unwrap().usage_metadata, whole.usage_metadata);
    let status = soon(client.generate_content(GenerateContentRequest::default())).await.unwrap_err();
    assert!(status.message().contains("contents"), "{status}");
}

/// Members that nobody knows, in an order and with spaces that no printer would choose.
const ODD: &str =
    r#"{ "zeta" : 1.0e2, "contents":[{"parts":[{"text":"hi","new":{"b":1,"a":12345678901234567890}}]}] }"#;

#[tokio::test(flavor = "multi_thread")]
async fn bytes_pass_through_where_gemini_stands_behind() {
    let odd_answer = "data: {\"candidates\" : [ {\"content\":{\"parts\":[{\"text\":\"x\"}]},\"finishReason\":\"NEW\"} ],\"big\":1.50}\r\n\r\n";
    let upstream = Upstream::start([Reply::open().send(odd_answer)]).await;
    let server = before(&upstream);
    let path = "/v1/models/gemini-x:streamGenerateContent?alt=sse";
    let answer = post(&server, path, ODD).await;
    assert_eq!((answer.status().as_u16(), answer.text().await.unwrap()), (200, odd_answer.to_owned()));
    let asked = upstream.asked().remove(0);
    assert_eq!(String::from_utf8(asked.body.clone()).unwrap(), ODD);
    assert_eq!(
        (asked.path.as_str(), asked.header("x-goog-api-key")),
        ("/v1beta/models/gemini-x:streamGenerateContent?alt=sse", KEY)
    );
    upstream.answer_from_now_on([Reply::text(
        429,
        "application/json",
        "[{\"error\": 1 }]",
        "retry-after: 7\r\n",
    )]);
    let refused = post(&server, path, ODD).await;
    assert_eq!((refused.status().as_u16(), &refused.headers()["retry-after"]), (429, &"7".parse().unwrap()));
    assert_eq!(refused.text().await.unwrap(), "[{\"error\": 1 }]");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_leaves_ends_the_call_of_the_model() {
    let first = Reply::open().event(&chunk(json!([{"text": "a"}]), ""));
    let upstream = Upstream::start([first.then(Step::Silence)]).await;
    let server = before(&upstream);
    let mut answer = post(&server, "/v1beta/models/gemini-x:streamGenerateContent?alt=sse", ODD).await;
    assert!(soon(answer.chunk()).await.unwrap().is_some());
    drop(answer);
    upstream.was_left(1).await;
    until("the line of the log", || server.logged().contains(r#""end":"cut""#)).await;
}
