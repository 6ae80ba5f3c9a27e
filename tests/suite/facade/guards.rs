//! What stands around every call of a facade: refusals in the words of the vendor whose client asks, and what each key may
//! ask.

use reqwest::{Method, Response};
use serde_json::{Value, json};

use super::{ANN, BOB, gemini, serve};
use crate::kit::process::Running;
use crate::kit::upstream::{Reply, Step, Upstream, chunk};
use crate::kit::{http, soon};

/// Whose words an answer is in, and what it says there.
#[derive(Debug, PartialEq)]
enum Words {
    OpenAi(String),
    Gemini(String),
    None,
}

async fn words(answer: Response) -> (u16, Words) {
    let status = answer.status().as_u16();
    let body: Value = soon(answer.json()).await.unwrap_or_default();
    let error = &body["error"];
    let words = match (&error["type"], &error["status"]) {
        (Value::String(kind), _) if body.get("type").is_none() => Words::OpenAi(kind.clone()),
        (_, Value::String(status)) => Words::Gemini(status.clone()),
        _ => Words::None,
    };
    assert!(!error["message"].as_str().unwrap_or_default().is_empty(), "{body}");
    (status, words)
}

/// A request to the door. `large` is more than the server reads.
struct Knock {
    method: Method,
    path: &'static str,
    header: &'static str,
    key: bool,
    content_type: &'static str,
    large: bool,
}

const PLAIN: Knock = Knock {
    method: Method::POST,
    path: "",
    header: "x-nothing",
    key: true,
    content_type: "application/json",
    large: false,
};

#[tokio::test(flavor = "multi_thread")]
async fn whoever_is_refused_at_the_door_hears_it_in_the_words_of_the_vendor() {
    let server = serve(tempfile::tempdir().unwrap(), "", "facade.body_bytes = 1024\n");
    let openai = |kind: &str| Words::OpenAi(kind.to_owned());
    let google = |status: &str| Words::Gemini(status.to_owned());
    let at = |path| Knock { path, ..PLAIN };
    let generate = "/v1beta/models/rehearsal:generateContent";
    for (knock, status, expected) in [
        (Knock { key: false, ..at("/v1/chat/completions") }, 401, openai("invalid_request_error")),
        (Knock { key: false, ..at("/openai/v1/embeddings") }, 401, openai("invalid_request_error")),
        (Knock { key: false, method: Method::GET, ..at("/v1/models") }, 401, openai("invalid_request_error")),
        (Knock { key: false, ..at(generate) }, 401, google("UNAUTHENTICATED")),
        (Knock { key: false, ..at("/v1/models/m:generateContent") }, 401, google("UNAUTHENTICATED")),
        (
            Knock { key: false, method: Method::GET, header: "x-goog-api-client", ..at("/v1/models") },
            401,
            google("UNAUTHENTICATED"),
        ),
        (
            Knock { content_type: "text/plain", ..at("/v1/chat/completions") },
            415,
            openai("invalid_request_error"),
        ),
        (Knock { content_type: "text/plain", ..at(generate) }, 415, google("INVALID_ARGUMENT")),
        (at("/v1/chat/nothing"), 404, openai("invalid_request_error")),
        (at("/openai/v1/nothing"), 404, openai("invalid_request_error")),
        (at("/v1beta/nothing"), 404, google("NOT_FOUND")),
        (at("/gemini/v1beta/nothing"), 404, google("NOT_FOUND")),
        (
            Knock { large: true, method: Method::GET, ..at("/v1/models") },
            413,
            openai("invalid_request_error"),
        ),
        (Knock { large: true, ..at(generate) }, 413, google("RESOURCE_EXHAUSTED")),
        (Knock { method: Method::PATCH, ..at(generate) }, 405, google("UNIMPLEMENTED")),
        (Knock { method: Method::PATCH, ..at("/v1/models") }, 405, openai("invalid_request_error")),
    ] {
        let Knock { method, path, header, key, content_type, large } = knock;
        let mut asked = http().request(method, format!("{}{path}", server.url)).header(header, "1");
        asked = asked.header("content-type", content_type).body("x".repeat(if large { 2048 } else { 2 }));
        if key {
            asked = asked.bearer_auth(ANN);
        }
        let heard = words(soon(asked.send()).await.unwrap()).await;
        assert_eq!(heard, (status, expected), "{path} {header} {content_type}");
    }
}

async fn generate(server: &Running, key: &str, model: &str) -> Response {
    let body = json!({"contents": [{"role": "user", "parts": [{"text": "hi"}]}]});
    let url = format!("{}/v1beta/models/{model}:streamGenerateContent?alt=sse", server.url);
    soon(http().post(url).header("x-goog-api-key", key).json(&body).send()).await.unwrap()
}

async fn listed(server: &Running, key: &str) -> Vec<String> {
    let models = http().get(format!("{}/v1beta/models", server.url)).header("x-goog-api-key", key);
    let models: Value = soon(models.send()).await.unwrap().json().await.unwrap();
    let name = |model: &Value| model["name"].as_str().unwrap().to_owned();
    models["models"].as_array().unwrap().iter().map(name).collect()
}

