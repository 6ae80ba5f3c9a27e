//! The real binary as a child: started on a free port with a data directory of its own, ended with the test.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use super::DEADLINE;

/// A command that sees nothing of this machine's own settings.
pub fn agena(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agena"));
    command
        .env_clear()
        .env("HOME", home)
        .env("AGENA_LISTEN", "127.0.0.1:0")
        .current_dir(home)
        .stdin(Stdio::null());
    command
}

pub fn output(command: &mut Command) -> Output {
    command.output().unwrap()
}

/// A running server, ended with the test.
pub struct Running {
    pub child: Child,
    pub url: String,
    pub home: TempDir,
}

impl Running {
    /// Lines are JSON, so that the first one says where the server is.
    pub fn start(options: &[&str]) -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), options)
    }

    /// On the data of an earlier run.
    pub fn start_in(home: TempDir, options: &[&str]) -> Self {
        let mut command = agena(home.path());
        command.args(["--log-format", "json"]).args(options);
        let mut child = command.stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let ready: Value = serde_json::from_str(&line_with(&mut child, "\"ready\"")).unwrap();
        Self { child, url: ready["url"].as_str().unwrap().to_owned(), home }
    }

    pub fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([&format!("-{name}"), &id]).status().unwrap().success());
    }

    /// Waits for the end and returns the exit code.
    pub fn ended(&mut self) -> Option<i32> {
        let started = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            assert!(started.elapsed() < DEADLINE, "the server does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads up to the line that says it.
fn line_with(child: &mut Child, words: &'static str) -> String {
    let (send, receive) = mpsc::channel();
    let stderr = child.stderr.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut reader = BufReader::new(stderr);
        let mut line = String::new();
        while !line.contains(words) {
            line.clear();
            assert!(reader.read_line(&mut line).unwrap() > 0, "it ended without saying {words}");
        }
        send.send(line).unwrap();
        reader
    });
    let line = receive.recv_timeout(DEADLINE).unwrap();
    child.stderr = Some(reader.join().unwrap().into_inner());
    line
}
