//! The server is killed or stopped and comes back: the client goes on without gap or repeat, and says little about it.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::pty::Terminal;
use super::{client, ended, open_tasks, run, script};
use crate::kit::DEADLINE;
use crate::kit::process::Running;

/// Kills it and starts another on the same data and the same port.
fn again(server: Running) -> Running {
    let address = address(&server);
    start_again(server.into_home(), &address, &[])
}

fn address(server: &Running) -> String {
    server.url.strip_prefix("http://").unwrap().to_owned()
}

fn start_again(mut home: tempfile::TempDir, address: &str, options: &[&str]) -> Running {
    let started = Instant::now();
    loop {
        // Connections of the one before may hold the port for a moment.
        match Running::try_start(home, &[&["--listen", address], options].concat(), &[]) {
            Ok(server) => return server,
            Err(left) => home = left,
        }
        assert!(started.elapsed() < DEADLINE, "the port stays taken");
    }
}

/// Nobody is there, and it is tried in vain so many times.
fn in_vain(address: &str, times: usize) {
    let started = Instant::now();
    let late = || assert!(started.elapsed() < DEADLINE, "it is not tried again");
    let listener = loop {
        match TcpListener::bind(address) {
            Ok(listener) => break listener,
            Err(_) => late(),
        }
    };
    listener.set_nonblocking(true).unwrap();
    let mut tried = 0;
    while tried < times {
        match listener.accept() {
            Ok(_) => tried += 1,
            Err(_) => std::thread::sleep(Duration::from_millis(5)),
        }
        late();
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
        let lines = BufReader::new(watch.stdout.take().unwrap()).lines();
        let seen = lines.map(Result::unwrap).any(|line| line.contains("begun\\n"));
        watch.kill().unwrap();
        watch.wait().unwrap();
        seen
    };
    assert!(running(&server));
    let address = address(&server);
    let home = server.into_home();
    in_vain(&address, 3);
    let server = start_again(home, &address, &[]);
    let came = ended(child);
    let sequences = |updates: &[Value]| -> Vec<u64> {
        updates.iter().map(|update| update["sequence"].as_str().unwrap().parse().unwrap()).collect()
    };
    let (seen, stored) = (came.json(), run(&server, &["watch", &task, "--json"]).json());
    assert_eq!(sequences(&seen), sequences(&stored), "{came:?}");
    assert_eq!(seen, stored);
    assert_eq!(came.code, Some(0), "{came:?}");
    // However often it was tried.
    for said in ["the connection is lost", "connected again"] {
        assert_eq!(came.err.matches(said).count(), 1, "{came:?}");
    }
}

#[test]
fn a_list_that_is_watched_goes_on_after_a_stop() {
    let mut server = Running::start(&[]);
    let does = |server: &Running, name: &str, step: &str| {
        run(server, &["chat", "-p", &format!("{name}\n```rehearsal\n{step}\n```\n")])
    };
    // Over before anybody watches, though later than what is open: nobody asked for it.
    does(&server, "early", "- ask: which?");
    does(&server, "over", "- say: yes");
    let mut watcher = client(&server, &["watch", "--json"]).spawn().unwrap();
    let mut lines = BufReader::new(watcher.stdout.take().unwrap()).lines().map(Result::unwrap);
    // Of nothing but the named task until it is there.
    let mut told = |name: &str, state: &str| loop {
        let line = lines.next().unwrap();
        assert!(line.contains(&format!("\"{name}\"")), "{name}: {line}");
        if line.contains(state) {
            return;
        }
    };
    told("early", "INPUT_REQUIRED");
    does(&server, "first", "- ask: which?");
    told("first", "INPUT_REQUIRED");
    server.signal("TERM");
    assert_eq!(server.ended(), Some(0));
    let address = address(&server);
    let home = server.into_home();
    in_vain(&address, 2);
    let server = start_again(home, &address, &[]);
    // What is still as it was is not told again, and what was done before the connection stood is.
    does(&server, "again", "- say: yes");
    told("again", "COMPLETED");
    let id = watcher.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let came = ended(watcher);
    assert_eq!(came.code, Some(130), "{came:?}");
    for said in ["the connection is lost (the server is going away); trying again", "connected again"] {
        assert_eq!(came.err.matches(said).count(), 1, "{came:?}");
    }
}

#[test]
fn a_conversation_is_not_forgotten_with_its_first_connection() {
    let rules = "rules:\n  - {when: {said: slow}, do: [say: Begun., wait: 1m]}\n  - do: [say: Hello.]\n";
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("rules.yaml");
    std::fs::write(&file, rules).unwrap();
    let options = ["--rehearsal", file.to_str().unwrap()];
    let server = Running::start_in(home, &options);
    let mut terminal = Terminal::chat(&server, &[]);
    terminal.say("slow");
    terminal.expect("Begun.");
    // Another token than the one that the chat has: trying again is no use.
    let token = server.home().join(".local/share/agena/token");
    let (address, kept) = (address(&server), std::fs::read(&token).unwrap());
    let home = server.into_home();
    let mut another = kept.clone();
    another[0] = if kept[0] == b'A' { b'B' } else { b'A' };
    std::fs::write(&token, another).unwrap();
    let server = start_again(home, &address, &options);
    terminal.expect("the server refuses the token");
    terminal.expect("> ");
    let home = server.into_home();
    std::fs::write(&token, kept).unwrap();
    let server = start_again(home, &address, &options);
    terminal.say("hello");
    terminal.expect("Hello.");
    let all = run(&server, &["tasks", "--all", "--json"]).json();
    assert_eq!((all.len(), &all[0]["context_id"]), (2, &all[1]["context_id"]), "{all:?}");
}
