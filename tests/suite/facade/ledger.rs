//! Tool loops of clients that lose thought signatures: what the model sees all the same. Over gRPC, where nothing passes
//! through unread.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use agena::domain::model::{Backend, Chunks, Prepared};
use agena::domain::principal::Principal;
use agena::proto::gemini::generative_service_client::GenerativeServiceClient;
use agena::proto::gemini::generative_service_server::GenerativeService;
use agena::proto::gemini::{GenerateContentRequest, GenerateContentResponse};
use agena::proto::vendor;
use agena::service::facade::Drive;
use agena::service::facade::ledger::Ledger;
use agena::service::facade::media::Media;
use agena::service::gemini::Gemini;
use agena::store::Sqlite;
use async_trait::async_trait;
use futures::StreamExt;
use serde_json::{Value, json};
use tonic::metadata::MetadataValue;
use tonic::transport::Channel;

use super::{ANN, BOB, gemini, serve};
use crate::kit::process::Running;
use crate::kit::soon;
use crate::kit::upstream::{Reply, Upstream, chunk, says};

const DUMMY: &str = "skip_thought_signature_validator";

async fn client(server: &Running) -> GenerativeServiceClient<Channel> {
    soon(GenerativeServiceClient::connect(server.url.clone())).await.unwrap()
}

fn request(key: &str, model: &str, contents: &Value) -> tonic::Request<GenerateContentRequest> {
    let tools = json!([{"functionDeclarations": [{"name": "read"}]}]);
    let body = json!({"contents": contents, "tools": tools}).to_string();
    let hub: GenerateContentRequest = vendor::decode(body.as_bytes()).unwrap();
    let mut request = tonic::Request::new(GenerateContentRequest { model: model.to_owned(), ..hub });
    let bearer = MetadataValue::try_from(format!("Bearer {key}")).unwrap();
    request.metadata_mut().insert("authorization", bearer);
    // Found by the rim where there is one.
    request.extensions_mut().insert(Principal::named("ann"));
    request
}

/// The parts of the whole answer, streamed.
async fn streamed(server: &Running, key: &str, model: &str, contents: &Value) -> Vec<Value> {
    let asked = client(server).await.stream_generate_content(request(key, model, contents)).await;
    let mut chunks = asked.unwrap().into_inner();
    let mut parts = Vec::new();
    while let Some(chunk) = soon(chunks.message()).await.unwrap() {
        parts.extend(of(&chunk));
    }
    parts
}

async fn whole(server: &Running, key: &str, model: &str, contents: &Value) -> Vec<Value> {
    of(&client(server).await.generate_content(request(key, model, contents)).await.unwrap().into_inner())
}

fn of(chunk: &GenerateContentResponse) -> Vec<Value> {
    let mut json = Vec::new();
    vendor::encode(chunk, &mut json).unwrap();
    let chunk: Value = serde_json::from_slice(&json).unwrap();
    chunk["candidates"][0]["content"]["parts"].as_array().cloned().unwrap_or_default()
}

fn user(text: &str) -> Value {
    json!({"role": "user", "parts": [{"text": text}]})
}

/// Two calls at once, of which the first is signed, as Gemini does it.
fn calls() -> Value {
    json!([
        {"text": "**Hm**", "thought": true},
        {"text": "I look "},
        {"text": "at both."},
        {"functionCall": {"id": "c1", "name": "read", "args": {"n": 1, "file": "a"}}, "thoughtSignature": "c2lnLTE="},
        {"functionCall": {"id": "c2", "name": "read", "args": {"file": "b"}}},
    ])
}

fn calling() -> Reply {
    Reply::stream(&[chunk(calls(), ""), chunk(json!([{"text": ""}]), "STOP")])
}

/// What a client makes of it: no thoughts, no signatures, and ids of its own if it likes.
fn lossy(id: impl Fn(&str) -> String) -> Value {
    let call =
        |given: &str, args: Value| json!({"functionCall": {"id": id(given), "name": "read", "args": args}});
    let told = |given: &str| json!({"functionResponse": {"id": id(given), "name": "read", "response": {"output": "x"}}});
    json!([
        user("compare a and b"),
        {"role": "model", "parts": [{"text": "I look at both."}, call("c1", json!({"file": "a", "n": 1.0})), call("c2", json!({"file": "b"}))]},
        {"role": "user", "parts": [told("c1"), told("c2")]},
    ])
}

