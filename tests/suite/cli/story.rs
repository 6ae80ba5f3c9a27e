//! The whole story at a terminal: a task thinks, shows a diff, is allowed, prints while it runs, and ends.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::pty::Terminal;
use super::{open_tasks, run};
use crate::kit::process::Running;

#[test]
fn a_task_is_seen_allowed_and_done() {
    let server = Running::start(&[]);
    let mut terminal = Terminal::chat(&server, &[]);
    terminal.say("create hello.py that prints hi");
    terminal.expect("· Writing hello.py");
    terminal.expect("● write_file");
    terminal.expect("@@ -0,0 +1 @@");
    terminal.expect("+print(\"hi\")");
    terminal.expect("1 y  Allow once");
    terminal.expect("Answer (number, letter or id; e edits the file): ");
    // Only plain answers count.
    terminal.press("why not\n");
    terminal.expect("`why` is none of the options");
    terminal.expect("Answer (");
    terminal.press("1\n");
    terminal.expect("✓ write_file");
    terminal.expect("> ");
    assert_eq!(fs::read_to_string(server.home().join("workspace/hello.py")).unwrap(), "print(\"hi\")\n");
    terminal.say("run echo one; echo two");
    terminal.expect("  $ echo one; echo two");
    terminal.expect("Answer (number, letter or id): ");
    terminal.press("proceed_once\n");
    terminal.expect("│ one");
    terminal.expect("│ two");
    terminal.expect("✓ run_shell_command");
    terminal.expect("> ");
    let raw = terminal.raw();
    assert!(raw.contains("\u{1b}[32m+print(\"hi\")\u{1b}[0m"), "{raw}");
    assert!(raw.contains("\u{1b}[2m· Writing hello.py"), "{raw}");
    terminal.press("\u{4}");
    assert_eq!(terminal.ended(), Some(0));
}

#[test]
fn a_call_is_rejected_with_a_reason_and_always_is_a_rule() {
    let server = Running::start(&[]);
    let mut terminal = Terminal::chat(&server, &[("NO_COLOR", "1")]);
    terminal.say("run echo loud");
    terminal.expect("Answer (");
    terminal.press("n too loud\n");
    terminal.expect("- run_shell_command: rejected: too loud");
    terminal.expect("> ");
    terminal.say("run echo loud");
    terminal.expect("Answer (");
    terminal.press("n\n");
    terminal.expect("Why, for the agent");
    terminal.press("still too loud\n");
    terminal.expect("- run_shell_command: rejected: still too loud");
    terminal.expect("> ");
    terminal.say("run echo once");
    terminal.expect("2 a  Always allow `echo`");
    terminal.expect("Answer (");
    terminal.press("a\n");
    terminal.expect("✓ run_shell_command");
    terminal.expect("> ");
    terminal.say("run echo again");
    assert!(!terminal.expect("✓ run_shell_command").contains("Answer"));
    terminal.expect("> ");
    assert!(!terminal.raw().contains("\u{1b}[1m"), "{:?}", terminal.raw());
    let rules = run(&server, &["rules", "--json"]).json();
    assert_eq!((rules.len(), &rules[0]["kind"]), (1, &"ALLOW_ALWAYS".into()), "{rules:?}");
    assert!(run(&server, &["rules"]).out.contains("always allowed: "));
    let revoked = run(&server, &["rules", "revoke", rules[0]["rule_id"].as_str().unwrap()]);
    assert_eq!((revoked.code, run(&server, &["rules", "--json"]).out.as_str()), (Some(0), ""), "{revoked:?}");
    assert_eq!(run(&server, &["rules", "revoke", "none"]).code, Some(1));
    terminal.say("run echo more");
    terminal.expect("Answer (");
    terminal.press("\u{4}");
    terminal.expect("answer it with: agena watch ");
    assert_eq!(terminal.ended(), Some(0));
}

#[test]
fn a_proposal_is_edited_before_it_is_allowed() {
    let server = Running::start(&[]);
    let editor = server.home().join("my editor");
    fs::write(&editor, "#!/bin/sh\nprintf 'edited\\n' > \"$2\"\n").unwrap();
    fs::set_permissions(&editor, fs::Permissions::from_mode(0o700)).unwrap();
    let command = format!("'{}' --wait", editor.display());
    let mut terminal = Terminal::chat(&server, &[("EDITOR", &command)]);
    terminal.say("write proposed to note.txt");
    terminal.expect("+proposed");
    terminal.expect("Answer (");
    terminal.press("e\n");
    terminal.expect("+edited");
    terminal.expect("Answer (");
    terminal.press("y\n");
    terminal.expect("✓ write_file");
    terminal.expect("> ");
    assert_eq!(fs::read_to_string(server.home().join("workspace/note.txt")).unwrap(), "edited\n");
}

#[test]
fn commands_complete_run_and_are_suggested() {
    let server = Running::start(&[]);
    let mut terminal = Terminal::chat(&server, &[]);
    terminal.press("/ab\t");
    terminal.expect("/about ");
    terminal.press("\r");
    terminal.expect("Approval mode: default");
    terminal.expect("> ");
    terminal.press("/model \t\t");
    terminal.expect("set");
    terminal.expect("show");
    terminal.press("h\t\r");
    terminal.expect("The model of this context");
    terminal.expect("> ");
    terminal.say("/hlep");
    terminal.expect("is /help meant?");
    terminal.expect("> ");
    // Lines that are pasted are one thing to say.
    terminal.press("\u{1b}[200~```rehearsal\n- say: 'two lines'\n```\u{1b}[201~\r");
    terminal.expect("two lines");
    terminal.expect("two lines");
    terminal.expect("> ");
    terminal.say("/new");
    terminal.expect("a new conversation");
    terminal.say("/quit");
    assert_eq!(terminal.ended(), Some(0));
}

