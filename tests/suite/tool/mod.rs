//! The built-in tools on a real workspace, through the contract that the agent calls: what each of them does, what none
//! of them can be made to do, and what becomes of the processes that they start.

mod asking;
mod background;
mod confinement;
mod edits;
mod escapes;
mod looking;
mod memory;
mod race;
mod shell;
mod talking;
mod web;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agena::domain::tool::{Approval, Call, Outcome, Plan, Run, ToolError, Toolbox};
use agena::proto::devtool::{AgentSettings, FileDiff, tool_output};
use agena::tool::{Bench, Options, Tools};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::kit::DEADLINE;

/// A root with a workspace in it, and a place outside that nobody may touch.
pub struct Bed {
    place: TempDir,
    pub tools: Tools,
}

impl Bed {
    pub fn new() -> Self {
        Self::with(|_| {})
    }

    pub fn with(change: impl FnOnce(&mut Options)) -> Self {
        Self::within(tempfile::tempdir().unwrap(), change)
    }

    /// Where a confined command may not write: not among the temporary files.
    pub fn away(change: impl FnOnce(&mut Options)) -> Self {
        Self::within(crate::kit::away(), change)
    }

    fn within(place: TempDir, change: impl FnOnce(&mut Options)) -> Self {
        let root = place.path().canonicalize().unwrap().join("root");
        fs::create_dir_all(root.join("ws")).unwrap();
        fs::create_dir_all(place.path().join("outside")).unwrap();
        fs::write(place.path().join("outside/secret"), "the secret").unwrap();
        let mut options = Options::new(root.clone(), env!("CARGO_BIN_EXE_agena").into());
        change(&mut options);
        let settings = AgentSettings {
            workspace_path: root.join("ws").to_str().unwrap().to_owned(),
            ..Default::default()
        };
        let tools = Bench::new(options).unwrap().tools(&settings).unwrap();
        Self { place, tools }
    }

    pub fn outside(&self) -> PathBuf {
        self.place.path().canonicalize().unwrap().join("outside")
    }

    pub fn path(&self, name: &str) -> PathBuf {
        Path::new(self.tools.workspace()).join(name)
    }

    pub fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    /// A file of the workspace, with the directories above it.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), content).unwrap();
    }

    pub fn content(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub async fn plan(&self, tool: &str, arguments: Value) -> Result<Plan, ToolError> {
        timeout(DEADLINE, self.tools.plan(&call(tool, arguments))).await.unwrap()
    }

    pub async fn run(&self, tool: &str, arguments: Value) -> Result<Outcome, ToolError> {
        self.run_with(tool, arguments, Approval::default()).await
    }

    pub async fn run_with(
        &self,
        tool: &str,
        arguments: Value,
        agreed: Approval,
    ) -> Result<Outcome, ToolError> {
        let (run, _output) = start(tool, arguments, agreed);
        timeout(DEADLINE, self.tools.run(run)).await.unwrap()
    }

    /// What the model is told.
    pub async fn told(&self, tool: &str, arguments: Value) -> String {
        self.run(tool, arguments).await.unwrap().told
    }

    /// The word for a program, and the message.
    pub async fn refused(&self, tool: &str, arguments: Value) -> (&'static str, String) {
        problem(self.run(tool, arguments).await.unwrap_err())
    }
}

pub fn call(tool: &str, arguments: Value) -> Call {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    Call { id: "1".to_owned(), tool: tool.to_owned(), arguments }
}

pub fn start(tool: &str, arguments: Value, approval: Approval) -> (Run, mpsc::Receiver<String>) {
    let (output, printed) = mpsc::channel(1024);
    let run = Run { call: call(tool, arguments), approval, output, cancel: CancellationToken::new() };
    (run, printed)
}

pub fn problem(error: ToolError) -> (&'static str, String) {
    match error {
        ToolError::Failed { kind, message, .. } => (kind, message),
        ToolError::Cancelled { so_far } => ("cancelled", so_far),
    }
}

pub fn diff(outcome: &Outcome) -> &FileDiff {
    match &outcome.shown.result {
        Some(tool_output::Result::Diff(diff)) => diff,
        other => panic!("no diff: {other:?}"),
    }
}

pub fn shown(outcome: &Outcome) -> &str {
    match &outcome.shown.result {
        Some(tool_output::Result::Text(text)) => text,
        other => panic!("no text: {other:?}"),
    }
}

/// Until it holds. Looks often and gives up at the deadline.
pub async fn until(what: &str, limit: Duration, mut holds: impl FnMut() -> bool) {
    let mut looks = tokio::time::interval(Duration::from_millis(10));
    let waited = timeout(limit, async {
        while !holds() {
            looks.tick().await;
        }
    });
    waited.await.unwrap_or_else(|_| panic!("{what} did not happen within {limit:?}"));
}
