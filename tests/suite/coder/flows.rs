//! The sequences of that server: each as it is recorded, and what they leave behind.

use serde_json::{Value, json};

use super::client::{Coder, Seen};
use crate::a2a::normal::{Names, compare};
use crate::agent::kit::{Bench, script, shell, write};

const UPDATE: &str = "tool-call-update";

/// Ids, times and the place of the workspace differ from run to run.
fn record(bench: &Bench, name: &str, streams: &[&Seen]) {
    let text = json!(streams.iter().map(|seen| &seen.0).collect::<Vec<_>>()).to_string();
    let text = text.replace(bench.workspace.path().to_str().unwrap(), "/workspace");
    compare("coder", name, &Names::default().of(&serde_json::from_str::<Value>(&text).unwrap()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plain_answer_is_four_events_and_the_next_turn_goes_on_in_the_task() {
    let rules = json!({"rules": [
        {"when": {"text": "hello"}, "do": [{"think": {"subject": "S", "description": "D"}}, {"say": "Hi."}]},
        {"do": [{"say": "Again."}]},
    ]});
    let bench = Bench::start(&rules.to_string()).await;
    let coder = Coder::of(&bench);
    let first = coder.begin("hello").await;
    let expected = [
        "task",
        "state-change working",
        "thought working",
        "text-content working",
        "state-change input-required",
    ];
    assert_eq!(first.trail(), expected);
    assert_eq!((&first.0[0]["status"]["state"], &first.last()["final"]), (&json!("submitted"), &json!(true)));
    let second = coder.say(&first.task(), "more").await;
    assert_eq!(
        second.trail(),
        ["state-change working", "text-content working", "state-change input-required"]
    );
    assert_eq!((second.task(), second.text().as_str()), (first.task(), "Again."));
    record(&bench, "plain", &[&first, &second]);
    let task = coder.call("tasks/get", json!({"id": first.task()})).await;
    assert_eq!(task["history"].as_array().unwrap().len(), 4, "{task}");
    assert_eq!(task["metadata"]["__persistedState"]["_taskState"], "input-required");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_is_asked_for_and_approved() {
    let bench = Bench::start(&script(&[write("a.txt", "one\n")])).await;
    let coder = Coder::of(&bench);
    let first = coder.begin("go").await;
    assert_eq!(
        first.trail(),
        [
            "task",
            "state-change working",
            "state-change working",
            "tool-call-confirmation awaiting_approval",
            "state-change input-required"
        ]
    );
    let details = &first.asked()["confirmationDetails"];
    assert_eq!((&details["type"], &details["newContent"]), (&json!("edit"), &json!("one\n")));
    assert!(!bench.path("a.txt").exists());
    let second = coder.answer(&first.task(), first.answer("proceed_once")).await;
    assert_eq!(
        second.trail(),
        [
            &format!("{UPDATE} scheduled"),
            &format!("{UPDATE} executing"),
            &format!("{UPDATE} success"),
            "state-change working",
            "text-content working",
            "state-change input-required"
        ]
    );
    assert_eq!(bench.read("a.txt"), "one\n");
    record(&bench, "approved", &[&first, &second]);
    let task = coder.call("tasks/get", json!({"id": first.task()})).await;
    assert_eq!(task["artifacts"][0]["name"], "a.txt", "{task}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_can_be_changed_or_refused() {
    for (name, answer, left) in [
        ("modified", json!({"outcome": "modify_with_editor", "newContent": "two\n"}), "two\n"),
        ("always", json!({"outcome": "proceed_always_and_save"}), "one\n"),
        ("cancelled", json!({"outcome": "cancel"}), ""),
    ] {
        let bench = Bench::start(&script(&[write("a.txt", "one\n")])).await;
        let coder = Coder::of(&bench);
        let first = coder.begin("go").await;
        let mut answer = answer;
        answer["callId"] = first.asked()["request"]["callId"].clone();
        let second = coder.answer(&first.task(), answer).await;
        assert_eq!(second.last()["status"]["state"], "input-required", "{:?}", second.0);
        assert_eq!(bench.read("a.txt"), left, "{name}");
        record(&bench, name, &[&first, &second]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_nobody_knows_decides_nothing() {
    let bench = Bench::start(&script(&[write("a.txt", "one\n")])).await;
    let coder = Coder::of(&bench);
    let first = coder.begin("go").await;
    for answer in [
        first.answer("modify_with_editor"),
        first.answer("whatever"),
        json!({"callId": "other", "outcome": "proceed_once"}),
    ] {
        let refused = coder.answer(&first.task(), answer).await;
        assert_eq!(refused.last()["error"]["code"], -32602, "{:?}", refused.0);
    }
    assert!(!bench.path("a.txt").exists());
    let second = coder.answer(&first.task(), first.answer("proceed_once")).await;
    assert_eq!(second.last()["status"]["state"], "input-required");
    assert_eq!(bench.read("a.txt"), "one\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn live_output_is_an_artifact_that_grows_by_what_is_new() {
    let command = "echo one; while [ ! -e go ]; do sleep 0.02; done; echo two";
    let bench = Bench::start(&script(&[shell(command)])).await;
    let coder = Coder::of(&bench);
    let first = coder.begin("go").await;
    assert_eq!(first.asked()["confirmationDetails"]["command"], command);
    let go = bench.path("go");
    let answer =
        json!({"taskId": first.task(), "parts": [{"kind": "data", "data": first.answer("proceed_once")}]});
    let second = coder
        .stream(answer, |event| {
            if event["kind"] == "artifact-update" {
                // Only now may it go on: what it printed was seen while it ran.
                std::fs::write(&go, "").unwrap();
            }
            false
        })
        .await;
    assert_eq!(second.output(), "one\ntwo\n", "{:?}", second.0);
    let id = format!("tool-{}-output", first.asked()["request"]["callId"].as_str().unwrap());
    let updates: Vec<_> = second.0.iter().filter(|event| event["kind"] == "artifact-update").collect();
    assert!(updates.iter().all(|update| update["artifact"]["artifactId"] == id.as_str()));
    assert_ne!(updates[0]["append"], true, "nothing was there to append to");
    assert!(second.trail().contains(&format!("{UPDATE} success")));
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_comes_later_has_what_was_printed_and_then_what_is_new() {
    let command = "echo one; while [ ! -e go ]; do sleep 0.02; done; echo two";
    let bench = Bench::start(&script(&[shell(command)])).await;
    let coder = Coder::of(&bench);
    let first = coder.begin("go").await;
    let answer =
        json!({"taskId": first.task(), "parts": [{"kind": "data", "data": first.answer("proceed_once")}]});
    coder.stream(answer, |event| event["kind"] == "artifact-update").await;
    let (go, params) = (bench.path("go"), json!({"id": first.task()}));
    let later = crate::kit::soon(coder.read("tasks/resubscribe", params, |event| {
        if event["kind"] == "task" {
            std::fs::write(&go, "").unwrap();
        }
        false
    }))
    .await;
    let before = later.0[0]["artifacts"][0]["parts"][0]["text"].as_str().unwrap();
    assert_eq!(format!("{before}{}", later.output()), "one\ntwo\n");
    assert!(later.0[1..].iter().all(|event| event["kind"] != "artifact-update" || event["append"] == true));
    assert_eq!(
        (&later.last()["final"], &later.last()["status"]["state"]),
        (&json!(true), &json!("input-required"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_cancelled_and_a_failed_one_goes_on_in_another() {
    let rules = json!({"rules": [
        {"when": {"text": "still"}, "do": [{"say": "Here."}]},
        {"when": {"text": "fail"}, "do": [{"error": {"status": 400, "message": "no such thing"}}]},
        {"when": {"text": "go"}, "do": [{"call": {"tool": "run_shell_command", "with": {"command": "true"}}}]},
    ]});
    let bench = Bench::start(&rules.to_string()).await;
    let coder = Coder::of(&bench);
    let first = coder.begin("go").await;
    let cancelled = coder.call("tasks/cancel", json!({"id": first.task()})).await;
    assert_eq!(cancelled["status"]["state"], "canceled", "{cancelled}");
    let failed = coder.begin("fail").await;
    let last = failed.last();
    assert_eq!((&last["status"]["state"], &last["final"]), (&json!("failed"), &json!(true)));
    assert!(last["metadata"]["error"].as_str().unwrap().contains("no such thing"), "{last}");
    record(&bench, "failed", &[&failed]);
    let next = coder.say(&failed.task(), "still there?").await;
    assert_eq!(next.trail()[0], "task");
    assert_ne!(next.task(), failed.task(), "what has ended does not change");
    assert_eq!(next.0[0]["contextId"], failed.0[0]["contextId"]);
    assert_eq!((next.text().as_str(), &next.last()["status"]["state"]), ("Here.", &json!("input-required")));
}

#[tokio::test(flavor = "multi_thread")]
async fn metadata_beside_the_message_is_heard_and_other_clients_see_their_own_dialect() {
    let bench = Bench::start(&script(&[shell("true")])).await;
    let coder = Coder::of(&bench);
    let message = super::client::named(json!({"parts": [{"kind": "text", "text": "go"}]}));
    let params = json!({"message": message, "metadata": coder.settings()});
    let first = crate::kit::soon(coder.read("message/stream", params, |_| false)).await;
    assert_eq!(first.trail().last().unwrap(), "state-change input-required");
    let native = bench.server.call("GET", &format!("/tasks/{}", first.task()), None).await;
    assert_eq!(native["status"]["state"], "TASK_STATE_INPUT_REQUIRED");
    assert!(native.get("metadata").is_none(), "{native}");
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_follows_a_task_sees_that_it_is_cancelled() {
    let bench = Bench::start(&script(&[shell("echo one; sleep 60")])).await;
    let coder = Coder::of(&bench);
    let first = coder.begin("go").await;
    let data = json!({"kind": "data", "data": first.answer("proceed_once")});
    let answer = json!({"taskId": first.task(), "parts": [data]});
    coder.stream(answer, |event| event["kind"] == "artifact-update").await;
    let (told, heard) = tokio::sync::oneshot::channel();
    let (follower, params, mut told) = (coder.clone(), json!({"id": first.task()}), Some(told));
    let following = tokio::spawn(async move {
        let told = |event: &Value| {
            if event["kind"] == "task" {
                told.take().unwrap().send(()).unwrap();
            }
            false
        };
        crate::kit::soon(follower.read("tasks/resubscribe", params, told)).await
    });
    crate::kit::soon(heard).await.unwrap();
    coder.call("tasks/cancel", json!({"id": first.task()})).await;
    let seen = following.await.unwrap();
    let last = seen.last();
    assert_eq!((&last["status"]["state"], &last["final"]), (&json!("canceled"), &json!(true)));
    assert!(seen.trail().contains(&format!("{UPDATE} cancelled")), "{:?}", seen.trail());
}
