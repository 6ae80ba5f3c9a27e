//! The real binary as a child: started on a free port with a data directory of its own, ended with the test.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use super::DEADLINE;

/// A command that sees nothing of this machine's own settings.
pub fn agena(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agena"));
    // Beside the server's own files, which no workspace may hold.
    let workspace = home.join("workspace");
    std::fs::create_dir_all(&workspace).unwrap();
    command
        .env_clear()
        .env("HOME", home)
        .env("AGENA_WORKSPACE", workspace)
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
    home: Option<TempDir>,
    log: Arc<Mutex<String>>,
    reader: Option<JoinHandle<()>>,
}

impl Running {
    /// Lines are JSON, so that the first one says where the server is.
    pub fn start(options: &[&str]) -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), options)
    }

    /// On the data of an earlier run.
    pub fn start_in(home: TempDir, options: &[&str]) -> Self {
        Self::start_with(home, options, &[])
    }

    pub fn start_with(home: TempDir, options: &[&str], environment: &[(&str, &str)]) -> Self {
        Self::try_start(home, options, environment)
            .unwrap_or_else(|_| panic!("the server ended before it was ready"))
    }

    /// What is left of it if it ends before it is ready.
    pub fn try_start(home: TempDir, options: &[&str], environment: &[(&str, &str)]) -> Result<Self, TempDir> {
        let mut command = agena(home.path());
        command.envs(environment.iter().copied()).args(["--log-format", "json"]).args(options);
        let mut child = command.stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (log, reader, ready) = collect(&mut child);
        let Ok(ready) = ready.recv_timeout(DEADLINE) else {
            let _ = child.kill();
            child.wait().unwrap();
            return Err(home);
        };
        let ready: Value = serde_json::from_str(&ready).unwrap();
        let url = ready["url"].as_str().unwrap().to_owned();
        Ok(Self { child, url, home: Some(home), log, reader: Some(reader) })
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

impl Running {
    pub fn home(&self) -> &Path {
        self.home.as_ref().unwrap().path()
    }

    /// What is left of it when it is killed, for another to start on.
    pub fn into_home(mut self) -> TempDir {
        // It may have ended already.
        let _ = self.child.kill();
        self.child.wait().unwrap();
        self.home.take().unwrap()
    }

    /// What it logged so far.
    pub fn logged(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// All that it logged; it has ended.
    pub fn log(&mut self) -> String {
        self.reader.take().into_iter().for_each(|reader| reader.join().unwrap());
        self.log.lock().unwrap().clone()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads what the server logs, on and on: a pipe that nobody empties would stop it. The line that says that it is
/// ready comes through the channel.
fn collect(child: &mut Child) -> (Arc<Mutex<String>>, JoinHandle<()>, mpsc::Receiver<String>) {
    let (send, ready) = mpsc::channel();
    let log = Arc::new(Mutex::new(String::new()));
    let (stderr, lines) = (child.stderr.take().unwrap(), Arc::clone(&log));
    let reader = std::thread::spawn(move || {
        for line in BufReader::new(stderr).lines().map_while(Result::ok) {
            if line.contains("\"ready\"") {
                let _ = send.send(line.clone());
            }
            let mut log = lines.lock().unwrap();
            log.push_str(&line);
            log.push('\n');
        }
    });
    (log, reader, ready)
}
