//! The server is killed and comes back in the middle of a task: the client goes on without gap or repeat.

use std::time::Instant;

use serde_json::Value;

use super::pty::Terminal;
use super::{client, ended, open_tasks, run, script};
use crate::kit::DEADLINE;
use crate::kit::process::Running;

/// Kills it and starts another on the same data and the same port.
fn again(server: Running) -> Running {
    let address = server.url.strip_prefix("http://").unwrap().to_owned();
    let mut home = server.into_home();
    let started = Instant::now();
    loop {
        // Connections of the one before may hold the port for a moment.
        match Running::try_start(home, &["--listen", &address], &[]) {
            Ok(server) => return server,
            Err(left) => home = left,
        }
        assert!(started.elapsed() < DEADLINE, "the port stays taken");
    }
}

#[test]
fn a_question_survives_and_is_answered_after_it() {
    let server = Running::start(&[]);
    let mut terminal = Terminal::chat(&server, &[]);
    terminal.say("run echo survived");
    terminal.expect("Answer (");
    let server = again(server);
    terminal.press("y\n");
    terminal.expect("│ survived");
    terminal.expect("✓ run_shell_command");
    terminal.expect("> ");
    let all = run(&server, &["tasks", "--all", "--json"]).json();
    assert_eq!((all.len(), &all[0]["state"]), (1, &"TASK_STATE_COMPLETED".into()), "{all:?}");
    assert_eq!(terminal.text().matches("│ survived").count(), 1, "{}", terminal.text());
}

#[test]
fn updates_come_once_and_in_order_over_a_restart() {
    let server = Running::start(&[]);
    let steps =
        "- call: {tool: run_shell_command, with: {command: 'echo begun; sleep 60'}}\n- say: 'Then: {result}'";
    let child =
        client(&server, &["chat", "-p", &script(steps), "--approve", "once", "--json"]).spawn().unwrap();
    let task = open_tasks(&server, 1).remove(0)["task_id"].as_str().unwrap().to_owned();
    let running = |server: &Running| {
        let mut watch = client(server, &["watch", &task, "--json"]).spawn().unwrap();
        let lines = std::io::BufReader::new(watch.stdout.take().unwrap());
        let seen = std::io::BufRead::lines(lines).map(Result::unwrap).any(|line| line.contains("begun\\n"));
        watch.kill().unwrap();
        watch.wait().unwrap();
        seen
    };
    assert!(running(&server));
    let server = again(server);
    let came = ended(child);
    let sequences = |updates: &[Value]| -> Vec<u64> {
        updates.iter().map(|update| update["sequence"].as_str().unwrap().parse().unwrap()).collect()
    };
    let (seen, stored) = (came.json(), run(&server, &["watch", &task, "--json"]).json());
    assert_eq!(sequences(&seen), sequences(&stored), "{came:?}");
    assert_eq!(seen, stored);
    assert_eq!(came.code, Some(0), "{came:?}");
    assert!(came.err.contains("the connection is lost") && came.err.contains("connected again"), "{came:?}");
}
