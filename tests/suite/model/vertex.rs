//! Vertex AI: where it is asked, in whose name, and what is made of a token that is refused.

use std::path::PathBuf;
use std::sync::Arc;

use agena::domain::model::{Backend, ModelCause};
use agena::domain::secret::Secret;
use agena::model::google::credentials::{self, TokenSource, tokens};
use agena::model::google::vertex::{Access, Options};
use agena::model::google::{Google, Vertex};
use agena::proto::gemini::{BatchEmbedContentsRequest, CountTokensRequest};
use agena::proto::vendor;
use serde_json::{Value, json};

use super::credentials::{file, granted, held, http};
use super::{heard, printed, request, words};
use crate::kit::soon;
use crate::kit::upstream::{Reply, Upstream, chunk, says};

fn vertex(upstream: &Upstream, access: Access) -> Google<Vertex> {
    let options = Options {
        base_url: Some(upstream.url()),
        project: Some("my-project".to_owned()),
        location: Some("europe-west4".to_owned()),
        ..Options::default()
    };
    Google::new(Vertex::new(options, access, "the credentials of Google Cloud").unwrap(), http())
}

fn key() -> Access {
    Access::Key(Secret::new("the-vertex-key"))
}

/// A login whose tokens come from `server`.
pub fn login(server: &Upstream) -> (tempfile::TempDir, Arc<dyn TokenSource>) {
    let (directory, path): (_, PathBuf) = file(&json!({
        "type": "authorized_user", "client_id": "i", "client_secret": "s", "refresh_token": "r",
        "token_uri": server.url(), "quota_project_id": "payer",
    }));
    let options = credentials::Options { file: Some(path), ..credentials::Options::default() };
    (directory, tokens(http(), options).unwrap())
}

pub fn unauthenticated() -> Reply {
    Reply::json(
        401,
        &json!({"error": {"code": 401, "message": "the token ya29.a is stale", "status": "UNAUTHENTICATED"}}),
    )
}

#[tokio::test]
async fn a_project_is_asked_with_a_token() {
    let server = Upstream::start([granted("ya29.a")]).await;
    let upstream =
        Upstream::start([says("hi"), Reply::json(200, &chunk(json!([{"text": "all"}]), "STOP"))]).await;
    let (_directory, tokens) = login(&server);
    let vertex = vertex(&upstream, Access::Tokens(tokens));
    let (chunks, error) = heard(&vertex, request("a")).await;
    assert_eq!((words(&chunks).as_str(), error), ("hi", None));
    let whole = soon(vertex.generate(&request("b"))).await.unwrap();
    assert_eq!(words(&[printed(&whole)]), "all");
    let model =
        "/v1beta1/projects/my-project/locations/europe-west4/publishers/google/models/gemini-3-pro-preview";
    let asked = upstream.asked();
    assert_eq!(asked[0].path, format!("{model}:streamGenerateContent?alt=sse"));
    assert_eq!(asked[1].path, format!("{model}:generateContent"));
    for asked in &asked {
        assert_eq!(asked.header("authorization"), "Bearer ya29.a");
        assert_eq!((asked.header("x-goog-user-project"), asked.header("x-goog-api-key")), ("payer", ""));
    }
    assert_eq!(asked[0].json(), json!({"contents": [{"role": "user", "parts": [{"text": "a"}]}]}));
    assert_eq!(server.asked().len(), 1);
}

#[tokio::test]
async fn express_mode_wants_a_key_and_no_project() {
    let upstream = Upstream::start([says("hi")]).await;
    let options = Options { base_url: Some(upstream.url()), ..Options::default() };
    let vertex = Google::new(Vertex::new(options, key(), "the key").unwrap(), http());
    assert_eq!(words(&heard(&vertex, request("a")).await.0), "hi");
    let asked = upstream.asked();
    assert_eq!(
        asked[0].path,
        "/v1beta1/publishers/google/models/gemini-3-pro-preview:streamGenerateContent?alt=sse"
    );
    assert_eq!((asked[0].header("x-goog-api-key"), asked[0].header("authorization")), ("the-vertex-key", ""));
}

