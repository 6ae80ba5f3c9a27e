//! Code Assist: the account is set up once, calls travel in an envelope, and what the server says is told.

use std::sync::Arc;
use std::time::Duration;

use agena::domain::model::{Backend, ModelCause};
use agena::domain::secret::Secret;
use agena::model::google::code_assist::{NumericProject, Options};
use agena::model::google::credentials::{self, TokenSource, tokens};
use agena::model::google::{CodeAssist, Google};
use agena::proto::gemini::{BatchEmbedContentsRequest, CountTokensRequest};
use agena::proto::vendor;
use serde_json::{Value, json};

use super::credentials::{granted, held, http};
use super::vertex::{login, unauthenticated};
use super::{heard, printed, request, words};
use crate::kit::soon;
use crate::kit::upstream::{Reply, Step, Upstream, chunk};

fn plain() -> Arc<dyn TokenSource> {
    let token = Some(Secret::new("ya29.plain"));
    tokens(http(), credentials::Options { token, ..credentials::Options::default() }).unwrap()
}

fn options(upstream: &Upstream, project: Option<&str>) -> Options {
    Options {
        endpoint: Some(upstream.url()),
        project: project.map(str::to_owned),
        poll: Duration::ZERO,
        ..Options::default()
    }
}

fn assist(upstream: &Upstream, project: Option<&str>, tokens: Arc<dyn TokenSource>) -> Google<CodeAssist> {
    let site = CodeAssist::new(options(upstream, project), tokens, http(), "Gemini CLI's login").unwrap();
    Google::new(site, http())
}

fn loaded() -> Reply {
    Reply::json(200, &json!({"currentTier": {"id": "free-tier"}, "cloudaicompanionProject": "given-project"}))
}

/// In its envelope.
fn wrapped(parts: Value, finish: &str) -> Value {
    json!({"response": chunk(parts, finish), "traceId": "trace-1"})
}

fn answer() -> Reply {
    Reply::stream(&[wrapped(json!([{"text": "a"}]), ""), wrapped(json!([{"text": "b"}]), "STOP")])
}

fn error(status: u16, message: &str, details: Value) -> Reply {
    Reply::json(status, &json!({"error": {"code": status, "message": message, "details": details}}))
}

fn paths(upstream: &Upstream) -> Vec<String> {
    upstream.asked().into_iter().map(|asked| format!("{} {}", asked.method, asked.path)).collect()
}

const LOAD: &str = "POST /v1internal:loadCodeAssist";
const STREAM: &str = "POST /v1internal:streamGenerateContent?alt=sse";

#[tokio::test]
async fn a_call_travels_in_an_envelope() {
    let upstream = Upstream::start([loaded(), answer()]).await;
    let assist = assist(&upstream, None, plain());
    for _ in 0..2 {
        let (chunks, error) = heard(&assist, request("hi")).await;
        assert_eq!((words(&chunks).as_str(), error), ("ab", None));
        assert_eq!(chunks[0]["responseId"], "trace-1");
    }
    // Set up once.
    assert_eq!(paths(&upstream), [LOAD, STREAM, STREAM]);
    let asked = upstream.asked();
    assert!(asked.iter().all(|asked| asked.header("authorization") == "Bearer ya29.plain"));
    assert_eq!(
        asked[0].json(),
        json!({"metadata": {"ideType": "IDE_UNSPECIFIED", "platform": "PLATFORM_UNSPECIFIED", "pluginType": "GEMINI"}})
    );
    let (one, two) = (asked[1].json(), asked[2].json());
    assert_eq!((&one["model"], &one["project"]), (&json!("gemini-3-pro-preview"), &json!("given-project")));
    assert_eq!(one["request"]["contents"], json!([{"role": "user", "parts": [{"text": "hi"}]}]));
    assert!(one["request"]["session_id"].is_string());
    assert_eq!(one["request"]["session_id"], two["request"]["session_id"]);
    assert!(one["user_prompt_id"].is_string() && one["user_prompt_id"] != two["user_prompt_id"]);
}

#[tokio::test]
async fn schemas_are_in_the_dialect_that_it_knows() {
    let whole = Reply::json(200, &wrapped(json!([{"text": "all"}]), "STOP"));
    let upstream = Upstream::start([loaded(), whole]).await;
    let mut request = request("hi");
    let tools = json!([{"functionDeclarations": [{"name": "f", "parametersJsonSchema": {
        "$schema": "s", "type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false,
    }}]}]);
    request.tools = serde_json::from_value(tools).unwrap();
    let answer = soon(assist(&upstream, None, plain()).generate(&request)).await.unwrap();
    assert_eq!(words(&[printed(&answer)]), "all");
    assert_eq!(
        upstream.asked()[1].json()["request"]["tools"][0]["functionDeclarations"][0],
        json!({"name": "f", "parameters": {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}}})
    );
}

