//! Commands that run on while the agent does other things: kept by the process id that the model was told, ended when
//! the workspace is let go of. And the three tools to list, read and end them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::kept::{Decoder, Kept};
use super::shape::{Job, Place, Tool, declaration, plain_plan, read, structured, text};
use super::shell::LONGEST_LOOK;
use super::text::untrusted;
use crate::domain::tool::{Arguments, Declaration, Kind, Outcome, Plan, ToolError};
use crate::sandbox::process::{Child, End};

const RUNNING: usize = 16;
/// Ended ones are remembered for a while, so that their last words can be read.
const REMEMBERED: usize = 100;
const LOG: usize = 200_000;
const LINES: usize = 100;
/// Longer than ending one takes.
const STOP: Duration = Duration::from_secs(10);

/// All of one workspace.
#[derive(Default)]
pub(super) struct Background {
    all: Mutex<Vec<Entry>>,
}

struct Entry {
    pid: i32,
    command: String,
    log: Arc<Mutex<Kept>>,
    end: watch::Receiver<Option<End>>,
    stop: CancellationToken,
    /// Whoever drops the list ends what is in it.
    _guard: DropGuard,
}

impl Entry {
    fn state(&self) -> String {
        match *self.end.borrow() {
            None => "running".to_owned(),
            Some(End { code: Some(code), .. }) => format!("exited with {code}"),
            Some(End { signal, .. }) => format!("ended by signal {}", signal.unwrap_or_default()),
        }
    }
}

impl Background {
    fn all(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a child over and tells what it printed at first.
    pub(super) async fn keep(
        &self,
        mut child: Child,
        command: String,
        delay: Duration,
    ) -> Result<Outcome, ToolError> {
        if self.all().iter().filter(|entry| entry.end.borrow().is_none()).count() >= RUNNING {
            child.stop().await;
            let message = format!("{RUNNING} processes run in the background already; end one of them first");
            return Err(ToolError::new("shell_execute_error", message));
        }
        let pid = child.pid();
        let (log, stop) = (Arc::new(Mutex::new(Kept::new(LOG))), CancellationToken::new());
        let (ended, mut end) = watch::channel(None);
        tokio::spawn(follow(child, Arc::clone(&log), stop.clone(), ended));
        self.add(Entry {
            pid,
            command,
            log: Arc::clone(&log),
            end: end.clone(),
            stop: stop.clone(),
            _guard: stop.drop_guard(),
        });
        let _ = tokio::time::timeout(delay, end.wait_for(Option::is_some)).await;
        let so_far = log.lock().unwrap_or_else(PoisonError::into_inner).text();
        Ok(started(pid, &self.find(pid, Entry::state)?, &so_far))
    }

    fn add(&self, entry: Entry) {
        let mut all = self.all();
        if all.len() == REMEMBERED
            && let Some(oldest) = all.iter().position(|entry| entry.end.borrow().is_some())
        {
            all.remove(oldest);
        }
        all.push(entry);
    }

    /// The youngest of that number: the system gives numbers out again.
    fn find<T>(&self, pid: i32, look: impl FnOnce(&Entry) -> T) -> Result<T, ToolError> {
        let all = self.all();
        let known = || all.iter().map(|entry| entry.pid.to_string()).collect::<Vec<_>>().join(", ");
        all.iter().rev().find(|entry| entry.pid == pid).map(look).ok_or_else(|| {
            let message =
                format!("pid: {pid} is no background process of this workspace; these are: [{}]", known());
            ToolError::new("invalid_tool_params", message)
        })
    }
}

fn started(pid: i32, state: &str, so_far: &str) -> Outcome {
    let output = if so_far.is_empty() { "(empty)".to_owned() } else { untrusted(so_far) };
    let told = format!("Started in the background with PID {pid}; it is {state}. Output so far: {output}");
    text(told, format!("Background process {pid} is {state}\n{so_far}"))
}

/// Reads what a child prints until it ends or shall end.
async fn follow(
    mut child: Child,
    log: Arc<Mutex<Kept>>,
    stop: CancellationToken,
    ended: watch::Sender<Option<End>>,
) {
    let mut decoder = Decoder::default();
    let mut keep =
        |bytes: &[u8]| log.lock().unwrap_or_else(PoisonError::into_inner).push(&decoder.push(bytes));
    let end = loop {
        tokio::select! {
            () = stop.cancelled() => {
                keep(&child.stop().await);
                break End { signal: Some(rustix::process::Signal::TERM.as_raw()), ..End::default() };
            }
            piece = child.printed() => match piece {
                Some(piece) => keep(&piece),
                None => break child.ended().await,
            },
        }
    };
    ended.send_replace(Some(end));
}

pub(super) struct ListBackground;

#[async_trait]
impl Tool for ListBackground {
    fn declaration(&self) -> Declaration {
        declaration(
            "list_background_processes",
            "ListBackgroundProcesses",
            Kind::Read,
            "Lists the processes that were started in the background, with their state.",
            json!({"type": "object", "properties": {}}),
        )
    }