#[tokio::test]
async fn a_refused_token_is_renewed_once() {
    let server = Upstream::start([granted("ya29.a"), granted("ya29.b")]).await;
    let upstream = Upstream::start([unauthenticated(), says("hi")]).await;
    let (_directory, tokens) = login(&server);
    let vertex = vertex(&upstream, Access::Tokens(tokens));
    assert_eq!(words(&heard(&vertex, request("a")).await.0), "hi");
    assert_eq!(words(&heard(&vertex, request("a")).await.0), "hi");
    let sent: Vec<String> =
        upstream.asked().iter().map(|asked| asked.header("authorization").to_owned()).collect();
    assert_eq!(sent, ["Bearer ya29.a", "Bearer ya29.b", "Bearer ya29.b"]);
    assert_eq!(server.asked().len(), 2);
}

#[tokio::test]
async fn a_token_that_is_refused_twice_is_one_clear_error() {
    let server = Upstream::start([granted("ya29.x"), granted("ya29.a")]).await;
    let upstream = Upstream::start([unauthenticated()]).await;
    let (_directory, tokens) = login(&server);
    let (_, error) = heard(&vertex(&upstream, Access::Tokens(tokens)), request("a")).await;
    let error = error.unwrap();
    assert_eq!(error.cause, ModelCause::Denied);
    assert_eq!(
        error.message,
        "Vertex AI refused the credentials of Google Cloud: the token [redacted] is stale"
    );
    assert_eq!((upstream.asked().len(), server.asked().len()), (2, 2));
}

#[tokio::test]
async fn a_login_that_is_gone_is_told_as_such() {
    let gone = json!({"error": "invalid_grant", "error_description": "Token has been revoked."});
    let server = Upstream::start([granted("ya29.a"), Reply::json(400, &gone)]).await;
    let upstream = Upstream::start([unauthenticated()]).await;
    let (_directory, tokens) = login(&server);
    let (_, error) = heard(&vertex(&upstream, Access::Tokens(tokens)), request("a")).await;
    let error = error.unwrap();
    assert_eq!(error.cause, ModelCause::Denied);
    assert!(error.message.contains("revoked") && error.message.contains("Log in again"), "{error}");
    assert_eq!(upstream.asked().len(), 1);
}

#[tokio::test]
async fn many_that_are_refused_together_renew_once() {
    let server = Upstream::start([granted("ya29.a"), held(granted("ya29.b")), granted("ya29.c")]).await;
    let refusals = std::iter::repeat_n(unauthenticated(), 20);
    let upstream = Upstream::start(refusals.chain([says("hi")])).await;
    let (_directory, tokens) = login(&server);
    let vertex = Arc::new(vertex(&upstream, Access::Tokens(tokens)));
    let callers = (0..20).map(|_| {
        let vertex = Arc::clone(&vertex);
        tokio::spawn(async move { words(&heard(&*vertex, request("a")).await.0) })
    });
    let callers: Vec<_> = callers.collect();
    upstream.was_asked(20).await;
    server.was_asked(2).await;
    server.release();
    for told in soon(futures::future::join_all(callers)).await {
        assert_eq!(told.unwrap(), "hi");
    }
    assert_eq!((upstream.asked().len(), server.asked().len()), (40, 2));
}

#[tokio::test]
async fn a_refusal_that_comes_late_does_not_cost_the_new_token() {
    let server = Upstream::start([granted("ya29.a"), granted("ya29.b"), granted("ya29.c")]).await;
    let upstream = Upstream::start([held(unauthenticated()), unauthenticated(), says("hi")]).await;
    let (_directory, tokens) = login(&server);
    let vertex = Arc::new(vertex(&upstream, Access::Tokens(tokens)));
    let late = tokio::spawn({
        let vertex = Arc::clone(&vertex);
        async move { words(&heard(&*vertex, request("a")).await.0) }
    });
    upstream.was_asked(1).await;
    assert_eq!(words(&heard(&*vertex, request("a")).await.0), "hi");
    upstream.release();
    assert_eq!(soon(late).await.unwrap(), "hi");
    assert_eq!(upstream.asked().last().unwrap().header("authorization"), "Bearer ya29.b");
    assert_eq!(server.asked().len(), 2);
}