fn header<'a>(answer: &'a Response, name: &str) -> &'a str {
    answer.headers().get(name).map_or("", |value| value.to_str().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_asks_only_the_models_that_it_may() {
    let settings = "[[model.routes]]\nmodel = 'quick'\nto = 'rehearsal'\n";
    let server = serve(tempfile::tempdir().unwrap(), ", models = ['rehearsal']", settings);
    assert_eq!(generate(&server, ANN, "rehearsal").await.status(), 200);
    let refused = generate(&server, ANN, "quick").await;
    let status = refused.status();
    assert!(status == 403 && refused.text().await.unwrap().contains("may not ask the model `quick`"));
    assert_eq!(listed(&server, ANN).await, ["models/rehearsal"]);
    assert_eq!(generate(&server, BOB, "quick").await.status(), 200);
    assert_eq!(listed(&server, BOB).await, ["models/rehearsal", "models/quick"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_nobody_knows_stands_for_the_default_or_is_refused() {
    let routes = "[[model.routes]]\nmodel = 'gpt-*'\nto = 'rehearsal'\n";
    for (settings, unknown) in
        [(routes.to_owned(), 200), (format!("{routes}[facade]\nunknown_models = 'refuse'\n"), 404)]
    {
        let server = serve(tempfile::tempdir().unwrap(), "", &settings);
        for (name, status) in [("nobody", unknown), ("rehearsal", 200), ("gpt-4o", 200)] {
            assert_eq!(generate(&server, ANN, name).await.status(), status, "{name}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_of_a_minute_run_out_for_one_key_alone() {
    let server = serve(tempfile::tempdir().unwrap(), ", requests_per_minute = 2", "");
    let first = generate(&server, ANN, "rehearsal").await;
    let told = |name: &str| header(&first, name).to_owned();
    assert_eq!(
        (told("x-ratelimit-limit-requests"), told("x-ratelimit-remaining-requests")),
        ("2".to_owned(), "1".to_owned())
    );
    assert!(told("x-ratelimit-reset-requests").ends_with('s') && told("x-ratelimit-limit-tokens").is_empty());
    assert_eq!(generate(&server, ANN, "rehearsal").await.status(), 200);
    let refused = generate(&server, ANN, "rehearsal").await;
    assert_eq!(refused.status(), 429);
    let seconds: u64 = header(&refused, "retry-after").parse().unwrap();
    assert!((1..=30).contains(&seconds), "{seconds}");
    assert_eq!(words(refused).await, (429, Words::Gemini("RESOURCE_EXHAUSTED".to_owned())));
    let other = generate(&server, BOB, "rehearsal").await;
    assert!(other.status() == 200 && header(&other, "x-ratelimit-limit-requests").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_are_counted_when_an_answer_ends_and_when_it_is_left() {
    let mut long = chunk(json!([{"text": "x".repeat(4000)}]), "STOP");
    long["usageMetadata"] = json!({"promptTokenCount": 100, "candidatesTokenCount": 300, "thoughtsTokenCount": 500, "totalTokenCount": 900});
    let cut = Reply::stream(&[chunk(json!([{"text": "x".repeat(4000)}]), "")]).then(Step::Silence);
    for (reply, leaves) in [(Reply::stream(&[long]), false), (cut, true)] {
        let upstream = Upstream::start([reply]).await;
        let server =
            serve(tempfile::tempdir().unwrap(), ", tokens_per_minute = 500", &gemini("one", &upstream.url()));
        let mut first = generate(&server, ANN, "gemini-3-pro-preview").await;
        assert_eq!((first.status().as_u16(), header(&first, "x-ratelimit-limit-tokens")), (200, "500"));
        if leaves {
            soon(first.chunk()).await.unwrap();
            drop(first);
            upstream.was_left(1).await;
        } else {
            soon(first.text()).await.unwrap();
        }
        let mut refused = None;
        for _ in 0..20 {
            // It is counted a moment after the client has gone.
            let next = generate(&server, ANN, "gemini-3-pro-preview").await;
            if next.status() == 429 {
                refused = Some(next);
                break;
            }
        }
        let refused = refused.expect("nobody counted").text().await.unwrap();
        assert!(refused.contains("500 tokens in a minute"), "{refused}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_may_send_and_read_what_clients_of_vendors_do() {
    let server = serve(tempfile::tempdir().unwrap(), ", requests_per_minute = 60", "");
    let origin = "http://localhost:5173";
    let asks = "x-agena-strict,anthropic-version,anthropic-beta,openai-organization,x-stainless-os,x-api-key";
    let url = format!("{}/v1beta/models", server.url);
    let preflight = http().request(Method::OPTIONS, &url).header("origin", origin);
    let preflight = preflight
        .header("access-control-request-method", "POST")
        .header("access-control-request-headers", asks);
    let preflight = soon(preflight.send()).await.unwrap();
    assert_eq!(header(&preflight, "access-control-allow-headers"), asks);
    let answer = soon(http().get(&url).header("origin", origin).bearer_auth(ANN).send()).await.unwrap();
    let exposed: Vec<&str> = header(&answer, "access-control-expose-headers").split(',').collect();
    for name in [
        "x-agena-conversion",
        "x-agena-upstream",
        "request-id",
        "retry-after-ms",
        "x-ratelimit-remaining-requests",
        "anthropic-ratelimit-tokens-remaining",
    ] {
        assert!(exposed.contains(&name), "{name} in {exposed:?}");
    }
}
