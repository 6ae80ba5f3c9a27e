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
