//! Whatever is refused is refused in the vendor's words, also before a service is reached.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::life::{OLD, events, post, serve};
use crate::kit::process::Running;
use crate::kit::upstream::{Reply, Upstream, says};
use crate::kit::{http, soon};

fn hi() -> Value {
    json!({"model": "gemini-x", "max_tokens": 100, "messages": [{"role": "user", "content": "hi"}]})
}

/// The status, the kind and the message.
async fn refused(response: reqwest::Response) -> (u16, String, String) {
    let status = response.status().as_u16();
    let id = response.headers()["request-id"].to_str().unwrap().to_owned();
    let body: Value = soon(response.json()).await.unwrap();
    assert_eq!((&body["type"], &body["request_id"]), (&json!("error"), &json!(id)), "{body}");
    let text = |name: &str| body["error"][name].as_str().unwrap().to_owned();
    (status, text("type"), text("message"))
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_a_request_is_named() {
    let upstream = Upstream::start([says("no")]).await;
    let server = serve(&upstream, &["--auth", "none"]);
    for (pointer, value, named) in [
        ("/max_tokens", Value::Null, "max_tokens: is required"),
        ("/model", Value::Null, "model: is required"),
        ("/messages", json!([]), "messages: is required"),
        ("/messages/0/role", json!("tool"), "messages[0].role: "),
        ("/messages/0/content", json!(5), "messages[0].content"),
        (
            "/messages/0/content",
            json!([{"type": "image", "source": {"type": "base64"}}]),
            "messages[0].content[0].source.data: ",
        ),
    ] {
        let mut request = hi();
        *request.pointer_mut(pointer).unwrap() = value;
        let (status, kind, message) = refused(post(&server, "/v1/messages", &request).await).await;
        assert_eq!((status, kind.as_str()), (400, "invalid_request_error"));
        assert!(message.starts_with(named), "{message}");
    }
    let mut sampled = hi();
    sampled["temperature"] = 1.into();
    let newer = http().post(format!("{}/v1/messages", server.url)).header("anthropic-version", "2026-10-21");
    let (status, _, message) = refused(soon(newer.json(&sampled).send()).await.unwrap()).await;
    assert!(status == 400 && message.starts_with("temperature: "), "{message}");
    assert_eq!(upstream.asked().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_never_reaches_a_service_is_refused_in_the_vendors_words_too() {
    let upstream = Upstream::start([says("no")]).await;
    let server = serve(&upstream, &["--auth", "none"]);
    for (path, body, status, kind) in [
        ("/v1/messages/batches", "{}", 404, "not_found_error"),
        ("/v1/messages", "{", 400, "invalid_request_error"),
    ] {
        let asking = http().post(format!("{}{path}", server.url)).header("anthropic-version", OLD);
        let asking = asking.header("content-type", "application/json").body(body.to_owned());
        let (told, named, message) = refused(soon(asking.send()).await.unwrap()).await;
        assert_eq!((told, named.as_str()), (status, kind), "{path}: {message}");
    }
}

/// Refused before it is sent, so the client's own library would only see a broken pipe.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_too_large_is_refused_by_its_length() {
    let upstream = Upstream::start([says("no")]).await;
    let server = serve(&upstream, &["--auth", "none"]);
    let address = server.url.strip_prefix("http://").unwrap();
    let mut socket = soon(TcpStream::connect(address)).await.unwrap();
    let head = format!(
        "POST /v1/messages HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: 40000000\r\n\r\n"
    );
    soon(socket.write_all(head.as_bytes())).await.unwrap();
    let mut told = String::new();
    soon(socket.read_to_string(&mut told)).await.unwrap();
    assert!(told.starts_with("HTTP/1.1 413 ") && told.contains(r#""type":"request_too_large""#), "{told}");
    assert!(told.contains("\r\nrequest-id: "), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_version_is_asked_for_over_http() {
    let upstream = Upstream::start([says("no")]).await;
    let server = serve(&upstream, &["--auth", "none"]);
    for path in ["/v1/messages", "/anthropic/v1/messages"] {
        let without = http().post(format!("{}{path}", server.url)).json(&hi());
        let (status, kind, message) = refused(soon(without.send()).await.unwrap()).await;
        assert_eq!((status, kind.as_str()), (400, "invalid_request_error"));
        assert!(message.starts_with("anthropic-version: "), "{message}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_are_taken_from_both_headers_and_asked_for_in_the_vendors_words() {
    let answer = Reply::json(200, &crate::kit::upstream::chunk(json!([{"text": "hello"}]), "STOP"));
    let upstream = Upstream::start([answer]).await;
    let server = serve(&upstream, &[]);
    let token = token(&server);
    let bearer = format!("Bearer {token}");
    for (header, value, expected) in [
        ("x-api-key", token.as_str(), 200),
        ("authorization", bearer.as_str(), 200),
        ("x-api-key", "wrong", 401),
        ("x-nothing", "", 401),
    ] {
        let request = http().post(format!("{}/v1/messages", server.url)).header("anthropic-version", OLD);
        let response = soon(request.header(header, value).json(&hi()).send()).await.unwrap();
        assert_eq!(response.status().as_u16(), expected, "{header}");
        if expected == 401 {
            let body: Value = soon(response.json()).await.unwrap();
            assert_eq!(
                (&body["type"], &body["error"]["type"]),
                (&json!("error"), &json!("authentication_error"))
            );
        }
    }
}

/// As `agena token` prints it.
fn token(server: &Running) -> String {
    let mut command = crate::kit::process::agena(server.home());
    let output = crate::kit::process::output(command.arg("token"));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Bug 43: the status is the same whether the answer was to be streamed or not.
#[tokio::test(flavor = "multi_thread")]
async fn what_the_model_refuses_is_told_as_the_vendor_would() {
    let failure =
        |code: u16, message: &str| Reply::json(code, &json!({"error": {"code": code, "message": message}}));
    let quota = json!({"error": {"code": 429, "message": "Slowly.", "status": "RESOURCE_EXHAUSTED", "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7s"}]}});
    for (reply, status, kind) in [
        (failure(400, "No such thing."), 400, "invalid_request_error"),
        (failure(403, "Not you."), 403, "permission_error"),
        (failure(404, "Which?"), 404, "not_found_error"),
        (Reply::json(429, &quota), 429, "rate_limit_error"),
        (failure(503, "Down."), 529, "overloaded_error"),
        (
            failure(
                400,
                "The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).",
            ),
            400,
            "invalid_request_error",
        ),
    ] {
        let upstream = Upstream::start([reply]).await;
        let server = serve(&upstream, &["--auth", "none"]);
        for stream in [false, true] {
            let mut request = hi();
            request["stream"] = stream.into();
            let response = post(&server, "/v1/messages", &request).await;
            let later = response.headers().get("retry-after").cloned();
            let (told, named, message) = refused(response).await;
            assert_eq!((told, named.as_str()), (status, kind), "{message}");
            assert!(status != 429 || later.is_some_and(|later| later == "7"), "{message}");
            if message.contains("2000000") {
                assert_eq!(message, "prompt is too long: 2000000 tokens > 1048576 maximum");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn strict_callers_are_refused_what_would_be_changed() {
    let upstream = Upstream::start([says("hello")]).await;
    let server = serve(&upstream, &["--auth", "none"]);
    let mut request = hi();
    request["tools"] = json!([{"type": "web_search_20250305", "name": "web_search", "max_uses": 8}]);
    request["stream"] = true.into();
    let strict = http().post(format!("{}/v1/messages", server.url)).header("anthropic-version", OLD);
    let response = soon(strict.header("x-agena-strict", "true").json(&request).send()).await.unwrap();
    let (status, _, message) = refused(response).await;
    assert!(status == 400 && message.starts_with("tools[0].max_uses: would be dropped"), "{message}");
    assert!(!events(post(&server, "/v1/messages", &request).await).await.is_empty());
}
