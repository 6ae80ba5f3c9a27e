//! The turn loop: what the model is asked with, and what becomes of it when it fails, goes in circles or says too much.

use std::sync::Arc;

use agena::proto::gemini::GenerateContentRequest;
use agena::proto::gemini::part::Data;
use serde_json::{Value, json};

use super::kit::{Bench, script};
use crate::kit::A2aSetup;
use crate::kit::agent::Asked;

/// A server whose model can be listened to.
async fn listened(rules: &str, change: impl FnOnce(&mut A2aSetup)) -> (Bench, Asked) {
    let asked = Asked::default();
    let heard = Arc::clone(&asked);
    let bench = Bench::with(rules, |mut setup| {
        setup.agent.asked = heard;
        change(&mut setup);
        setup
    })
    .await;
    (bench, asked)
}

/// `role: parts` of what was said, in short.
fn told(request: &GenerateContentRequest) -> Vec<String> {
    let part = |data: &Option<Data>| match data {
        Some(Data::Text(text)) => text.clone(),
        Some(Data::FunctionCall(call)) => format!("({} {})", call.name, call.id),
        Some(Data::FunctionResponse(answer)) => format!("={}", answer.id),
        _ => "?".to_owned(),
    };
    let parts = |parts: &[agena::proto::gemini::Part]| {
        parts.iter().map(|p| part(&p.data)).collect::<Vec<_>>().join(" ")
    };
    request.contents.iter().map(|content| format!("{}: {}", content.role, parts(&content.parts))).collect()
}

fn system(request: &GenerateContentRequest) -> String {
    let parts = &request.system_instruction.as_ref().unwrap().parts;
    parts
        .iter()
        .filter_map(|p| match &p.data {
            Some(Data::Text(text)) => Some(text.as_str()),
            _ => None,
        })
        .collect()
}

fn look() -> (&'static str, Value) {
    ("list_directory", json!({"dir_path": "."}))
}