#[tokio::test]
async fn a_hundred_calls_set_the_account_up_once() {
    let upstream = Upstream::start([held(loaded()), answer()]).await;
    let assist = Arc::new(assist(&upstream, None, plain()));
    let callers = (0..100).map(|_| {
        let assist = Arc::clone(&assist);
        tokio::spawn(async move { words(&heard(&*assist, request("hi")).await.0) })
    });
    let callers: Vec<_> = callers.collect();
    upstream.was_asked(1).await;
    upstream.release();
    for told in soon(futures::future::join_all(callers)).await {
        assert_eq!(told.unwrap(), "ab");
    }
    let paths = paths(&upstream);
    assert_eq!((paths.iter().filter(|path| *path == LOAD).count(), paths.len()), (1, 101));
}

#[tokio::test]
async fn a_new_account_is_onboarded() {
    let offered = json!({"allowedTiers": [{"id": "standard-tier", "isDefault": true}]});
    let running = json!({"name": "operations/op-1", "done": false});
    let done = json!({"name": "operations/op-1", "done": true, "response": {"cloudaicompanionProject": {"id": "made"}}});
    let replies = [offered, running.clone(), running, done].map(|body| Reply::json(200, &body));
    let upstream = Upstream::start(replies.into_iter().chain([answer()])).await;
    let (chunks, error) = heard(&assist(&upstream, Some("own-project"), plain()), request("hi")).await;
    assert_eq!((words(&chunks).as_str(), error), ("ab", None));
    let poll = "GET /v1internal/operations/op-1";
    assert_eq!(paths(&upstream), [LOAD, "POST /v1internal:onboardUser", poll, poll, STREAM]);
    let asked = upstream.asked();
    assert_eq!(asked[0].json()["cloudaicompanionProject"], "own-project");
    assert_eq!(asked[1].json()["tierId"], "standard-tier");
    assert_eq!(asked[1].json()["metadata"]["duetProject"], "own-project");
    assert_eq!(asked[4].json()["project"], "made");
}

#[tokio::test]
async fn onboarding_that_never_ends_is_given_up() {
    let offered = json!({"allowedTiers": [{"id": "free-tier", "isDefault": true}]});
    let running = json!({"name": "operations/op-1"});
    let upstream = Upstream::start([Reply::json(200, &offered), Reply::json(200, &running)]).await;
    let (_, error) = heard(&assist(&upstream, None, plain()), request("hi")).await;
    let error = error.unwrap();
    assert_eq!(error.cause, ModelCause::Unavailable);
    assert!(error.message.contains("still setting the account up"), "{error}");
    assert_eq!(upstream.asked().len(), 62);
}

#[tokio::test]
async fn an_account_that_is_not_eligible_is_told_why() {
    let location = json!({"currentTier": {"id": "x"}, "ineligibleTiers": [
        {"reasonCode": "UNSUPPORTED_LOCATION", "reasonMessage": "Your location is not supported.", "tierName": "Free"},
    ]});
    let unproven = json!({"ineligibleTiers": [
        {"reasonCode": "VALIDATION_REQUIRED", "reasonMessage": "Verify your account", "validationUrl": "https://v"},
    ]});
    for (reply, cause, said) in [
        (Reply::json(200, &location), ModelCause::Denied, "Free: Your location is not supported."),
        (Reply::json(200, &unproven), ModelCause::Denied, "Prove who you are at https://v"),
        (Reply::json(200, &json!({"currentTier": {}})), ModelCause::Denied, "GOOGLE_CLOUD_PROJECT"),
        (
            error(403, "not licensed", json!([])),
            ModelCause::Forbidden,
            "refused Gemini CLI's login: not licensed",
        ),
        (error(503, "later", json!([])), ModelCause::Unavailable, "later"),
        (Reply::text(200, "text/html", "<html>", ""), ModelCause::Broken, "gave no account"),
        (Reply::reset(), ModelCause::Unavailable, "127.0.0.1"),
    ] {
        let upstream = Upstream::start([reply]).await;
        let (chunks, error) = heard(&assist(&upstream, None, plain()), request("hi")).await;
        let error = error.unwrap();
        assert_eq!((chunks.len(), error.cause), (0, cause), "{error}");
        assert!(error.message.contains(said), "{error}");
    }
}

