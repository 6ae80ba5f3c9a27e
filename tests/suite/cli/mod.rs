//! The terminal client: the real binary in a pipe and at a terminal, against real servers with the rehearsal behind them.

mod alone;
mod foreign;
mod lists;
mod pipe;
mod pty;
mod restart;
mod story;

use std::io::Write;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::kit::DEADLINE;
use crate::kit::process::{Running, agena};

/// A prompt that the rehearsal follows.
fn script(steps: &str) -> String {
    format!("Do it.\n```rehearsal\n{steps}\n```\n")
}

/// A command of the client, told where the server is.
fn client(server: &Running, arguments: &[&str]) -> Command {
    let mut command = agena(server.home());
    command.args(arguments).env("AGENA_SERVER", &server.url);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// What a command came to.
#[derive(Debug)]
struct Came {
    code: Option<i32>,
    out: String,
    err: String,
}

impl From<Output> for Came {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

impl Came {
    fn json(&self) -> Vec<Value> {
        self.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// Waits for the end of a command, but not for ever.
fn ended(mut child: Child) -> Came {
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if started.elapsed() > 3 * DEADLINE {
            child.kill().unwrap();
            panic!("the command does not end: {:?}", Came::from(child.wait_with_output().unwrap()));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.wait_with_output().unwrap().into()
}

fn run(server: &Running, arguments: &[&str]) -> Came {
    ended(client(server, arguments).spawn().unwrap())
}

fn run_with(server: &Running, arguments: &[&str], input: &str) -> Came {
    let mut child = client(server, arguments).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    ended(child)
}

/// The tasks that have not ended, once there are so many.
fn open_tasks(server: &Running, count: usize) -> Vec<Value> {
    let started = Instant::now();
    loop {
        let tasks = run(server, &["tasks", "--json"]).json();
        if tasks.len() == count {
            return tasks;
        }
        assert!(started.elapsed() < DEADLINE, "{tasks:?}");
    }
}