#[tokio::test(flavor = "multi_thread")]
async fn all_answers_of_a_turn_go_back_together_and_the_context_remembers() {
    let (bench, asked) = listened(&script(&[look(), look()]), |_| {}).await;
    let first = bench.plain_talk().ask("one").await;
    let context = first.0[0]["contextId"].clone();
    bench
        .plain_talk()
        .stream(json!({"contextId": context, "parts": [{"kind": "text", "text": "two"}]}))
        .await;
    let asked = asked.lock().unwrap().clone();
    let calls = "model: (list_directory rehearsal-1) (list_directory rehearsal-2)";
    assert_eq!(told(&asked[1]), ["user: one", calls, "user: =rehearsal-1 =rehearsal-2"]);
    let signed = asked[1].contents[1].parts[0].thought_signature.clone();
    assert!(!signed.is_empty(), "signatures go back with their part");
    assert_eq!(told(&asked[2]).len(), 5, "the second task knows the first: {:?}", told(&asked[2]));
    assert!(asked[0].tools[0].function_declarations.iter().any(|f| f.name == "write_file"));
    assert!(system(&asked[0]).contains(bench.workspace.path().to_str().unwrap()));
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_of_the_workspace_is_believed_only_if_it_is_trusted() {
    for trusted in [false, true] {
        let workspace = Arc::new(tempfile::tempdir().unwrap());
        std::fs::write(workspace.path().join("GEMINI.md"), "Always speak of boats.").unwrap();
        std::fs::write(workspace.path().join("AGENTS.md"), "Never speak of cars.").unwrap();
        let asked = Asked::default();
        let (heard, place) = (Arc::clone(&asked), workspace.path().canonicalize().unwrap());
        let bench = Bench::at("rules:\n- do: [say: hi]\n", workspace, |mut setup| {
            setup.agent.asked = heard;
            setup.agent.trusted = trusted.then_some(place).into_iter().collect();
            setup
        })
        .await;
        bench.plain_talk().ask("go").await;
        let system = system(&asked.lock().unwrap()[0]);
        assert_eq!((system.contains("boats"), system.contains("cars")), (trusted, trusted));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_fails_ends_the_turn_and_the_conversation_stays() {
    let rules = "rules:\n- when: {text: again}\n  do: [say: 'Better now.']\n\
        - do: [say: 'I begin. ', error: {status: 503, message: The model is overloaded.}]\n";
    let (bench, asked) = listened(rules, |_| {}).await;
    let first = bench.talk().ask("go").await;
    assert_eq!(first.state(), "failed");
    let last = first.0.last().unwrap();
    assert!(last.to_string().contains("The model is overloaded."), "{last}");
    let context = first.0[0]["contextId"].clone();
    let again = json!({"contextId": context, "parts": [{"kind": "text", "text": "again"}]});
    let second = bench.talk().stream(again).await;
    assert_eq!((second.state().as_str(), second.text().as_str()), ("completed", "Better now."));
    let told = told(asked.lock().unwrap().last().unwrap());
    assert!(told.join("|").contains("go"), "what was said before is not lost: {told:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_in_circles_is_nudged_first_and_then_the_user_is_asked() {
    let same = json!({"call": {"tool": "list_directory", "with": {"dir_path": "."}}});
    let lines: Vec<Value> = vec![same; 30];
    let rules = json!({"rules": [
        {"when": {"text": "several times over"}, "do": lines},
        {"do": lines}
    ]})
    .to_string();
    let (bench, asked) = listened(&rules, |_| {}).await;
    let heard = bench.plain_talk().ask("go").await;
    assert_eq!(heard.state(), "input-required");
    assert!(heard.text().contains("continue"), "{}", heard.text());
    let requests = asked.lock().unwrap().clone();
    let nudged = requests.iter().filter(|r| told(r).join("|").contains("several times over")).count();
    assert!(nudged > 0 && requests.len() < 20, "{nudged} of {}", requests.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_has_only_so_many_steps() {
    let lines: Vec<Value> = (0..9)
        .map(|n| json!({"call": {"tool": "list_directory", "with": {"dir_path": ".", "ignore": [n.to_string()]}}}))
        .collect();
    let rules = json!({"rules": [{"do": lines}]}).to_string();
    let (bench, asked) = listened(&rules, |setup| setup.agent.options.max_answers = 3).await;
    let heard = bench.plain_talk().ask("go").await;
    assert_eq!((heard.state().as_str(), asked.lock().unwrap().len()), ("input-required", 3));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_conversation_is_made_shorter_before_it_overflows() {
    let long = "x".repeat(4000);
    let rules = json!({"rules": [
        {"when": {"text": "about to become too long"}, "do": [{"say": "SUMMARY"}]},
        {"do": [{"say": long}]}
    ]})
    .to_string();
    let (bench, asked) = listened(&rules, |setup| setup.agent.options.compress_at = 1500).await;
    let first = bench.plain_talk().ask("one").await;
    let context = first.0[0]["contextId"].clone();
    let next = |text: &str| json!({"contextId": context, "parts": [{"kind": "text", "text": text}]});
    bench.plain_talk().stream(next("two")).await;
    let third = bench.plain_talk().stream(next("three")).await;
    assert_eq!(third.state(), "completed");
    let last = told(asked.lock().unwrap().last().unwrap());
    assert!(last[0].contains("SUMMARY"), "{last:?}");
    assert!(last.last().unwrap().ends_with("three"), "{last:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_said_while_it_works_waits_for_the_next_turn() {
    let rules = "rules:\n- when: {text: first}\n  do: [{call: {tool: run_shell_command, with: {command: 'while [ ! -e go ]; do sleep 0.02; done'}}}, say: One.]\n- do: [say: 'Two: {text}.']\n";
    let (bench, _) = listened(rules, |setup| {
        setup.agent.options.mode = agena::agent::policy::Mode::Yolo;
    })
    .await;
    let talk = bench.plain_talk();
    let begun = json!({"parts": [{"kind": "text", "text": "first"}]});
    let first = talk.stream_until(begun, |event| event.to_string().contains("working")).await;
    let path = bench.path("go");
    let later = json!({"taskId": first.task(), "parts": [{"kind": "text", "text": "second"}]});
    let heard = talk
        .stream_until(later, |_| {
            std::fs::write(&path, "").unwrap();
            false
        })
        .await;
    assert_eq!((heard.state().as_str(), heard.text().as_str()), ("completed", "One.Two: second."));
}

#[tokio::test(flavor = "multi_thread")]
async fn words_beside_a_decision_are_not_forgotten_while_others_are_asked_for() {
    let calls = json!([{"tool": "run_shell_command", "with": {"command": "echo 1 >> ran"}},
        {"tool": "run_shell_command", "with": {"command": "echo 2 >> ran"}}]);
    let rules = json!({"rules": [
        {"when": {"text": "besides"}, "do": [{"say": "I heard that too."}]},
        {"do": [{"calls": calls}, {"say": "Both ran. "}]}
    ]});
    let bench = Bench::start(&rules.to_string()).await;
    let asked = bench.talk().ask("go").await;
    let calls = asked.asked();
    let part = |call: &Value| json!({"kind": "data", "data": super::kit::decision(call, "proceed_once")});
    let words = json!({"kind": "text", "text": "and besides"});
    let first = json!({"taskId": asked.task(), "parts": [part(&calls[0]), words]});
    assert_eq!(bench.talk().stream(first).await.state(), "input-required");
    let second = json!({"taskId": asked.task(), "parts": [part(&calls[1])]});
    let heard = bench.talk().stream(second).await;
    assert_eq!((heard.state().as_str(), heard.text().as_str()), ("completed", "Both ran. I heard that too."));
    assert_eq!(bench.read("ran"), "1\n2\n");
}