    async fn plan(&self, _: &Place, _: &Arguments) -> Result<Plan, ToolError> {
        Ok(plain_plan("List background processes".to_owned()))
    }

    async fn run(&self, place: &Place, _: Job) -> Result<Outcome, ToolError> {
        let all = place.background.all();
        let lines: Vec<String> =
            all.iter().map(|e| format!("[PID {}] {}: {}", e.pid, e.state(), e.command)).collect();
        let told = if lines.is_empty() { "No background processes.".to_owned() } else { lines.join("\n") };
        let processes: Vec<_> =
            all.iter().map(|e| json!({"pid": e.pid, "state": e.state(), "command": e.command})).collect();
        Ok(structured(told, json!({"processes": processes})))
    }
}

#[derive(Deserialize)]
struct Which {
    pid: i32,
    lines: Option<usize>,
    delay_ms: Option<u64>,
}

pub(super) struct ReadBackground;

#[async_trait]
impl Tool for ReadBackground {
    fn declaration(&self) -> Declaration {
        declaration(
            "read_background_output",
            "ReadBackgroundOutput",
            Kind::Read,
            "Reads the last lines that a background process printed.",
            json!({
                "type": "object",
                "properties": {
                    "pid": {"type": "integer", "description": "As run_shell_command told it."},
                    "lines": {
                        "type": "integer", "minimum": 1, "maximum": 2000,
                        "description": "100 if left out.",
                    },
                    "delay_ms": {
                        "type": "integer", "minimum": 0, "maximum": LONGEST_LOOK,
                        "description": "Wait this long first, or until it ends.",
                    },
                },
                "required": ["pid"],
            }),
        )
    }

    async fn plan(&self, place: &Place, arguments: &Arguments) -> Result<Plan, ToolError> {
        let which: Which = read(arguments)?;
        place
            .background
            .find(which.pid, |entry| plain_plan(format!("Read the output of `{}`", entry.command)))
    }

    async fn run(&self, place: &Place, job: Job) -> Result<Outcome, ToolError> {
        let which: Which = read(&job.arguments)?;
        let (log, mut end) = place.background.find(which.pid, |e| (Arc::clone(&e.log), e.end.clone()))?;
        let delay = Duration::from_millis(which.delay_ms.unwrap_or(0));
        tokio::select! {
            () = job.cancel.cancelled() => return Err(ToolError::Cancelled { so_far: String::new() }),
            _ = tokio::time::timeout(delay, end.wait_for(Option::is_some)) => {}
        }
        let state = place.background.find(which.pid, Entry::state)?;
        let whole = log.lock().unwrap_or_else(PoisonError::into_inner).text();
        let lines: Vec<&str> = whole.lines().collect();
        let last = lines[lines.len().saturating_sub(which.lines.unwrap_or(LINES))..].join("\n");
        let output = if last.is_empty() { "(empty)".to_owned() } else { untrusted(&last) };
        Ok(text(format!("Process {} is {state}. Output: {output}", which.pid), last))
    }
}

pub(super) struct KillBackground;

#[async_trait]
impl Tool for KillBackground {
    fn declaration(&self) -> Declaration {
        declaration(
            "kill_background_process",
            "KillBackgroundProcess",
            // Not an Execute: there is no command for the policy to judge.
            Kind::Other,
            "Ends a background process with all that it started.",
            json!({
                "type": "object",
                "properties": {"pid": {"type": "integer", "description": "As run_shell_command told it."}},
                "required": ["pid"],
            }),
        )
    }

    async fn plan(&self, place: &Place, arguments: &Arguments) -> Result<Plan, ToolError> {
        let which: Which = read(arguments)?;
        place
            .background
            .find(which.pid, |entry| plain_plan(format!("End `{}` (PID {})", entry.command, entry.pid)))
    }

    async fn run(&self, place: &Place, job: Job) -> Result<Outcome, ToolError> {
        let which: Which = read(&job.arguments)?;
        let mut end = place.background.find(which.pid, |entry| {
            entry.stop.cancel();
            entry.end.clone()
        })?;
        match tokio::time::timeout(STOP, end.wait_for(Option::is_some)).await {
            Ok(_) => Ok(text(format!("Process {} is gone.", which.pid), "Ended")),
            Err(_) => {
                let message = format!("process {} does not end; the system may hold it", which.pid);
                Err(ToolError::new("shell_execute_error", message))
            }
        }
    }
}