/// The signatures of the calls that reached the model last.
fn reached(upstream: &Upstream) -> Vec<String> {
    let body = upstream.asked().last().unwrap().json();
    let parts =
        body["contents"].as_array().unwrap().iter().flat_map(|content| content["parts"].as_array().unwrap());
    let calls = parts.filter(|part| part.get("functionCall").is_some());
    calls.map(|part| part["thoughtSignature"].as_str().unwrap_or("-").to_owned()).collect()
}

const MODEL: &str = "gemini-3-pro-preview";

#[tokio::test(flavor = "multi_thread")]
async fn signatures_come_back_by_id_by_what_led_there_and_after_a_restart() {
    let upstream = Upstream::start([calling(), says("equal")]).await;
    let settings = gemini("one", &upstream.url());
    let server = serve(tempfile::tempdir().unwrap(), "", &settings);
    let parts = streamed(&server, ANN, MODEL, &json!([user("compare a and b")])).await;
    assert_eq!(parts.iter().filter(|part| part.get("functionCall").is_some()).count(), 2);
    streamed(&server, ANN, MODEL, &lossy(str::to_owned)).await;
    assert_eq!(reached(&upstream), ["c2lnLTE=", "-"]);
    // Another's conversation, word by word.
    streamed(&server, BOB, MODEL, &lossy(str::to_owned)).await;
    assert_eq!(reached(&upstream), [DUMMY, "-"]);
    let server = serve(server.into_home(), "", &settings);
    for changed in [|id: &str| id.to_owned(), |id: &str| format!("changed-{id}")] {
        streamed(&server, ANN, MODEL, &lossy(changed)).await;
        assert_eq!(reached(&upstream), ["c2lnLTE=", "-"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whole_answers_are_remembered_too_and_what_is_signed_stays() {
    let answer = Reply::json(200, &chunk(calls(), "STOP"));
    let done = Reply::json(200, &chunk(json!([{"text": "equal"}]), "STOP"));
    let upstream = Upstream::start([answer, done]).await;
    let server = serve(tempfile::tempdir().unwrap(), "", &gemini("one", &upstream.url()));
    whole(&server, ANN, MODEL, &json!([user("compare a and b")])).await;
    let mut contents = lossy(str::to_owned);
    whole(&server, ANN, MODEL, &contents).await;
    assert_eq!(reached(&upstream), ["c2lnLTE=", "-"]);
    contents[1]["parts"][1]["thoughtSignature"] = "b3du".into();
    whole(&server, ANN, MODEL, &contents).await;
    assert_eq!(reached(&upstream), ["b3du", "-"]);
}

/// A model that says who it is.
struct Named(Mutex<&'static str>, Mutex<Vec<GenerateContentRequest>>);

#[async_trait]
impl Backend for Named {
    fn stream(&self, request: GenerateContentRequest) -> Chunks {
        self.1.lock().unwrap().push(request);
        let answer = vendor::decode(chunk(calls(), "STOP").to_string().as_bytes()).unwrap();
        futures::stream::iter([Ok(answer)]).boxed()
    }

    fn prepare(&self, request: GenerateContentRequest) -> Prepared {
        Prepared { request, changes: Vec::new(), upstream: (*self.0.lock().unwrap()).to_owned() }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backend_gets_only_the_signatures_that_it_made() {
    let model = Arc::new(Named(Mutex::new("one/gemini-3"), Mutex::default()));
    let shelf = Arc::new(Sqlite::open_temporary().unwrap());
    let service = Gemini::new(Drive {
        backend: model.clone(),
        guard: Arc::default(),
        ledger: Ledger::new(shelf, Duration::from_secs(60)),
        media: Media::default(),
        strict: false,
    });
    let begin = request(ANN, MODEL, &json!([user("compare a and b")]));
    service.generate_content(begin).await.unwrap();
    for (upstream, signature) in [
        ("one/gemini-3", "c2lnLTE="),
        ("two/gemini-3", ""),
        ("local/qwen3", ""),
        ("one/gemini-3-flash", "c2lnLTE="),
    ] {
        *model.0.lock().unwrap() = upstream;
        service.generate_content(request(ANN, MODEL, &lossy(str::to_owned))).await.unwrap();
        let asked = model.1.lock().unwrap().pop().unwrap();
        assert_eq!(asked.contents[1].parts[1].thought_signature, signature, "{upstream}");
    }
}
