//! What holds on across tasks and restarts, and what must not.

use std::sync::Arc;

use agena::domain::extension::DEVELOPMENT_TOOL;
use serde_json::{Value, json};

use super::kit::{Bench, script, shell};
use crate::kit::A2aSetup;

fn first(text: &str, settings: Value) -> Value {
    json!({"parts": [{"kind": "text", "text": text}], "metadata": {DEVELOPMENT_TOOL: settings}})
}

fn later(context: &Value, text: &str) -> Value {
    json!({"contextId": context, "parts": [{"kind": "text", "text": text}]})
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_operator_takes_back_does_not_live_on_in_a_context() {
    let journal = tempfile::tempdir().unwrap();
    let place = |allow_yolo: bool| {
        let journal = journal.path().join("j.db");
        move |mut setup: A2aSetup| {
            setup.journal = Some(journal);
            setup.agent.options.allow_yolo = allow_yolo;
            setup
        }
    };
    let rules = script(&[shell("echo x >> ran")]);
    let bench = Bench::with(&rules, place(true)).await;
    let free = bench.talk().stream(first("go", json!({"approval_mode": "YOLO"}))).await;
    assert_eq!((free.state().as_str(), bench.read("ran").as_str()), ("completed", "x\n"));
    let (context, workspace) = (free.0[0]["contextId"].clone(), Arc::clone(&bench.workspace));
    bench.server.stop().await;
    let bench = Bench::at(&rules, workspace, place(false)).await;
    let asked = bench.talk().stream(later(&context, "again")).await;
    assert_eq!((asked.state().as_str(), bench.read("ran").as_str()), ("input-required", "x\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_says_nothing_is_not_asked_for_ever() {
    let rules = "rules:\n- when: {text: more}\n  do: [say: I heard more.]\n- do: [wait: 300ms]\n";
    let bench = Bench::start(rules).await;
    let talk = bench.plain_talk();
    let begun = talk
        .stream_until(json!({"parts": [{"kind": "text", "text": "quiet"}]}), |event| {
            event["status"]["state"] == "working"
        })
        .await;
    let heard = talk.say(&begun.task(), "more").await;
    assert_eq!((heard.state().as_str(), heard.text().as_str()), ("completed", "I heard more."));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_background_process_belongs_to_its_context() {
    let start = ("run_shell_command", json!({"command": "echo $$ > pid; sleep 300", "is_background": true}));
    let bench = Bench::with(&script(&[start]), |mut setup| {
        setup.agent.options.mode = agena::agent::policy::Mode::Yolo;
        setup
    })
    .await;
    let begun = bench.talk().ask("go").await;
    assert_eq!(begun.state(), "completed");
    crate::kit::until("it runs", || !bench.read("pid").trim().is_empty()).await;
    let alive = || std::path::Path::new(&format!("/proc/{}", bench.read("pid").trim())).exists();
    assert!(alive());
    let mut other = first("go on", json!({"approval_mode": "PLAN"}));
    other["contextId"] = begun.0[0]["contextId"].clone();
    bench.talk().stream(other).await;
    assert!(alive(), "other settings in the same context ended it");
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_that_cannot_be_had_are_refused_by_their_name() {
    let bench = Bench::start("rules:\n- do: [say: hi]\n").await;
    for (settings, field) in
        [(json!({"model": "zzz"}), "model"), (json!([]), "developer-profile"), (json!("x"), "object")]
    {
        let error = bench.talk().stream(first("go", settings.clone())).await.error();
        assert_eq!(error["code"], -32602, "{settings}: {error}");
        assert!(error.to_string().contains(field), "{settings}: {error}");
    }
}
