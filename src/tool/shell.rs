//! `run_shell_command`: a command of the model in a shell, below a supervisor that lets nothing outlive it. What it
//! prints is shown as it comes; what the model is told is cut and marked as not to be obeyed.

use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::json;
use tokio::time::{Instant, sleep_until};

use super::kept::{Decoder, Kept};
use super::shape::{Job, Place, Tool, blocking, declaration, read, start, text};
use super::text::{is_binary, untrusted};
use crate::domain::tool::{Arguments, Declaration, Kind, Outcome, Plan, ToolError};
use crate::proto::devtool::ExecuteDetails;
use crate::proto::devtool::confirmation_request::Details;
use crate::sandbox::FoundKind;
use crate::sandbox::process::{Child, End};

/// What the model is told of the output, in characters, and what the user can read when it is over.
const TOLD: usize = 40_000;
const SHOWN: usize = 100_000;
/// The kernel takes no longer argument.
const COMMAND: usize = 128 * 1024 - 1;
/// Far enough away to be never.
const NEVER: Duration = Duration::from_hours(24 * 365);
/// A process in the background has this long to fail at once.
const FIRST_LOOK: Duration = Duration::from_millis(300);
pub(super) const LONGEST_LOOK: u64 = 60_000;

#[derive(Deserialize)]
struct Wanted {
    command: String,
    description: Option<String>,
    dir_path: Option<String>,
    #[serde(default)]
    is_background: bool,
    delay_ms: Option<u64>,
}

pub(super) struct Shell;

#[async_trait]
impl Tool for Shell {
    fn declaration(&self) -> Declaration {
        declaration(
            "run_shell_command",
            "Shell",
            Kind::Execute,
            "Runs a command with `bash -c` and returns its output and exit code. Nothing that it starts lives on when it \
             ends; for servers and watchers set is_background, then use read_background_output and \
             kill_background_process. There is no input and no terminal.",
            json!({
                "type": "object",
                "properties": {
                    "command": {
                        "type": "string", "minLength": 1,
                        "description": "The command, exactly as bash shall read it.",
                    },
                    "description": {
                        "type": "string",
                        "description": "What it is for, in a sentence for the user.",
                    },
                    "dir_path": {
                        "type": "string",
                        "description": "Where to run it; the workspace if left out.",
                    },
                    "is_background": {"type": "boolean", "description": "Let it run on and return at once."},
                    "delay_ms": {
                        "type": "integer", "minimum": 0, "maximum": LONGEST_LOOK,
                        "description": "In the background: how long to wait for first output.",
                    },
                },
                "required": ["command"],
            }),
        )
    }

    async fn plan(&self, place: &Place, arguments: &Arguments) -> Result<Plan, ToolError> {
        let wanted: Wanted = read(arguments)?;
        let details = look(place, &wanted).await?;
        let description = wanted.description.unwrap_or_else(|| format!("Run `{}`", wanted.command));
        Ok(Plan { description, details: Details::ExecuteDetails(details), always_asks: false, paths: vec![] })
    }

    async fn run(&self, place: &Place, job: Job) -> Result<Outcome, ToolError> {
        let wanted: Wanted = read(&job.arguments)?;
        let agreed = match &job.approval.details {
            Some(Details::ExecuteDetails(agreed)) => agreed.clone(),
            Some(_) => return Err(ToolError::new("invalid_tool_params", "what was agreed on is no command")),
            None => look(place, &wanted).await?,
        };
        let mut child = begin(place, &agreed).await?;
        if wanted.is_background {
            let delay = wanted.delay_ms.map_or(FIRST_LOOK, Duration::from_millis);
            return place.background.keep(child, agreed.command, delay).await;
        }
        let mut seen = Seen::new();
        let stopped = watch(&mut child, &mut seen, place, &job).await;
        finish(child, seen, stopped, &job).await
    }
}

/// Checks what can be checked before anything runs.
async fn look(place: &Place, wanted: &Wanted) -> Result<ExecuteDetails, ToolError> {
    let command = wanted.command.clone();
    if command.contains('\0') || command.trim().is_empty() {
        return Err(ToolError::new("invalid_tool_params", "command: it is empty or holds a NUL"));
    }
    if command.len() > COMMAND {
        let message = format!("command: longer than {COMMAND} bytes; write it to a file and run that");
        return Err(ToolError::new("invalid_tool_params", message));
    }
    let (workspace, dir) = (std::sync::Arc::clone(&place.workspace), wanted.dir_path.clone());
    let directory = blocking(move || {
        let path = workspace.real(&start(&workspace, dir.as_deref())?)?;
        match workspace.look(&path)?.kind {
            FoundKind::Directory => Ok(workspace.absolute(&path)),
            _ => Err(ToolError::new(
                "path_is_not_a_directory",
                format!("dir_path: {} is not a directory", workspace.absolute(&path)),
            )),
        }
    })
    .await?;
    Ok(ExecuteDetails { command, working_directory: Some(directory) })
}

