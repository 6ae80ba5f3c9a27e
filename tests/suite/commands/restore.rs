//! Checkpoints: what tool calls touched comes back, and nothing else is touched.

use std::fs;

use serde_json::{Value, json};

use super::{execute, said, settled, told};
use crate::agent::kit::{Bench, Heard, Talk, decision, script, shell, write};

/// Allows one call after the other until nothing is asked any more.
async fn allow_all(talk: &Talk, mut heard: Heard) -> Vec<Value> {
    let task = heard.task();
    let mut calls = heard.calls();
    while let Some(call) = heard.asked().first() {
        heard = talk.decide(&task, &[decision(call, "proceed_once")]).await;
        calls.extend(heard.calls());
    }
    assert_eq!(heard.state(), "completed");
    calls
}

/// Applies a checkpoint and answers what is asked then. Tells what was shown, and how it ended.
async fn apply(talk: &Talk, context: &str, id: &str, option: &str) -> (String, String) {
    let executed = execute(talk, context, &format!("restore apply {id}")).await;
    assert_eq!(executed["status"], "AWAITING_ACTION_CONFIRMATION", "{executed}");
    let task = settled(talk, &executed).await;
    let parts = task["status"]["message"]["parts"].as_array().unwrap();
    let call = parts.iter().find(|part| part["kind"] == "data").unwrap()["data"].clone();
    let shown = call["confirmation_request"]["generic_details"]["description"].as_str().unwrap().to_owned();
    let heard = talk.decide(task["id"].as_str().unwrap(), &[decision(&call, option)]).await;
    (shown, heard.state())
}

fn files(bench: &Bench) -> Vec<(String, String)> {
    let entries = fs::read_dir(bench.workspace.path()).unwrap();
    let mut files: Vec<(String, String)> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .map(|name| (name.clone(), bench.read(&name)))
        .collect();
    files.sort();
    files
}

fn mixed() -> String {
    let replace = (
        "replace",
        json!({"file_path": "kept.txt", "instruction": "i", "old_string": "one", "new_string": "two"}),
    );
    script(&[
        write("new.txt", "made by a tool"),
        replace,
        write("over.txt", "overwritten"),
        write("over.txt", "overwritten again"),
        shell("rm gone.txt && echo shell > by_shell.txt"),
    ])
}

#[tokio::test]
async fn a_restore_after_mixed_edits_brings_back_exactly_the_touched_files() {
    let bench = Bench::start(&mixed()).await;
    for (name, text) in
        [("kept.txt", "one"), ("over.txt", "before"), ("gone.txt", "gone"), ("other.txt", "x")]
    {
        fs::write(bench.path(name), text).unwrap();
    }
    let talk = bench.talk();
    let heard = talk.ask("go").await;
    let context = heard.0[0]["contextId"].as_str().unwrap().to_owned();
    let calls = allow_all(&talk, heard).await;
    let first = calls.iter().find_map(|call| call["checkpoint_id"].as_str()).unwrap().to_owned();
    fs::write(bench.path("users.txt"), "made by the user").unwrap();
    fs::write(bench.path("other.txt"), "changed by the user").unwrap();
    assert_eq!(told(&talk, &context, "restore list").await.lines().count(), 4, "the shell has none");
    let after_edits = files(&bench);

    let (_, state) = apply(&talk, &context, &first, "cancel").await;
    assert_eq!((state.as_str(), files(&bench)), ("failed", after_edits.clone()), "nothing is done unasked");

    let (shown, state) = apply(&talk, &context, &first, "proceed_once").await;
    assert_eq!(state, "completed");
    for line in ["removed", "new.txt", "-two\n", "+one\n", "-overwritten again", "+before"] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    let expected = [
        ("by_shell.txt", "shell\n"),
        ("kept.txt", "one"),
        ("other.txt", "changed by the user"),
        ("over.txt", "before"),
        ("users.txt", "made by the user"),
    ];
    let expected = expected.map(|(name, text)| (name.to_owned(), text.to_owned()));
    assert_eq!(files(&bench), expected);

    // Restoring made a checkpoint itself.
    let list = told(&talk, &context, "restore").await;
    let newest = list.split(' ').next().unwrap();
    assert!(list.lines().next().unwrap().contains("before restore_files"), "{list}");
    let (_, state) = apply(&talk, &context, newest, "proceed_once").await;
    assert_eq!((state.as_str(), files(&bench)), ("completed", after_edits));
}

#[tokio::test]
async fn a_file_that_changes_after_it_was_shown_is_left_alone() {
    let bench = Bench::start(&script(&[write("a.txt", "tool")])).await;
    let talk = bench.talk();
    let heard = talk.ask("go").await;
    let context = heard.0[0]["contextId"].as_str().unwrap().to_owned();
    let calls = allow_all(&talk, heard).await;
    let id = calls.last().unwrap()["checkpoint_id"].as_str().unwrap().to_owned();
    let task = settled(&talk, &execute(&talk, &context, &format!("restore apply {id}")).await).await;
    fs::write(bench.path("a.txt"), "the user was faster").unwrap();
    let heard = talk.say(task["id"].as_str().unwrap(), "yes").await;
    assert_eq!((heard.state().as_str(), bench.read("a.txt").as_str()), ("failed", "the user was faster"));
    let unknown = execute(&talk, &context, "restore apply ../../etc/passwd").await;
    assert!(said(&settled(&talk, &unknown).await).starts_with("there is no checkpoint"));
}