#[tokio::test]
async fn ids_are_left_out_where_the_server_knows_none() {
    let said = "Invalid JSON payload received. Unknown name \"id\" at 'contents[1].parts[0].function_call': Cannot find field.";
    let refusal =
        Reply::json(400, &json!([{"error": {"code": 400, "message": said, "status": "INVALID_ARGUMENT"}}]));
    let upstream = Upstream::start([refusal, says("hi")]).await;
    let vertex = vertex(&upstream, key());
    let talk = json!({"model": "gemini-3-pro-preview", "contents": [
        {"role": "user", "parts": [{"text": "a"}]},
        {"role": "model", "parts": [{"functionCall": {"id": "1", "name": "f", "args": {}}, "thoughtSignature": "s"}]},
        {"role": "user", "parts": [{"functionResponse": {"id": "1", "name": "f", "response": {}}}]},
    ]});
    for _ in 0..2 {
        let talk = vendor::decode(talk.to_string().as_bytes()).unwrap();
        assert_eq!(words(&heard(&vertex, talk).await.0), "hi");
    }
    // Learnt once: the second conversation is sent without them at once.
    let ids: Vec<Value> = upstream
        .asked()
        .iter()
        .map(|asked| asked.json()["contents"][1]["parts"][0]["functionCall"]["id"].clone())
        .collect();
    assert_eq!(ids, [json!("1"), Value::Null, Value::Null]);
}

#[tokio::test]
async fn counts_have_no_envelope() {
    let upstream =
        Upstream::start([Reply::json(200, &json!({"totalTokens": 7, "totalBillableCharacters": 20}))]).await;
    let count = json!({"model": "gemini-x", "generateContentRequest": {
        "contents": [{"role": "user", "parts": [{"text": "a"}]}],
        "systemInstruction": {"parts": [{"text": "b"}]},
        "safetySettings": [{"category": "c", "threshold": "OFF"}],
    }});
    let count: CountTokensRequest = vendor::decode(count.to_string().as_bytes()).unwrap();
    assert_eq!(soon(vertex(&upstream, key()).count_tokens(count)).await.unwrap().total_tokens, 7);
    let asked = upstream.asked();
    assert!(asked[0].path.ends_with("/gemini-x:countTokens"), "{}", asked[0].path);
    assert_eq!(
        asked[0].json(),
        json!({"contents": [{"role": "user", "parts": [{"text": "a"}]}], "systemInstruction": {"parts": [{"text": "b"}]}})
    );
}

#[tokio::test]
async fn embeddings_are_predictions_in_their_order() {
    let embed = |model: &str, texts: &[&str]| -> BatchEmbedContentsRequest {
        let requests: Vec<Value> =
            texts.iter().map(|text| json!({"content": {"parts": [{"text": text}]}})).collect();
        vendor::decode(json!({"model": model, "requests": requests}).to_string().as_bytes()).unwrap()
    };
    let prediction = |value: f32| json!({"embeddings": {"values": [value]}});
    let both = Reply::json(200, &json!({"predictions": [prediction(1.0), prediction(2.0)]}));
    let upstream = Upstream::start([both]).await;
    let backend = vertex(&upstream, key());
    let answer = soon(backend.embed(embed("text-embedding-005", &["a", "b"]))).await.unwrap();
    assert_eq!(answer.embeddings.iter().map(|e| e.values[0]).collect::<Vec<_>>(), [1.0, 2.0]);
    assert_eq!(upstream.asked().len(), 1);
    // One text at a time: as many questions as texts.
    let one = Reply::json(200, &json!({"predictions": [prediction(3.0)]}));
    upstream.answer_from_now_on([one]);
    let answer = soon(backend.embed(embed("gemini-embedding-001", &["a", "b", "c"]))).await.unwrap();
    assert_eq!(answer.embeddings.len(), 3);
    let mut texts: Vec<Value> =
        upstream.asked()[1..].iter().map(|asked| asked.json()["instances"][0]["content"].clone()).collect();
    texts.sort_by_key(Value::to_string);
    assert_eq!(texts, ["a", "b", "c"]);
}

#[tokio::test]
async fn the_models_that_can_be_asked_are_listed() {
    let first = json!({"publisherModels": [
        {"name": "publishers/google/models/gemini-x", "versionId": "default"},
        {"name": "publishers/google/models/imagen-x"},
    ], "nextPageToken": "a/b"});
    let second = json!({"publisherModels": [{"name": "publishers/google/models/text-embedding-005"}]});
    let upstream = Upstream::start([Reply::json(200, &first), Reply::json(200, &second)]).await;
    let models = soon(vertex(&upstream, key()).models()).await.unwrap();
    let listed: Vec<_> =
        models.iter().map(|m| (m.name.as_str(), m.supported_generation_methods[0].as_str())).collect();
    assert_eq!(listed, [("gemini-x", "generateContent"), ("text-embedding-005", "embedContent")]);
    assert_eq!(upstream.asked()[1].path, "/v1beta1/publishers/google/models?pageSize=1000&pageToken=a%2Fb");
}