#[test]
fn questions_are_answered_and_plans_are_lists() {
    let server = Running::start(&[]);
    let mut terminal = Terminal::chat(&server, &[]);
    terminal.say("ask me to choose between tea and coffee");
    terminal.expect("1  tea");
    terminal.expect("Answer (a number, or words of your own): ");
    terminal.press("9\n");
    terminal.expect("there is no choice 9");
    terminal.expect("Answer (");
    terminal.press("2\n");
    terminal.expect("coffee");
    terminal.expect("✓ ask_user");
    terminal.expect("> ");
    terminal.say("plan: read, write");
    terminal.expect("] read");
    terminal.expect("] write");
    terminal.expect("> ");
    terminal.press("\u{4}");
    assert_eq!(terminal.ended(), Some(0));
}

/// The task asks in words, and is told in words.
const TOWN: &str =
    "rules:\n- when: {text: ulm}\n  do: [{say: It rains there.}]\n- do: [{ask: In which town?}]\n";

#[test]
fn words_go_to_the_task_that_asked() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("town.yaml"), TOWN).unwrap();
    let server = Running::start_in(home, &["--rehearsal", "town.yaml"]);
    let mut terminal = Terminal::chat(&server, &[]);
    terminal.say("how is the weather");
    terminal.expect("In which town?");
    terminal.expect("> ");
    // A command in between is no answer, and the question stays.
    terminal.say("/about");
    terminal.expect("> ");
    terminal.say("Ulm");
    terminal.expect("It rains there.");
    terminal.expect("> ");
    let all = run(&server, &["tasks", "--all", "--json"]).json();
    let states: Vec<_> = all.iter().map(|task| &task["state"]).collect();
    assert_eq!(states, ["TASK_STATE_COMPLETED"; 2], "{all:?}");
}

#[test]
fn ctrl_c_cancels_the_work_and_then_leaves() {
    let server = Running::start(&[]);
    let mut terminal = Terminal::chat(&server, &[]);
    terminal.say("run echo begun; sleep 60");
    terminal.expect("Answer (");
    terminal.press("y\n");
    terminal.expect("│ begun");
    terminal.press("\u{3}");
    terminal.expect("cancelling");
    terminal.expect("- run_shell_command: cancelled");
    terminal.expect("cancelled");
    terminal.expect("> ");
    assert_eq!(run(&server, &["tasks", "--json"]).out, "");
    // Also while it is asked something.
    terminal.say("run echo never");
    terminal.expect("Answer (");
    terminal.press("\u{3}");
    terminal.expect("cancelled");
    terminal.expect("> ");
    terminal.press("\u{3}");
    terminal.expect("Ctrl-C again leaves");
    terminal.expect("> ");
    terminal.press("\u{3}");
    assert_eq!(terminal.ended(), Some(0));
}

#[test]
fn whoever_answers_first_wins_and_the_other_is_told() {
    let server = Running::start(&[]);
    let mut terminal = Terminal::chat(&server, &[]);
    terminal.say("run echo hello");
    terminal.expect("Answer (");
    let task = open_tasks(&server, 1).remove(0);
    let other = run(&server, &["watch", task["task_id"].as_str().unwrap(), "--approve", "once"]);
    assert_eq!(other.code, Some(0), "{other:?}");
    assert!(other.out.contains("> run echo hello"), "{other:?}");
    terminal.expect("local answered proceed_once");
    terminal.expect("✓ run_shell_command");
    terminal.expect("> ");
    // The question is gone, and what is typed is the next thing to say.
    terminal.say("/quit");
    assert_eq!(terminal.ended(), Some(0));
}

#[test]
fn what_was_typed_before_a_question_is_no_answer_to_it() {
    let server = Running::start(&[]);
    let mut terminal = Terminal::chat(&server, &[]);
    terminal.press("\u{1b}[200~```rehearsal\n- say: Wait\n- wait: 1s\n- call: {tool: run_shell_command, with: {command: echo x}}\n```\u{1b}[201~\r");
    terminal.expect("Wait");
    terminal.expect("Wait");
    terminal.press("y\n");
    terminal.expect("Answer (");
    let task = open_tasks(&server, 1).remove(0);
    assert_eq!(
        (&task["state"], &task["pending_confirmations"]),
        (&"TASK_STATE_INPUT_REQUIRED".into(), &1.into())
    );
    terminal.press("y\n");
    terminal.expect("✓ run_shell_command");
}

#[test]
fn a_question_in_words_is_answered_where_the_conversation_goes_on() {
    let server = Running::start(&[]);
    let prompt = "Do it.\n```rehearsal\n- ask: In which town?\n```";
    let asked = run(&server, &["chat", "-p", prompt]);
    assert_eq!(asked.code, Some(3), "{} {}", asked.out, asked.err);
    assert!(asked.err.contains("agena chat --context "), "{}", asked.err);
    let mut terminal = Terminal::start(&server, &["chat", "--last"], &[]);
    terminal.expect("the agent waits for an answer: In which town?");
    terminal.expect("> ");
    terminal.say("Paris");
    terminal.expect("> ");
    let tasks = run(&server, &["tasks", "--all", "--json"]).out;
    assert_eq!(tasks.lines().count(), 1, "the answer is no new task: {tasks}");
}