#[tokio::test]
async fn a_set_up_that_failed_is_tried_again() {
    let upstream = Upstream::start([error(503, "later", json!([])), loaded(), answer()]).await;
    let assist = assist(&upstream, None, plain());
    assert!(heard(&assist, request("hi")).await.1.is_some());
    assert_eq!(words(&heard(&assist, request("hi")).await.0), "ab");
    assert_eq!(paths(&upstream), [LOAD, LOAD, STREAM]);
}

#[tokio::test]
async fn an_account_behind_a_perimeter_may_use_its_project() {
    let details = json!([{"@type": "x", "reason": "SECURITY_POLICY_VIOLATED"}]);
    let upstream = Upstream::start([error(403, "Request is prohibited", details), answer()]).await;
    let (chunks, error) = heard(&assist(&upstream, Some("own-project"), plain()), request("hi")).await;
    assert_eq!((words(&chunks).as_str(), error), ("ab", None));
    assert_eq!(upstream.asked()[1].json()["project"], "own-project");
}

#[tokio::test]
async fn a_refused_token_is_renewed_in_the_set_up_and_in_the_call() {
    let server = Upstream::start([granted("ya29.1"), granted("ya29.2"), granted("ya29.3")]).await;
    let (_directory, tokens) = login(&server);
    let upstream = Upstream::start([unauthenticated(), loaded(), unauthenticated(), answer()]).await;
    assert_eq!(words(&heard(&assist(&upstream, None, tokens), request("hi")).await.0), "ab");
    let sent: Vec<_> =
        upstream.asked().iter().map(|asked| asked.header("authorization").to_owned()).collect();
    assert_eq!(sent, ["Bearer ya29.1", "Bearer ya29.2", "Bearer ya29.2", "Bearer ya29.3"]);
    assert_eq!(paths(&upstream), [LOAD, LOAD, STREAM, STREAM]);
}

#[tokio::test]
async fn errors_in_a_stream_are_told() {
    let quota = json!({"error": {"code": 429, "message": "slow down", "status": "RESOURCE_EXHAUSTED"}});
    let first = || Reply::stream(&[wrapped(json!([{"text": "a"}]), "")]);
    for (reply, cause, said) in [
        (first().event(&quota), ModelCause::Limited, "slow down"),
        (first().send(format!("{quota:#}\n")), ModelCause::Limited, "slow down"),
        (first().event(&json!({"unknown": 1})), ModelCause::Broken, "response: is missing"),
        (first().then(Step::Reset), ModelCause::Unavailable, "127.0.0.1"),
        (first(), ModelCause::Broken, "cut off"),
    ] {
        let upstream = Upstream::start([loaded(), reply]).await;
        let (chunks, error) = heard(&assist(&upstream, None, plain()), request("hi")).await;
        let error = error.unwrap();
        assert_eq!((words(&chunks).as_str(), error.cause), ("a", cause), "{error}");
        assert!(error.message.contains(said), "{error}");
    }
}

#[tokio::test]
async fn tokens_are_counted_and_the_rest_is_not_there() {
    let upstream = Upstream::start([Reply::json(200, &json!({"totalTokens": 5}))]).await;
    let assist = assist(&upstream, Some("own-project"), plain());
    let count = json!({"model": "gemini-x", "contents": [{"role": "user", "parts": [{"text": "a"}]}]});
    let count: CountTokensRequest = vendor::decode(count.to_string().as_bytes()).unwrap();
    assert_eq!(soon(assist.count_tokens(count)).await.unwrap().total_tokens, 5);
    assert_eq!(paths(&upstream), ["POST /v1internal:countTokens"]);
    assert_eq!(
        upstream.asked()[0].json(),
        json!({"request": {"model": "models/gemini-x", "contents": [{"role": "user", "parts": [{"text": "a"}]}]}})
    );
    let embed = BatchEmbedContentsRequest { model: "x".to_owned(), ..Default::default() };
    let error = soon(assist.embed(embed)).await.unwrap_err();
    assert_eq!(error.cause, ModelCause::Unsupported);
    assert!(soon(assist.models()).await.unwrap().is_empty());
    assert_eq!(upstream.asked().len(), 1);
}

#[tokio::test]
async fn the_number_of_a_project_is_refused() {
    let upstream = Upstream::start([loaded()]).await;
    let made = CodeAssist::new(options(&upstream, Some("1234567")), plain(), http(), "x");
    assert_eq!(made.err(), Some(NumericProject("1234567".to_owned())));
}
