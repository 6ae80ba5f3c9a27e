//! What a decision comes to: each outcome, and each answer that does not fit.

use std::sync::Arc;

use serde_json::{Value, json};

use super::kit::{Bench, Heard, decision, script, shell, write};

async fn asked(bench: &Bench) -> (Heard, String, Value) {
    let heard = bench.talk().ask("go").await;
    assert_eq!(heard.state(), "input-required", "{:?}", heard.0);
    let (task, call) = (heard.task(), heard.asked()[0].clone());
    (heard, task, call)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rejection_runs_nothing_and_its_reason_reaches_the_model() {
    let bench = Bench::start(&script(&[shell("touch ran")])).await;
    let (_, task, call) = asked(&bench).await;
    let mut no = decision(&call, "cancel");
    no["reject_reason"] = json!("use make instead");
    let heard = bench.talk().decide(&task, &[no]).await;
    assert_eq!(heard.trail(), ["run_shell_command CANCELLED"]);
    assert_eq!(heard.calls()[0]["decision"]["reject_reason"], "use make instead");
    assert!(heard.text().contains("use make instead"), "{}", heard.text());
    assert_eq!(heard.state(), "completed");
    assert!(!bench.path("ran").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edited_proposal_is_what_is_written() {
    let bench = Bench::start(&script(&[write("a.txt", "theirs\n")])).await;
    let (_, task, call) = asked(&bench).await;
    let mut mine = decision(&call, "proceed_once");
    mine["file_details"] = json!({"new_content": "mine\n"});
    let heard = bench.talk().decide(&task, &[mine]).await;
    assert_eq!(bench.read("a.txt"), "mine\n");
    let last = heard.calls().pop().unwrap();
    assert_eq!((&last["status"], &last["decision"]["modified"]), (&json!("SUCCEEDED"), &json!(true)));
    assert!(heard.text().contains("mine"), "the model hears what was written: {}", heard.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn always_holds_in_its_context_and_nowhere_else() {
    let bench = Bench::start(&script(&[write("a.txt", "{text}")])).await;
    let (first, task, call) = asked(&bench).await;
    bench.talk().decide(&task, &[decision(&call, "proceed_always")]).await;
    let context = first.0[0]["contextId"].clone();
    let again = json!({"contextId": context, "parts": [{"kind": "text", "text": "again"}]});
    let heard = bench.talk().stream(again).await;
    assert_eq!(heard.trail(), ["write_file PENDING", "write_file EXECUTING", "write_file SUCCEEDED"]);
    assert_eq!((heard.state(), bench.read("a.txt")), ("completed".to_owned(), "again".to_owned()));
    let (other, ..) = asked(&bench).await;
    assert_eq!(other.asked().len(), 1, "another context is asked");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_does_not_fit_is_refused_and_changes_nothing() {
    let bench = Bench::start(&script(&[shell("touch ran")])).await;
    let (_, task, call) = asked(&bench).await;
    let mut stale = decision(&call, "proceed_once");
    stale["fingerprint"] = json!("something else");
    let mut edited = decision(&call, "proceed_once");
    edited["file_details"] = json!({"new_content": "x"});
    for (wrong, field) in [
        (decision(&call, "proceed_never"), "message.parts[0].data.selected_option_id"),
        (decision(&json!({"tool_call_id": "none"}), "proceed_once"), "message.parts[0].data.tool_call_id"),
        (stale, "message.parts[0].data.fingerprint"),
        (edited, "message.parts[0].data.file_details"),
        (json!({"tool_call_id": 5}), "message.parts[0].data"),
    ] {
        let heard = bench.talk().decide(&task, std::slice::from_ref(&wrong)).await;
        let error = heard.error();
        assert_eq!(error["code"], -32602, "{wrong}: {error}");
        assert!(error.to_string().contains(field), "{wrong}: {error}");
    }
    let homeless =
        bench.talk().stream(json!({"parts": [{"kind": "data", "data": decision(&call, "cancel")}]})).await;
    assert!(homeless.error().to_string().contains("message.taskId"), "{:?}", homeless.0);
    let now = bench.talk().call("tasks/get", json!({"id": task})).await;
    assert_eq!(now["status"]["state"], "input-required");
    assert_eq!(now["history"].as_array().unwrap().len(), 1, "what was refused was not said");
    let right = bench.talk().decide(&task, &[decision(&call, "proceed_once")]).await;
    assert_eq!((right.state(), bench.path("ran").exists()), ("completed".to_owned(), true));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_clients_one_wins_and_both_see_the_same() {
    let bench = Bench::start(&script(&[shell("echo x >> ran; sleep 0.2")])).await;
    let (_, task, call) = asked(&bench).await;
    let (yes, no) = (decision(&call, "proceed_once"), decision(&call, "cancel"));
    let (one, two) = (bench.talk(), bench.talk());
    let (one, two) = tokio::join!(
        one.decide(&task, std::slice::from_ref(&yes)),
        two.decide(&task, std::slice::from_ref(&no))
    );
    let (winner, loser) = if one.error().is_null() { (one, two) } else { (two, one) };
    let error = loser.error();
    let verdict = winner.calls().pop().unwrap()["decision"]["selected_option_id"].clone();
    assert!(!error.is_null(), "one of them came too late");
    let ran = bench.read("ran").lines().count();
    assert_eq!(ran, usize::from(verdict == "proceed_once"));
    let told = error.to_string();
    assert!(told.contains(verdict.as_str().unwrap()) || told.contains("has ended"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn several_calls_are_decided_in_one_message_or_one_by_one() {
    let calls = script(&[shell("echo 1 >> ran"), shell("echo 2 >> ran"), shell("echo 3 >> ran")]);
    let bench = Bench::start(&calls).await;
    let heard = bench.talk().ask("go").await;
    let (task, asked) = (heard.task(), heard.asked());
    assert_eq!(asked.len(), 3, "all are asked for at once");
    // The second waits for the first: nothing overtakes, and nothing hangs.
    let partial = bench.talk().decide(&task, &[decision(&asked[1], "proceed_once")]).await;
    assert_eq!(partial.state(), "input-required");
    assert_eq!(bench.read("ran"), "");
    let rest = [decision(&asked[0], "proceed_once"), decision(&asked[2], "cancel")];
    let rest = bench.talk().decide(&task, &rest).await;
    assert_eq!((rest.state().as_str(), bench.read("ran").as_str()), ("completed", "1\n2\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_survives_a_restart() {
    let journal = tempfile::tempdir().unwrap();
    let place = |setup| crate::kit::A2aSetup { journal: Some(journal.path().join("j.db")), ..setup };
    let rules = script(&[write("a.txt", "x\n")]);
    let bench = Bench::with(&rules, place).await;
    let (_, task, call) = asked(&bench).await;
    let workspace = Arc::clone(&bench.workspace);
    bench.server.stop().await;
    let bench = Bench::at(&rules, workspace, place).await;
    let shown = bench.talk().call("tasks/get", json!({"id": task})).await;
    assert_eq!(shown["status"]["message"]["parts"][1]["data"]["tool_call_id"], call["tool_call_id"]);
    let heard = bench.talk().decide(&task, &[decision(&call, "proceed_once")]).await;
    assert_eq!(heard.trail(), ["write_file EXECUTING", "write_file SUCCEEDED"]);
    assert_eq!((heard.state().as_str(), bench.read("a.txt").as_str()), ("completed", "x\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_changed_since_it_was_shown_is_not_written() {
    let bench = Bench::start(&script(&[write("a.txt", "new\n")])).await;
    std::fs::write(bench.path("a.txt"), "old\n").unwrap();
    let (_, task, call) = asked(&bench).await;
    std::fs::write(bench.path("a.txt"), "changed meanwhile\n").unwrap();
    let heard = bench.talk().decide(&task, &[decision(&call, "proceed_once")]).await;
    let last = heard.calls().pop().unwrap();
    assert_eq!((&last["status"], &last["error"]["type"]), (&json!("FAILED"), &json!("file_changed")));
    assert_eq!(bench.read("a.txt"), "changed meanwhile\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_has_ended_is_gone_on_with_beside_it() {
    let bench = Bench::start("rules:\n- do: [say: 'You said: {text}']\n").await;
    let first = bench.talk().ask("one").await;
    assert_eq!(first.state(), "completed");
    let second = bench.talk().say(&first.task(), "two").await;
    assert_eq!((second.state().as_str(), second.text().as_str()), ("completed", "You said: two"));
    assert_ne!(first.task(), second.task());
    assert_eq!(second.0[0]["contextId"], first.0[0]["contextId"]);
    assert_eq!(second.0[0]["history"][0]["referenceTaskIds"], json!([first.task()]));
}
