//! What a client of a model sees when a script stages a fault, and what becomes of the agent's task.

use std::sync::Arc;
use std::time::Duration;

use agena::domain::model::{Backend, ModelCause, ModelError, Staged};
use agena::model::rehearsal::{Rehearsal, Script};
use agena::proto::gemini::GenerateContentRequest;
use futures::StreamExt;
use serde_json::json;

use crate::agent::kit::Bench;
use crate::kit::soon;

fn model(lines: &str) -> Arc<dyn Backend> {
    Arc::new(Rehearsal::new(Script::parse(&format!("rules:\n- do: [{lines}]\n")).unwrap()))
}

/// How many chunks came, and what broke them off.
async fn asked(model: &dyn Backend) -> (usize, Option<ModelError>) {
    let heard: Vec<_> = soon(model.stream(GenerateContentRequest::default()).collect()).await;
    let said = heard.iter().filter(|item| item.is_ok()).count();
    (said, heard.into_iter().find_map(Result::err))
}

#[tokio::test]
async fn every_fault_has_its_cause() {
    use ModelCause::*;
    let status = |status: u16| Some(Staged::Status(status));
    for (line, cause, staged) in [
        ("error: {status: 400}", Invalid, status(400)),
        ("error: {status: 401}", Denied, status(401)),
        ("error: {status: 402}", Exhausted, status(402)),
        ("error: {status: 403}", Forbidden, status(403)),
        ("error: {status: 404}", NotFound, status(404)),
        ("error: {status: 413}", TooLong, status(413)),
        ("error: {status: 429, after: 90s}", Limited, status(429)),
        ("error: {status: 500}", Failed, status(500)),
        ("error: {status: 501}", Unsupported, status(501)),
        ("error: {status: 502}", Broken, status(502)),
        ("error: {status: 503}", Unavailable, status(503)),
        ("error: {status: 504}", Unavailable, status(504)),
        ("error: {status: 529}", Unavailable, status(529)),
        ("reset", Unavailable, Some(Staged::Reset)),
        ("garbage", Broken, Some(Staged::Garbage)),
    ] {
        let (said, error) = asked(&*model(line)).await;
        let error = error.unwrap();
        assert_eq!((said, error.cause, error.staged), (0, cause, staged), "{line}");
        assert_eq!(error.retry_after, line.contains("90s").then_some(Duration::from_secs(90)));
        // The same behind the first byte, and once only.
        let later = model(&format!("say: [a, b], {}, say: c", once(line)));
        let (said, error) = asked(&*later).await;
        let cause = if line == "reset" { Broken } else { cause };
        assert_eq!((said, error.map(|e| (e.cause, e.staged))), (2, Some((cause, staged))), "{line}");
        assert_eq!(asked(&*later).await, (4, None), "{line}");
    }
}

fn once(line: &str) -> String {
    match line.strip_suffix('}') {
        Some(open) => format!("{open}, times: 1}}"),
        None => format!("{line}: {{times: 1}}"),
    }
}

#[tokio::test(start_paused = true)]
async fn silence_is_before_the_first_byte_or_behind_it() {
    for (lines, said) in [("silence", 0), ("say: [a, b], silence", 2)] {
        let mut chunks = model(lines).stream(GenerateContentRequest::default());
        for _ in 0..said {
            chunks.next().await.unwrap().unwrap();
        }
        assert!(tokio::time::timeout(Duration::from_hours(1), chunks.next()).await.is_err(), "{lines}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_ends_with_what_broke_its_model_and_the_next_goes_on() {
    let rules = "rules:\n- when: {text: quiet}\n  do: [say: 'Well, ', silence]\n\
        - do: [say: 'I begin. ', reset: {times: 1}, say: 'All is well.']\n";
    let bench = Bench::start(rules).await;
    let first = bench.talk().ask("go").await;
    assert_eq!((first.state().as_str(), first.text().contains("I begin.")), ("failed", true));
    let second = bench.talk().ask("go").await;
    assert_eq!((second.state().as_str(), second.text().as_str()), ("completed", "I begin. All is well."));
    // A model that says nothing more holds its task until somebody ends it.
    let quiet = json!({"parts": [{"kind": "text", "text": "quiet"}]});
    let heard = bench.talk().stream_until(quiet, |event| event.to_string().contains("Well, ")).await;
    let cancelled = bench.talk().call("tasks/cancel", json!({"id": heard.task()})).await;
    assert_eq!(cancelled["status"]["state"], "canceled", "{cancelled}");
}
