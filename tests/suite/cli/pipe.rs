//! One prompt without a terminal: what goes where, and with which exit code.

use std::process::Command;

use serde_json::{Value, json};

use super::{ended, open_tasks, run, run_with, script};
use crate::kit::process::Running;

const SHELL: &str = "- call: {tool: run_shell_command, with: {command: echo hello}}\n- say: 'Then: {result}'";

/// Steps, options, exit code, what standard output is, what standard error holds.
type Case<'a> = (&'a str, &'a [&'a str], i32, &'a str, &'a str);

const CASES: &[Case] = &[
    ("- say: [Hel, lo]", &[], 0, "Hello\n", ""),
    ("- think: {subject: Well, description: Let me see}\n- say: Hi", &[], 0, "Hi\n", "· Well: Let me see\n"),
    ("- fail: no such thing", &[], 1, "", "failed: no such thing\n"),
    ("- ask: In which town?", &[], 3, "In which town?\n", ""),
    (
        SHELL,
        &[],
        3,
        "",
        "run_shell_command waits for an answer, and nobody is here to give it; answer it with: agena watch ",
    ),
    (SHELL, &["--approval-mode", "plan"], 0, "Then: ", "✗ run_shell_command"),
    ("- say: \"\\e]0;title\\a\\e[31mred\"", &[], 0, "␛]0;title␇␛[31mred\n", ""),
    (
        "- call: {tool: ask_user, with: {questions: [{header: Colour, question: 'Which?', type: text}]}}\n- say: x",
        &["--approve", "once"],
        3,
        "",
        "ask_user waits for an answer",
    ),
];

#[test]
fn the_answer_goes_to_standard_output_and_the_rest_beside_it() {
    let server = Running::start(&[]);
    for (steps, options, code, out, err) in CASES {
        let prompt = script(steps);
        let came = run(&server, &[&["chat", "-p", prompt.as_str()], *options].concat());
        assert_eq!(came.code, Some(*code), "{steps}: {came:?}");
        assert!(
            came.out == *out || out.starts_with("Then") && came.out.starts_with(out),
            "{steps}: {came:?}"
        );
        assert!(came.err.contains(err), "{steps}: {came:?}");
        assert!(!came.out.contains('\u{1b}') && !came.err.contains('\u{1b}'), "{steps}: {came:?}");
    }
}

#[test]
fn what_is_allowed_on_the_command_line_runs_and_what_is_not_does_not() {
    let server = Running::start(&[]);
    let prompt = script(SHELL);
    let came = run(&server, &["chat", "-p", &prompt, "--approve", "once"]);
    assert_eq!(came.code, Some(0), "{came:?}");
    assert!(came.out.starts_with("Then: ") && came.out.contains("hello"), "{came:?}");
    let order = ["● run_shell_command", "  $ echo hello", "  │ hello", "✓ run_shell_command"];
    let places: Vec<_> = order.iter().map(|line| came.err.find(line)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?} {came:?}");
    let came = run(&server, &["chat", "-p", &prompt, "--approve", "never"]);
    assert_eq!(came.code, Some(0), "{came:?}");
    assert!(came.out.contains("Nobody is there to allow it."), "{came:?}");
    assert!(came.err.contains("- run_shell_command: rejected: Nobody is there to allow it."), "{came:?}");
}

#[test]
fn json_is_every_update_in_its_order() {
    let server = Running::start(&[]);
    let came = run(&server, &["chat", "-p", &script(SHELL), "--approve", "once", "--json"]);
    assert_eq!(came.code, Some(0), "{came:?}");
    let updates = came.json();
    let sequences: Vec<u64> =
        updates.iter().map(|update| update["sequence"].as_str().unwrap().parse().unwrap()).collect();
    assert!(sequences.is_sorted_by(|a, b| a < b), "{sequences:?}");
    assert!(updates[0].get("created").is_some());
    assert_eq!(updates.last().unwrap()["status"]["state"], "TASK_STATE_COMPLETED");
    let decided = updates.iter().find_map(|update| update.get("decided")).unwrap();
    assert_eq!(decided["decision"]["selected_option_id"], "proceed_once");
    // Whoever looks later is told the same.
    let task = updates[0]["task_id"].as_str().unwrap();
    assert_eq!(run(&server, &["watch", task, "--json"]).json(), updates);
    assert_eq!(came.err, "");
}

