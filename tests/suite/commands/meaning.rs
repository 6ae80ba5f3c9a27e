//! What the built-in commands do.

use serde_json::json;

use super::{execute, said, settled, told};
use crate::agent::kit::{Bench, decision, script, shell, write};
use crate::kit::OTHER;

/// A context with a task in it.
async fn context(bench: &Bench, text: &str) -> String {
    let heard = bench.talk().ask(text).await;
    heard.0[0]["contextId"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn commands_tell_what_holds_in_a_context_and_change_it() {
    let bench = Bench::start(r#"{"rules": [{"do": [{"say": "Hello."}]}]}"#).await;
    let (talk, context) = (bench.talk(), context(&bench, "hi").await);
    for (line, holds) in [
        ("about", "Approval mode: default"),
        ("tools", "write_file - "),
        ("stats", "Tool calls: 0 succeeded"),
        ("model", "The model of this context is rehearsal."),
        ("model set rehearsal", "The model of this context is rehearsal."),
        ("approval-mode", "is default."),
        ("approval-mode set auto-edit", "is auto_edit."),
        ("approval-mode show", "is auto_edit."),
        ("about", "Approval mode: auto_edit"),
        ("memory", "No file tells the model anything"),
        ("mcp", "No MCP server is configured."),
        ("rules", "Nothing is always allowed in this context."),
        ("restore", "There are no checkpoints in this context."),
        ("compress", "The conversation is too short"),
    ] {
        let text = told(&talk, &context, line).await;
        assert!(text.contains(holds), "/{line}: {text}");
    }
    assert!(!told(&talk, &context, "tools").await.contains("restore_files"), "that one is for commands");
}

#[tokio::test]
async fn the_model_hears_nothing_of_commands_and_forgets_when_it_is_told_to() {
    let bench = Bench::start(r#"{"rules": [{"do": [{"say": "Hello."}]}]}"#).await;
    let asked = bench.server.agent.asked.clone();
    let (talk, context) = (bench.talk(), context(&bench, "first words").await);
    told(&talk, &context, "help").await;
    let say = |text: &str| json!({"contextId": context, "parts": [{"kind": "text", "text": text}]});
    talk.stream(say("second words")).await;
    let last = || format!("{:?}", asked.lock().unwrap().last().unwrap().contents);
    assert!(last().contains("first words") && !last().contains("/help"), "{}", last());
    told(&talk, &context, "clear").await;
    talk.stream(say("third words")).await;
    assert!(last().contains("third words") && !last().contains("first words"), "{}", last());
}

#[tokio::test]
async fn a_fact_is_added_only_when_that_is_allowed() {
    let bench = Bench::start("").await;
    let talk = bench.talk();
    for (option, state, written) in [("cancel", "failed", ""), ("proceed_once", "completed", "- likes tea")] {
        let executed = execute(&talk, "", "memory add likes tea").await;
        assert_eq!(executed["status"], "AWAITING_ACTION_CONFIRMATION", "{executed}");
        assert_eq!(bench.read("GEMINI.md"), "", "nothing is written unasked");
        let task = settled(&talk, &executed).await;
        assert_eq!(task["status"]["state"], "input-required");
        let call =
            task["status"]["message"]["parts"].as_array().unwrap().iter().find(|p| p["kind"] == "data");
        let heard =
            talk.decide(task["id"].as_str().unwrap(), &[decision(&call.unwrap()["data"], option)]).await;
        assert_eq!(heard.state(), state);
        assert!(bench.read("GEMINI.md").contains(written));
    }
    let again = execute(&talk, "", "init").await;
    assert!(said(&settled(&talk, &again).await).contains("GEMINI.md already"));
}

#[tokio::test]
async fn rules_are_listed_and_taken_back_by_their_owner_alone() {
    let bench = Bench::start(&script(&[shell("touch made")])).await;
    let talk = bench.talk();
    let asked = talk.ask("go").await;
    let context = asked.0[0]["contextId"].as_str().unwrap().to_owned();
    talk.decide(&asked.task(), &[decision(&asked.asked()[0], "proceed_always")]).await;
    let listed = told(&talk, &context, "rules").await;
    let id = listed.split(' ').next().unwrap().to_owned();
    assert!(listed.contains("the command `touch`"), "{listed}");

    let other = talk.as_key(OTHER);
    assert_eq!(told(&other, &context, "rules").await, "Nothing is always allowed in this context.");
    let revoked = execute(&other, &context, &format!("rules revoke {id}")).await;
    assert_eq!(settled(&other, &revoked).await["status"]["state"], "failed");
    assert!(told(&talk, &context, &format!("rules revoke {id}")).await.contains("is gone"));
    assert_eq!(told(&talk, &context, "rules").await, "Nothing is always allowed in this context.");
}

#[tokio::test]
async fn another_principal_sees_no_checkpoint() {
    let bench = Bench::start(&script(&[write("a.txt", "a")])).await;
    let talk = bench.talk();
    let asked = talk.ask("go").await;
    let context = asked.0[0]["contextId"].as_str().unwrap().to_owned();
    let done = talk.decide(&asked.task(), &[decision(&asked.asked()[0], "proceed_once")]).await;
    let id = done.calls().last().unwrap()["checkpoint_id"].as_str().unwrap().to_owned();
    assert!(told(&talk, &context, "restore").await.starts_with(&id));
    let other = talk.as_key(OTHER);
    assert_eq!(told(&other, &context, "restore").await, "There are no checkpoints in this context.");
    let refused = execute(&other, &context, &format!("restore apply {id}")).await;
    assert!(said(&settled(&other, &refused).await).starts_with("there is no checkpoint"));
}
