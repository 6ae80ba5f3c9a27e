//! Without a server: one is started for the length of the command, and what it did is kept.

use std::process::Stdio;

use super::{Came, ended, script};
use crate::kit::process::agena;

#[test]
fn a_chat_without_a_server_starts_one_and_others_say_how() {
    let home = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| -> Came {
        let mut command = agena(home.path());
        ended(command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
    };
    let steps = "- call: {tool: run_shell_command, with: {command: echo here}}\n- say: 'Then: {result}'";
    for local in [&["--approve", "once"][..], &["--approve", "once", "--local"]] {
        let prompt = script(steps);
        let came = run(&[&["chat", "-p", prompt.as_str()], local].concat());
        assert_eq!(came.code, Some(0), "{came:?}");
        assert!(came.out.contains("here"), "{came:?}");
    }
    let came = run(&["tasks", "--all"]);
    assert_eq!((came.code, came.out.as_str()), (Some(4), ""), "{came:?}");
    assert!(
        came.err.contains("start one with `agena`, name another with --server, or add --local"),
        "{came:?}"
    );
    let came = run(&["tasks", "--all", "--local"]);
    assert_eq!((came.code, came.out.lines().count()), (Some(0), 2), "{came:?}");
    let came = run(&["chat", "-p", "x", "--local", "--set", "model.name=gpt"]);
    assert_eq!(came.code, Some(4), "{came:?}");
    assert!(came.err.contains("none can be started here: model.name: there is no model `gpt`"), "{came:?}");
    // What the client says about its work is what its server works with.
    let yolo = ["chat", "-p", &script(steps), "--approval-mode", "yolo", "--local"];
    let came = run(&yolo);
    assert_eq!(came.code, Some(0), "{came:?}");
    assert!(came.out.contains("here"), "{came:?}");
}