async fn begin(place: &Place, agreed: &ExecuteDetails) -> Result<Child, ToolError> {
    let directory = agreed.working_directory.as_deref().unwrap_or_else(|| place.workspace.path());
    let directory = place.workspace.absolute(&place.workspace.resolve(directory)?);
    let arguments = vec!["-c".into(), agreed.command.clone().into()];
    let started =
        place.launcher.start(PathBuf::from(directory), place.shell.program.clone().into(), arguments);
    started.await.map_err(|error| {
        ToolError::new("shell_execute_error", format!("the command could not be started: {error}"))
    })
}

/// Why a command was ended before it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stopped {
    Cancelled,
    Silent(Duration),
    TooLong(Duration),
}

/// What was printed so far.
struct Seen {
    decoder: Decoder,
    told: Kept,
    shown: Kept,
    is_binary: bool,
}

impl Seen {
    fn new() -> Self {
        Self { decoder: Decoder::default(), told: Kept::new(TOLD), shown: Kept::new(SHOWN), is_binary: false }
    }

    /// The part of it that can be shown at once.
    fn push(&mut self, bytes: &[u8]) -> Option<String> {
        self.is_binary |= self.told.is_empty() && is_binary(bytes);
        if self.is_binary {
            return None;
        }
        let text = self.decoder.push(bytes);
        self.keep(&text);
        Some(text).filter(|text| !text.is_empty())
    }

    fn keep(&mut self, text: &str) {
        self.told.push(text);
        self.shown.push(text);
    }

    fn finish(&mut self) {
        let rest = self.decoder.finish();
        self.keep(&rest);
        if self.is_binary {
            self.keep("[binary output, not shown]");
        }
    }
}

/// Passes on what is printed, until it ends or has to be ended.
async fn watch(child: &mut Child, seen: &mut Seen, place: &Place, job: &Job) -> Option<Stopped> {
    let (silence, wall) = (place.shell.silence, place.shell.wall);
    let end = Instant::now() + wall.unwrap_or(NEVER);
    let mut heard = Instant::now();
    loop {
        let piece = tokio::select! {
            biased;
            () = job.cancel.cancelled() => return Some(Stopped::Cancelled),
            () = sleep_until(end) => return wall.map(Stopped::TooLong),
            () = sleep_until(heard + silence.unwrap_or(NEVER)) => return silence.map(Stopped::Silent),
            piece = child.printed() => piece?,
        };
        heard = Instant::now();
        let Some(text) = seen.push(&piece) else { continue };
        tokio::select! {
            biased;
            () = job.cancel.cancelled() => return Some(Stopped::Cancelled),
            () = sleep_until(end) => return wall.map(Stopped::TooLong),
            // Whoever does not listen any more does not keep the command from running.
            _ = job.output.send(text) => {}
        }
    }
}

async fn finish(
    mut child: Child,
    mut seen: Seen,
    stopped: Option<Stopped>,
    job: &Job,
) -> Result<Outcome, ToolError> {
    let Some(stopped) = stopped else {
        let end = child.ended().await;
        seen.finish();
        return Ok(ended(&seen, end));
    };
    let last = child.stop().await;
    if let Some(text) = seen.push(&last) {
        let _ = job.output.try_send(text);
    }
    seen.finish();
    let reason = match stopped {
        Stopped::Cancelled => return Err(ToolError::Cancelled { so_far: seen.shown.text() }),
        Stopped::Silent(limit) => format!("it printed nothing for {} s", limit.as_secs_f64()),
        Stopped::TooLong(limit) => format!("it ran for more than {} s", limit.as_secs_f64()),
    };
    let message = format!(
        "The command was ended with all that it had started because {reason}. If it is meant to run on, start it with \
         is_background. Output until then:\n{}",
        untrusted(&seen.told.text())
    );
    Err(ToolError::new("shell_timeout", message))
}

fn ended(seen: &Seen, end: End) -> Outcome {
    let output = if seen.told.is_empty() { "(empty)".to_owned() } else { untrusted(&seen.told.text()) };
    let mut facts = Vec::new();
    facts.extend(end.code.filter(|code| *code != 0).map(|code| format!("Exit Code: {code}")));
    facts.extend(end.signal.map(|signal| format!("Signal: {signal}")));
    let mut told = format!("Output: {output}");
    if seen.told.left_out() > 0 {
        told.push_str("\nThe output was cut; send it to a file in the workspace to read all of it.");
    }
    if end.left > 0 {
        told.push_str("\nProcesses that it left behind were ended with it; use is_background for those.");
    }
    let mut shown = seen.shown.text();
    for fact in facts {
        told.push_str(&format!("\n{fact}"));
        shown.push_str(&format!(
            "{}{fact}",
            if shown.is_empty() || shown.ends_with('\n') { "" } else { "\n" }
        ));
    }
    text(told, shown)
}
