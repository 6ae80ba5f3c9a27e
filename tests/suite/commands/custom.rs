//! The user's own commands.

use serde_json::json;

use super::{execute, settled, told};
use crate::agent::kit::{Bench, decision};
use crate::kit::http;
use crate::kit::process::Running;

const REVIEW: &str = r#"
description = "Reviews a file."
prompt = "Review {{args}}. It prints: !{printf '%s' {{args}}} The rules: @{rules.txt} End."
"#;

async fn bench(trusted: bool) -> Bench {
    let workspace = std::sync::Arc::new(tempfile::tempdir().unwrap());
    let at = |name: &str| workspace.path().join(name);
    std::fs::create_dir_all(at(".gemini/commands/git")).unwrap();
    std::fs::create_dir_all(at(".gemini/commands/memory")).unwrap();
    std::fs::write(at(".gemini/commands/memory/add.toml"), "prompt = \"nor this one\"").unwrap();
    std::fs::write(at(".gemini/commands/git/review.toml"), REVIEW).unwrap();
    std::fs::write(at(".gemini/commands/broken.toml"), "prompt = \"!{ls\"").unwrap();
    std::fs::write(at(".gemini/commands/help.toml"), "prompt = \"not this one\"").unwrap();
    std::fs::write(at("rules.txt"), "keep it short !{touch no}").unwrap();
    let path = workspace.path().to_owned();
    Bench::at(r#"{"rules": [{"do": [{"say": "Reviewed."}]}]}"#, workspace, move |mut setup| {
        setup.agent.trusted = if trusted { vec![path] } else { Vec::new() };
        setup
    })
    .await
}

#[tokio::test]
async fn a_command_of_the_user_runs_what_it_names_only_when_that_is_allowed() {
    let bench = bench(true).await;
    let (talk, asked) = (bench.talk(), bench.server.agent.asked.clone());
    let listed = talk.call("commands/get", json!({})).await;
    let names: Vec<&str> =
        listed["commands"].as_array().unwrap().iter().skip(13).map(|c| c["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["broken", "git:review"], "a built-in name stays built in, and all that is below it");
    let add = execute(&talk, "", "memory add likes tea").await;
    assert_eq!(add["status"], "AWAITING_ACTION_CONFIRMATION", "{add}");

    let executed = execute(&talk, "", "git:review - it's; touch stolen").await;
    assert_eq!(executed["status"], "AWAITING_SHELL_CONFIRMATION", "{executed}");
    assert!(asked.lock().unwrap().is_empty(), "the model waits for it too");
    let task = settled(&talk, &executed).await;
    let parts = task["status"]["message"]["parts"].as_array().unwrap();
    let call = &parts.iter().find(|part| part["kind"] == "data").unwrap()["data"];
    let shown = &call["confirmation_request"]["execute_details"]["command"];
    assert_eq!(shown, r"printf '%s' 'it'\''s; touch stolen'");
    let heard = talk.decide(task["id"].as_str().unwrap(), &[decision(call, "proceed_once")]).await;
    assert_eq!((heard.state().as_str(), heard.text().contains("Reviewed.")), ("completed", true));
    let prompt = format!("{:?}", asked.lock().unwrap().last().unwrap().contents);
    for part in ["Review it's; touch stolen.", "It prints: it's; touch stolen", "keep it short !{touch no}"] {
        assert!(prompt.contains(&part.replace('\'', "\\'")) || prompt.contains(part), "{part}: {prompt}");
    }
    assert!(!bench.path("stolen").exists() && !bench.path("no").exists());
}

#[tokio::test]
async fn a_refused_command_asks_no_model_and_a_broken_file_says_what_is_wrong() {
    let bench = bench(true).await;
    let talk = bench.talk();
    let task = settled(&talk, &execute(&talk, "", "git:review - x").await).await;
    let parts = task["status"]["message"]["parts"].as_array().unwrap();
    let call = &parts.iter().find(|part| part["kind"] == "data").unwrap()["data"];
    let heard = talk.decide(task["id"].as_str().unwrap(), &[decision(call, "cancel")]).await;
    assert_eq!(heard.state(), "failed");
    assert!(bench.server.agent.asked.lock().unwrap().is_empty());
    let broken = execute(&talk, "", "broken").await;
    let expected =
        json!({"status": "FAILED_TO_START", "message": "/broken cannot be used: !{ has no closing brace"});
    assert_eq!(broken, expected);
}

#[tokio::test]
async fn commands_of_a_workspace_that_nobody_trusts_are_not_there() {
    let bench = bench(false).await;
    let executed = execute(&bench.talk(), "", "git:review - x").await;
    assert_eq!(executed["status"], "FAILED_TO_START", "{executed}");
    assert!(!told(&bench.talk(), "", "help").await.contains("git:review"));
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_of_the_data_directory_are_there_in_every_workspace() {
    let home = tempfile::tempdir().unwrap();
    let commands = home.path().join("data/commands/team");
    std::fs::create_dir_all(&commands).unwrap();
    std::fs::write(commands.join("greet.toml"), "description = \"Greets.\"\nprompt = \"say hello\"").unwrap();
    let data = home.path().join("data");
    let server = Running::start_in(home, &["--auth", "none", "--data-dir", data.to_str().unwrap()]);
    let listed = http().get(format!("{}/devtool/v1/commands", server.url)).send().await.unwrap();
    let listed: serde_json::Value = listed.json().await.unwrap();
    let ours = listed["commands"].as_array().unwrap().iter().find(|command| command["name"] == "team:greet");
    assert_eq!(ours.unwrap_or_else(|| panic!("{listed}"))["description"], "Greets.");
    let execute = http().post(format!("{}/devtool/v1/commands:execute", server.url));
    let executed = execute.json(&json!({"command_path": ["team:greet"]})).send().await.unwrap();
    let executed: serde_json::Value = executed.json().await.unwrap();
    assert_eq!(executed["status"], "STARTED", "{executed}");
}
