//! Cancelling: the task is cancelled when the processes are gone.

use serde_json::json;

use super::kit::{Bench, decision, script, shell};
use crate::kit::until;

/// Ignores what it is asked, and leaves a child that does so too.
const STUBBORN: &str = "trap '' TERM INT HUP; (trap '' TERM; sleep 300) & echo $! > child; echo $$ > parent; \
    while :; do sleep 0.1; done";

fn is_alive(pid: &str) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/status", pid.trim())).unwrap_or_default();
    !status.is_empty() && !status.contains("State:\tZ")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_child_that_ignores_signals_and_forks_is_gone_when_the_task_is_cancelled() {
    let bench = Bench::start(&script(&[shell(STUBBORN)])).await;
    let talk = bench.talk();
    let asked = talk.ask("go").await;
    let confirm = json!({"taskId": asked.task(), "parts": [
        {"kind": "data", "data": decision(&asked.asked()[0], "proceed_once")}]});
    talk.stream_until(confirm, |event| event.to_string().contains("EXECUTING")).await;
    until("the command runs", || !bench.read("parent").trim().is_empty()).await;
    let (parent, child) = (bench.read("parent"), bench.read("child"));
    assert!(is_alive(&parent) && is_alive(&child));
    let started = std::time::Instant::now();
    let cancelled = talk.call("tasks/cancel", json!({"id": asked.task()})).await;
    assert!(started.elapsed().as_secs() < 5, "{:?}", started.elapsed());
    assert_eq!(cancelled["status"]["state"], "canceled");
    assert!(!is_alive(&parent) && !is_alive(&child), "the answer came before they were gone");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_call_can_be_stopped_and_the_task_goes_on() {
    let bench =
        Bench::start(&script(&[shell("echo begun; touch begun; sleep 300"), shell("touch ran")])).await;
    let talk = bench.talk();
    let asked = talk.ask("go").await;
    let calls = asked.asked();
    let yes: Vec<_> =
        calls.iter().map(|call| json!({"kind": "data", "data": decision(call, "proceed_once")})).collect();
    let confirm = json!({"taskId": asked.task(), "parts": yes});
    talk.stream_until(confirm, |event| event.to_string().contains("begun\\n")).await;
    until("the command runs", || bench.path("begun").exists()).await;
    let heard = talk.decide(&asked.task(), &[decision(&calls[0], "stop")]).await;
    let trail = heard.trail();
    assert_eq!(trail[0], "run_shell_command CANCELLED", "{trail:?}");
    assert_eq!(heard.calls()[0]["live_content"], "begun\n");
    assert_eq!((heard.state().as_str(), bench.path("ran").exists()), ("completed", true));
    let late = talk.decide(&asked.task(), &[decision(&calls[0], "stop")]).await;
    assert!(!late.error().is_null(), "{:?}", late.0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_for_an_answer_can_be_cancelled_and_stays_so() {
    let bench = Bench::start(&script(&[shell("touch ran")])).await;
    let asked = bench.talk().ask("go").await;
    let cancelled = bench.talk().call("tasks/cancel", json!({"id": asked.task()})).await;
    assert_eq!(cancelled["status"]["state"], "canceled");
    let late = bench.plain_talk().say(&asked.task(), "yes").await;
    assert!(!late.error().is_null());
    assert!(!bench.path("ran").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_leaves_does_not_stop_the_command() {
    let bench = Bench::start(&script(&[shell("while [ ! -e go ]; do sleep 0.02; done; touch ran")])).await;
    let asked = bench.talk().ask("go").await;
    let confirm = json!({"taskId": asked.task(), "parts": [
        {"kind": "data", "data": decision(&asked.asked()[0], "proceed_once")}]});
    bench.talk().stream_until(confirm, |event| event.to_string().contains("EXECUTING")).await;
    std::fs::write(bench.path("go"), "").unwrap();
    until("the command has ended", || bench.path("ran").exists()).await;
}