#[test]
fn a_prompt_comes_from_a_pipe() {
    let server = Running::start(&[]);
    let prompt = script("- say: piped");
    for arguments in [&["chat", "-p", "-"][..], &["chat"]] {
        let came = run_with(&server, arguments, &prompt);
        assert_eq!((came.code, came.out.as_str()), (Some(0), "piped\n"), "{came:?}");
    }
}

#[test]
fn a_conversation_goes_on() {
    let server = Running::start(&[]);
    let first = run(&server, &["chat", "-p", &script("- say: one"), "--json"]).json();
    let context = first[0]["context_id"].as_str().unwrap();
    for options in [&["--context", context][..], &["--last"]] {
        let prompt = script("- say: more");
        let arguments = [&["chat", "-p", &prompt, "--json"], options].concat();
        assert_eq!(run(&server, &arguments).json()[0]["context_id"], json!(context));
    }
    let other = run(&server, &["chat", "-p", &script("- say: else"), "--json"]).json();
    assert_ne!(other[0]["context_id"], json!(context));
}

#[test]
fn what_cannot_be_done_says_why_and_has_its_code() {
    let server = Running::start(&[]);
    let nobody = "http://127.0.0.1:1";
    for (arguments, environment, code, part) in [
        (
            &["chat", "-p", "x", "--server", nobody][..],
            ("A", "b"),
            4,
            "no server answers at http://127.0.0.1:1 (",
        ),
        (&["tasks", "--server", nobody], ("A", "b"), 4, "start one there, or name another with --server"),
        (&["tasks"], ("AGENA_TOKEN", "wrong-but-long-enough"), 4, "the server refuses the token"),
        (&["chat", "-p", " "], ("A", "b"), 2, "the prompt is empty"),
        (&["chat", "-p", "x", "--server", "ftp://x"], ("A", "b"), 2, "is not the address of a server"),
        (&["chat", "-p", "x", "--approval-mode", "mad"], ("A", "b"), 2, "unknown variant `mad`"),
        (&["chat", "-p", "x", "--approval-mode", "yolo"], ("A", "b"), 2, "this server asks before it acts"),
        (&["chat", "-p", "x", "--workspace", "/"], ("A", "b"), 2, "settings.workspace_path"),
        (&["chat", "-p", "x", "--model", "none-such"], ("A", "b"), 2, "none-such"),
        (&["chat", "-p", "x", "--last"], ("A", "b"), 2, "there is no conversation yet"),
        (&["tasks", "--token-file", "/no/such/file"], ("A", "b"), 2, "/no/such/file"),
        (&["tasks", "--server", "http://a.example"], ("AGENA_TOKEN", "token"), 2, "would go unencrypted"),
        (&["watch", "no-such-task"], ("A", "b"), 1, "the task was not found"),
        (&["cancel", "no-such-task"], ("A", "b"), 1, "the task was not found"),
        (&["cancel"], ("A", "b"), 2, "TASK"),
    ] {
        let child = super::client(&server, arguments).env(environment.0, environment.1).spawn().unwrap();
        let came = ended(child);
        assert_eq!((came.code, came.out.as_str()), (Some(code), ""), "{arguments:?}: {came:?}");
        assert!(came.err.contains(part), "{arguments:?}: {came:?}");
    }
}

const SLOW: &str = "- say: Wait\n- wait: 60s\n- say: never";

#[test]
fn a_task_that_somebody_else_cancels_says_so() {
    let server = Running::start(&[]);
    let child = super::client(&server, &["chat", "-p", &script(SLOW)]).spawn().unwrap();
    let task = open_tasks(&server, 1).remove(0);
    let cancelled = run(&server, &["cancel", task["task_id"].as_str().unwrap()]);
    assert_eq!((cancelled.code, cancelled.err.as_str()), (Some(0), "cancelled; its work has stopped\n"));
    let came = ended(child);
    assert_eq!((came.code, came.err.as_str()), (Some(5), "cancelled\n"), "{came:?}");
}

#[test]
fn ctrl_c_cancels_the_task_itself() {
    let server = Running::start(&[]);
    let child = super::client(&server, &["chat", "-p", &script(SLOW)]).spawn().unwrap();
    let task = open_tasks(&server, 1).remove(0);
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let came = ended(child);
    assert_eq!(came.code, Some(130), "{came:?}");
    let state = |task: &Value| task["state"].as_str().map(str::to_owned);
    let all = run(&server, &["tasks", "--all", "--json"]).json();
    let same = all.iter().find(|other| other["task_id"] == task["task_id"]).unwrap();
    assert_eq!(state(same).as_deref(), Some("TASK_STATE_CANCELED"));
}
