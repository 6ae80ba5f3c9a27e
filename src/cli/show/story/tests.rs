//! Updates in, what is printed out. Asides stand in brackets, so that the table shows what goes where.

use super::*;
use crate::proto::json::decode;

/// Updates as the service sends them, without what every update has.
fn told(reader: Reader, updates: &[&str]) -> String {
    let mut story = Story::new(reader);
    let mut pieces = Vec::new();
    for update in updates {
        let update: TaskUpdate =
            decode(update.as_bytes()).unwrap_or_else(|error| panic!("{update}: {error}"));
        pieces.extend(story.update(&update));
    }
    pieces.extend(story.rest());
    let text = |Piece { voice, text }: Piece| match voice {
        Voice::Answer => text,
        Voice::Aside => text.split_inclusive('\n').map(|line| format!("[{line}")).collect(),
    };
    pieces.into_iter().map(text).collect()
}

fn plain(updates: &[&str]) -> String {
    told(Reader { paint: Paint(false), bystander: false }, updates)
}

const WORKING: &str = r#"{"status": {"state": "TASK_STATE_WORKING"}}"#;
const ASKS: &str = r#"{"status": {"state": "TASK_STATE_INPUT_REQUIRED", "message": {"messageId": "m", "role": "ROLE_AGENT",
    "parts": [{"text": "1. Allow once"}]}}}"#;
const DONE: &str = r#"{"status": {"state": "TASK_STATE_COMPLETED"}}"#;
const SHELL: &str = r#"{"tool_call": {"tool_call_id": "c", "status": "PENDING", "tool_name": "run_shell_command",
    "description": "Print", "confirmation_request": {"fingerprint": "f", "options": [{"id": "x", "name": "X"}],
    "execute_details": {"command": "echo a\necho b", "working_directory": "/ws"}}}}"#;
const RUNS: &str = r#"{"tool_call": {"tool_call_id": "c", "status": "EXECUTING", "tool_name": "run_shell_command",
    "description": "Print"}}"#;
const RAN: &str = r#"{"tool_call": {"tool_call_id": "c", "status": "SUCCEEDED", "tool_name": "run_shell_command",
    "output": {"text": "a\nb"}}}"#;
const DECIDED: &str = r#"{"decided": {"tool_call_id": "c", "decision": {"selected_option_id": "proceed_once",
    "decided_by": "ide", "modified": true}}}"#;

fn output(call: &str, offset: usize, text: &str) -> String {
    let output = serde_json::json!({"tool_call_id": call, "offset": offset.to_string(), "text": text});
    serde_json::json!({"live_output": output}).to_string()
}

