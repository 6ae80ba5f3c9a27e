//! Lists of tasks, commands and rules, and completions for shells.

use super::{client, ended, open_tasks, run, script};
use crate::kit::process::{Running, agena, output};

#[test]
fn tasks_are_listed_open_ones_first_of_all() {
    let server = Running::start(&[]);
    let nothing = run(&server, &["tasks"]);
    assert_eq!((nothing.code, nothing.out.as_str()), (Some(0), ""));
    assert_eq!(nothing.err, "nothing is under way; --all lists what has ended\n");
    run(&server, &["chat", "-p", &script("- say: x")]);
    run(&server, &["chat", "-p", &script("- ask: which?")]);
    let open = run(&server, &["tasks"]);
    let lines: Vec<&str> = open.out.lines().collect();
    assert!(lines.len() == 1 && lines[0].contains("  asks ") && lines[0].ends_with("  Do it."), "{open:?}");
    assert_eq!(run(&server, &["tasks", "--all"]).out.lines().count(), 2);
    let states: Vec<_> =
        run(&server, &["tasks", "--all", "--json"]).json().iter().map(|t| t["state"].clone()).collect();
    assert_eq!(states, ["TASK_STATE_INPUT_REQUIRED", "TASK_STATE_COMPLETED"]);
}

#[test]
fn changes_of_all_tasks_are_watched() {
    use std::io::{BufRead, BufReader};
    let server = Running::start(&[]);
    let mut watcher = client(&server, &["watch", "--json"]).spawn().unwrap();
    let mut lines = BufReader::new(watcher.stdout.take().unwrap()).lines().map(Result::unwrap);
    run(&server, &["chat", "-p", &script("- ask: which?")]);
    let task = open_tasks(&server, 1).remove(0);
    let told = lines.find(|line| line.contains("INPUT_REQUIRED")).unwrap();
    assert!(told.contains(task["task_id"].as_str().unwrap()), "{told}");
    let id = watcher.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    assert_eq!(ended(watcher).code, Some(130));
}

#[test]
fn commands_are_listed_and_run() {
    let server = Running::start(&[]);
    let listed = run(&server, &["commands"]);
    assert_eq!(listed.code, Some(0), "{listed:?}");
    assert!(listed.out.contains("/memory add FACT "), "{listed:?}");
    let names: Vec<_> =
        run(&server, &["commands", "--json"]).json().iter().map(|c| c["name"].clone()).collect();
    assert!(names.contains(&"about".into()), "{names:?}");
    let came = run(&server, &["commands", "run", "/about"]);
    assert_eq!(came.code, Some(0), "{came:?}");
    assert!(came.out.contains("Approval mode: default"), "{came:?}");
    let came = run(&server, &["commands", "run", "memory add We use tabs.", "--approve", "once"]);
    assert_eq!(came.code, Some(0), "{came:?}");
    let written = std::fs::read_to_string(server.home().join("workspace/GEMINI.md")).unwrap();
    assert!(written.contains("We use tabs."), "{written}");
    for (line, part) in
        [("/memroy", "is /memory meant?"), ("/quit", "is a command of the chat"), ("/model set", "name")]
    {
        let came = run(&server, &["commands", "run", line]);
        assert_eq!((came.code, came.out.as_str()), (Some(2), ""), "{line}: {came:?}");
        assert!(came.err.contains(part), "{line}: {came:?}");
    }
}

#[test]
fn completions_know_every_command_and_option() {
    let home = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish"] {
        let printed = output(agena(home.path()).args(["completions", shell]));
        let text = String::from_utf8(printed.stdout).unwrap();
        assert!(printed.status.success());
        for word in ["chat", "tasks", "watch", "cancel", "rules", "commands", "approve", "token-file"] {
            assert!(text.contains(word), "{shell} does not know {word}");
        }
    }
    assert_eq!(output(agena(home.path()).args(["completions", "tcsh"])).status.code(), Some(2));
}

#[test]
fn options_stand_before_a_verb_or_behind_it() {
    let server = Running::start(&[]);
    // The environment names one that is not there, so only the option leads anywhere.
    let came = |arguments: &[&str]| {
        ended(client(&server, arguments).env("AGENA_SERVER", "http://127.0.0.1:1").spawn().unwrap())
    };
    let url = server.url.as_str();
    for arguments in [
        &["rules", "--server", url][..],
        &["rules", "--server", url, "list"],
        &["rules", "list", "--server", url],
        &["commands", "--server", url, "list"],
        &["commands", "--server", url, "run", "/about"],
        &["commands", "run", "/about", "--server", url],
    ] {
        let came = came(arguments);
        assert_eq!(came.code, Some(0), "{arguments:?}: {came:?}");
    }
    let came = came(&["rules", "--server", url, "revoke", "none"]);
    assert!(came.code == Some(1) && came.err.contains("there is no such rule"), "{came:?}");
}