#[tokio::test]
async fn a_link_in_the_place_of_a_file_is_not_followed() {
    let bench = Bench::start(&script(&[write("a.txt", "tool")])).await;
    fs::write(bench.path("a.txt"), "before").unwrap();
    fs::write(bench.path("victim.txt"), "nobody's").unwrap();
    let talk = bench.talk();
    let heard = talk.ask("go").await;
    let context = heard.0[0]["contextId"].as_str().unwrap().to_owned();
    let calls = allow_all(&talk, heard).await;
    let id = calls.last().unwrap()["checkpoint_id"].as_str().unwrap().to_owned();
    let shown = settled(&talk, &execute(&talk, &context, &format!("restore apply {id}")).await).await;
    fs::remove_file(bench.path("a.txt")).unwrap();
    std::os::unix::fs::symlink("victim.txt", bench.path("a.txt")).unwrap();
    // Neither where it is proposed with the link there, nor where the link came after that.
    let anew = settled(&talk, &execute(&talk, &context, &format!("restore apply {id}")).await).await;
    assert!(said(&anew).ends_with("a.txt leads elsewhere now"), "{anew}");
    let heard = talk.say(shown["id"].as_str().unwrap(), "yes").await;
    assert_eq!((heard.state().as_str(), bench.read("victim.txt").as_str()), ("failed", "nobody's"));
}

#[tokio::test]
async fn a_model_restores_nothing() {
    let files = json!({"files": [{"path": "evil.txt", "content": "x"}]});
    let bench = Bench::start(&script(&[("restore_files", files)])).await;
    let heard = bench.talk().ask("go").await;
    let last = heard.calls().last().unwrap().clone();
    assert_eq!((&last["status"], &last["error"]["type"]), (&json!("FAILED"), &json!("tool_not_registered")));
    let message = json!({"parts": [{"kind": "text", "text": "go"}],
        "metadata": {agena::domain::extension::DEVELOPMENT_TOOL: {"allowed_tools": ["restore_files"]}}});
    let refused = bench.talk().stream(message).await.error().to_string();
    let (_, listed) = refused.rsplit_once("these are there").unwrap_or_else(|| panic!("{refused}"));
    assert!(!listed.contains("restore_files"), "{refused}");
}

#[tokio::test]
async fn a_plain_client_sees_the_diff_of_a_restore_line_by_line() {
    let bench = Bench::start(&script(&[write("a.txt", "tool\n")])).await;
    fs::write(bench.path("a.txt"), "before\n").unwrap();
    let talk = bench.talk();
    let heard = talk.ask("go").await;
    let context = heard.0[0]["contextId"].as_str().unwrap().to_owned();
    let calls = allow_all(&talk, heard).await;
    let id = calls.last().unwrap()["checkpoint_id"].as_str().unwrap().to_owned();
    let executed = execute(&talk, &context, &format!("restore apply {id}")).await;
    let plain = bench.plain_talk();
    let shown = settled(&plain, &executed).await.to_string();
    assert!(shown.contains("    -tool\\n    +before\\n"), "{shown}");
}

/// Over the typed service, as the answer's JSON.
async fn post(url: &str, path: &str, body: Value) -> Value {
    let answer = crate::kit::http().post(format!("{url}{path}")).json(&body).send().await.unwrap();
    answer.json().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn checkpoints_are_there_after_a_restart() {
    use crate::kit::process::Running;
    let server = Running::start(&["--auth", "none"]);
    let hello = server.home().join("workspace/hello.py");
    let send = |server: &Running, message: Value| {
        let url = server.url.clone();
        async move { post(&url, "/message:send", json!({ "message": message })).await["task"].clone() }
    };
    let said = |id: &str, text: &str, task: &str| json!({"messageId": id, "role": "ROLE_USER", "taskId": task, "parts": [{"text": text}]});
    let asked = send(&server, said("1", "create hello.py that prints hi", "")).await;
    let done = send(&server, said("2", "yes", asked["id"].as_str().unwrap())).await;
    assert_eq!(
        (done["status"]["state"].as_str(), hello.exists()),
        (Some("TASK_STATE_COMPLETED"), true),
        "{done}"
    );
    let context = done["contextId"].as_str().unwrap().to_owned();

    let server = Running::start_in(server.into_home(), &["--auth", "none"]);
    let execute = |path: Value, args: String| {
        let (url, context) = (server.url.clone(), context.clone());
        let body = json!({"command_path": path, "args": args, "context_id": context});
        async move { post(&url, "/devtool/v1/commands:execute", body).await }
    };
    let listed = execute(json!(["restore", "list"]), String::new()).await;
    let task = format!("{}/tasks/{}", server.url, listed["execution_id"].as_str().unwrap());
    let listed: Value = crate::kit::http().get(task).send().await.unwrap().json().await.unwrap();
    let id = listed["status"]["message"]["parts"][0]["text"]
        .as_str()
        .unwrap()
        .split(' ')
        .next()
        .unwrap()
        .to_owned();
    let applied = execute(json!(["restore", "apply"]), id).await;
    assert_eq!(applied["status"], "AWAITING_ACTION_CONFIRMATION", "{applied}");

    // Also when the server ends between the question and the answer.
    let server = Running::start_in(server.into_home(), &["--auth", "none"]);
    let done = send(&server, said("3", "yes", applied["execution_id"].as_str().unwrap())).await;
    let state = done["status"]["state"].as_str();
    assert_eq!((state, hello.exists()), (Some("TASK_STATE_COMPLETED"), false), "{done}");
}