#[test]
fn pieces_of_an_answer_are_said_once() {
    let whole = r#"{"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "Hello you"}]}}"#;
    assert_eq!(plain(&[WORKING, r#"{"text": "Hello "}"#, r#"{"text": "you"}"#, whole, DONE]), "Hello you\n");
    assert_eq!(plain(&[whole, DONE]), "Hello you\n");
    assert_eq!(plain(&[r#"{"text": "Hello you\n"}"#, whole]), "Hello you\n");
}

#[test]
fn a_call_asks_runs_and_ends() {
    let first = output("c", 0, "a\nb");
    let again = output("c", 2, "b\nc\n");
    assert_eq!(
        plain(&[
            r#"{"thought": {"subject": "Printing", "description": "I print."}}"#,
            SHELL,
            ASKS,
            DECIDED,
            RUNS,
            &first,
            &again,
            RAN,
            r#"{"text": "Done."}"#,
            DONE
        ]),
        "[· Printing: I print.\n[● run_shell_command  Print\n[  in /ws\n[  $ echo a\n[    echo b\n\
         [  ide answered proceed_once, with changes\n[  │ a\n[  │ b[\n[  │ c\n[✓ run_shell_command\nDone.\n"
    );
}

#[test]
fn output_is_appended_by_its_offset() {
    let piece = |offset, text| output("c", offset, text);
    let (one, two, twice, late) = (piece(0, "ab"), piece(2, "cd\n"), piece(0, "abcd\n"), piece(9, "x\n"));
    assert_eq!(plain(&[RUNS, &one, &two, &twice]), "[● run_shell_command  Print\n[  │ ab[cd\n");
    assert_eq!(
        plain(&[RUNS, &one, &late]),
        "[● run_shell_command  Print\n[  │ ab[\n[  │ [7 bytes are missing]\n[  │ x\n"
    );
    // One that printed nothing while it ran shows what it gave.
    assert_eq!(plain(&[RAN]), "[● run_shell_command\n[  │ a\n[  │ b\n[✓ run_shell_command\n");
}

#[test]
fn two_that_print_at_once_are_told_apart() {
    let other = RUNS.replace("\"c\"", "\"d\"").replace("run_shell_command", "other");
    let (a, b) = (output("c", 0, "a\n"), output("d", 0, "b\n"));
    assert_eq!(
        plain(&[RUNS, &other, &a, &b]),
        "[● run_shell_command  Print\n[● other  Print\n[  │ a\n[  │ [other]\n[  │ b\n"
    );
}

#[test]
fn ends_say_how_and_why() {
    for (update, expected) in [
        (
            r#"{"error": {"message": "no model"}, "status": {"state": "TASK_STATE_FAILED"}}"#,
            "[failed: no model\n",
        ),
        (r#"{"status": {"state": "TASK_STATE_CANCELED"}}"#, "[cancelled\n"),
        (
            r#"{"status": {"state": "TASK_STATE_INPUT_REQUIRED", "message": {"messageId": "m", "role": "ROLE_AGENT",
                "parts": [{"text": "Which?"}]}}}"#,
            "Which?\n",
        ),
        (
            r#"{"tool_call": {"tool_call_id": "c", "status": "FAILED", "tool_name": "t", "error": {"message": "no\u001b[2J"}}}"#,
            "[● t\n[✗ t: no␛[2J\n",
        ),
        (
            r#"{"tool_call": {"tool_call_id": "c", "status": "CANCELLED", "tool_name": "t",
                "decision": {"selected_option_id": "cancel", "reject_reason": "too loud"}}}"#,
            "[● t\n[- t: rejected: too loud\n",
        ),
        (
            r#"{"tool_call": {"tool_call_id": "c", "status": "SUCCEEDED", "tool_name": "write_todos", "output":
                {"structured_data": {"todos": [{"description": "read", "status": "completed"},
                {"description": "write", "status": "in_progress"}, {"description": "rest", "status": "pending"}]}}}}"#,
            "[● write_todos\n[  [x] read\n[  [>] write\n[  [ ] rest\n[✓ write_todos\n",
        ),
        (
            r#"{"artifact": {"taskId": "t", "contextId": "c", "lastChunk": true, "artifact": {"artifactId": "a",
                "name": "a.txt", "parts": [{"text": "x"}]}}}"#,
            "[◆ a.txt\n",
        ),
    ] {
        assert_eq!(plain(&[update]), expected, "{update}");
    }
}

#[test]
fn whoever_only_looks_is_told_what_was_said() {
    let said = r#"{"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "do\nit"}]}}"#;
    assert_eq!(plain(&[said]), "");
    assert_eq!(told(Reader { paint: Paint(false), bystander: true }, &[said]), "[> do it\n");
}

#[test]
fn nothing_from_elsewhere_reaches_the_terminal_as_it_is() {
    let evil = "\\u001b]0;x\\u0007\\u009b2J\\u202e";
    let call = SHELL.replace("echo a", evil).replace("Print", evil).replace("run_shell_command", evil);
    let updates = [
        format!(r#"{{"text": "{evil}"}}"#),
        format!(r#"{{"thought": {{"subject": "{evil}", "description": "{evil}"}}}}"#),
        call,
        DECIDED.replace("ide", evil),
        output("c", 0, "\u{1b}[31m\u{9b}x\r\n"),
        RAN.replace("a\\nb", evil),
        format!(r#"{{"error": {{"message": "{evil}"}}, "status": {{"state": "TASK_STATE_FAILED"}}}}"#),
    ];
    let updates: Vec<&str> = updates.iter().map(String::as_str).collect();
    let shown = plain(&updates);
    assert!(!shown.chars().any(crate::cli::show::safe::acts), "{shown:?}");
    // With colours, every sequence is one of ours.
    let shown = told(Reader { paint: Paint(true), bystander: true }, &updates);
    let ours = ["[0m", "[1m", "[2m", "[31m", "[32m", "[33m", "[36m"];
    let foreign = shown.split('\u{1b}').skip(1).find(|rest| !ours.iter().any(|code| rest.starts_with(code)));
    assert_eq!(foreign, None);
    assert!(!shown.replace('\u{1b}', "").chars().any(crate::cli::show::safe::acts));
}
