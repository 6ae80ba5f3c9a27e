//! Bytes that pass through to a server of the same dialect.

use std::sync::Arc;

use agena::domain::model::{Backend, Relay, Relayed, Verb};
use agena::model::rehearsal::Rehearsal;
use agena::model::router::table::{Family, Known, Names};
use agena::model::router::{Router, Table};
use agena::telemetry::metrics::Metrics;
use futures::StreamExt;
use serde_json::json;

use super::{KEY, api, shared};
use crate::kit::soon;
use crate::kit::upstream::{Reply, Step, Upstream, chunk};

const BODY: &str = "{ \"contents\": [ {\"parts\":[{\"text\":\"hi\"}]} ],  \"x\": 1.50 }";

fn relay(model: &str, verb: Verb, events: bool) -> Relay {
    Relay { model: model.to_owned(), verb, events, body: BODY.into() }
}

async fn all(answer: Relayed) -> (u16, String) {
    let mut body = Vec::new();
    let mut pieces = answer.body;
    while let Some(piece) = soon(pieces.next()).await {
        body.extend_from_slice(&piece.unwrap());
    }
    (answer.status, String::from_utf8(body).unwrap())
}

/// The default model, and what is asked when it fails.
fn router(metrics: &Metrics, backends: Vec<(Family, Arc<dyn Backend>)>, fallback: &[&str]) -> Router {
    let known = |at: usize, family: Family| Known { name: format!("b{at}"), family };
    let names = Names {
        backends: backends.iter().enumerate().map(|(at, (family, _))| known(at, *family)).collect(),
        model: "gemini-a".to_owned(),
        fallback: fallback.iter().map(|name| (*name).to_owned()).collect(),
        ..Names::default()
    };
    let backends = backends.into_iter().map(|(_, backend)| backend).collect();
    Router::new(Table { names, backends }, Arc::clone(&metrics.models))
}

#[tokio::test]
async fn bytes_pass_both_ways_untouched() {
    let odd = "data:  {\"candidates\" : []}\r\n\r\n: odd\r\n\r\n";
    let upstream = Upstream::start([Reply::text(200, "text/event-stream", odd, "x-secret: 1\r\n")]).await;
    let api = api(&upstream.url());
    for (verb, events, path) in [
        (Verb::Stream, true, "/v1beta/models/gemini-a:streamGenerateContent?alt=sse"),
        (Verb::Stream, false, "/v1beta/models/gemini-a:streamGenerateContent"),
        (Verb::Generate, true, "/v1beta/models/gemini-a:generateContent"),
        (Verb::Count, false, "/v1beta/models/gemini-a:countTokens"),
        (Verb::BatchEmbed, false, "/v1beta/models/gemini-a:batchEmbedContents"),
    ] {
        let answer = soon(api.relay(&relay("gemini-a", verb, events))).await.unwrap().unwrap();
        let names: Vec<String> = answer.headers.keys().map(ToString::to_string).collect();
        assert_eq!(names, ["content-type"]);
        assert_eq!(all(answer).await, (200, odd.to_owned()));
        let asked = upstream.asked().pop().unwrap();
        assert_eq!((asked.path.as_str(), asked.header("x-goog-api-key")), (path, KEY));
        assert_eq!(String::from_utf8(asked.body).unwrap(), BODY);
    }
}

#[tokio::test]
async fn what_refuses_passes_without_the_key() {
    let refusal = format!("{{\"error\": {{\"code\": 400, \"message\": \"bad key {KEY}\"}}}}");
    let upstream =
        Upstream::start([Reply::text(400, "application/json", &refusal, "retry-after: 7\r\n")]).await;
    let answer = soon(api(&upstream.url()).relay(&relay("m", Verb::Generate, false))).await.unwrap().unwrap();
    assert_eq!(answer.headers["retry-after"], "7");
    assert_eq!(all(answer).await, (400, refusal.replace(KEY, "[redacted]")));
}

#[tokio::test]
async fn leaving_ends_the_call_on_the_other_side() {
    let reply = Reply::open().send("data: {}\n\n").then(Step::Silence);
    let upstream = Upstream::start([reply]).await;
    let mut answer =
        soon(api(&upstream.url()).relay(&relay("m", Verb::Stream, true))).await.unwrap().unwrap();
    assert!(soon(answer.body.next()).await.unwrap().is_ok());
    drop(answer);
    upstream.was_left(1).await;
}

#[tokio::test]
async fn who_fails_before_the_first_byte_is_passed_over_and_rests() {
    for failing in [
        Reply::json(429, &json!({"error": {"code": 429}})),
        Reply::json(503, &json!({"error": {"code": 503}})),
        Reply::reset(),
        Reply::open().then(Step::Reset),
    ] {
        let (down, up) =
            (Upstream::start([failing]).await, Upstream::start([Reply::json(200, &json!({"a": 1}))]).await);
        let metrics = Metrics::default();
        let backends =
            vec![(Family::Google, shared(api(&down.url()))), (Family::Any, shared(api(&up.url())))];
        let router = router(&metrics, backends, &["other"]);
        for _ in 0..2 {
            let answer =
                soon(router.relay(&relay("gemini-a", Verb::Generate, false))).await.unwrap().unwrap();
            assert_eq!(all(answer).await, (200, r#"{"a":1}"#.to_owned()));
        }
        assert_eq!((down.asked().len(), up.asked().len()), (1, 2), "it rests");
        assert_eq!(up.asked()[0].path, "/v1beta/models/other:generateContent");
        let counted = router.relay(&relay("gemini-a", Verb::Count, false)).await;
        assert!(counted.is_none(), "a body that may name its model is not for another one");
    }
}

#[tokio::test]
async fn what_nobody_takes_as_bytes_goes_the_typed_way() {
    let metrics = Metrics::default();
    let down = Upstream::start([Reply::json(503, &json!({"error": {"code": 503, "message": "down"}}))]).await;
    let rehearsal = || shared(Rehearsal::built_in().unwrap());
    let alone = router(&metrics, vec![(Family::Google, rehearsal())], &[]);
    assert!(alone.relay(&relay("gemini-a", Verb::Generate, false)).await.is_none());
    let backends = vec![(Family::Google, shared(api(&down.url()))), (Family::Rehearsal, rehearsal())];
    let behind = router(&metrics, backends, &["rehearsal"]);
    assert!(soon(behind.relay(&relay("gemini-a", Verb::Generate, false))).await.is_none());
    let only = router(&metrics, vec![(Family::Google, shared(api(&down.url())))], &[]);
    let refused = soon(only.relay(&relay("gemini-a", Verb::Generate, false))).await.unwrap().unwrap();
    assert_eq!(all(refused).await, (503, r#"{"error":{"code":503,"message":"down"}}"#.to_owned()));
}

#[tokio::test]
async fn what_passed_is_counted() {
    let mut last = chunk(json!([{"text": "a"}]), "STOP");
    last["usageMetadata"] = json!({"promptTokenCount": 11, "candidatesTokenCount": 7});
    let upstream = Upstream::start([Reply::stream(&[chunk(json!([{"text": "a"}]), ""), last])]).await;
    let metrics = Metrics::default();
    let router = router(&metrics, vec![(Family::Google, shared(api(&upstream.url())))], &[]);
    let answer = soon(router.relay(&relay("gemini-a", Verb::Stream, true))).await.unwrap().unwrap();
    all(answer).await;
    let told = metrics.print();
    for words in ["answered", " 11", " 7"] {
        assert!(told.contains(words), "{words} in {told}");
    }
}
