//! Servers for tests: the fake one, in whatever mode, and a hub that knows it.

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::time::Duration;

use agena::domain::mcp::{Crew, Origin, Servers, Spec, Way};
use agena::domain::secret::Secret;
use agena::domain::tool::{Approval, Call, Outcome, Run, ToolError};
use agena::mcp::{Hub, Options};
use agena::sandbox::process::Launcher;
use agena::telemetry::metrics::McpCalls;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

pub const FAKE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suite/mcp/fake.py");

pub fn spec(name: &str, mode: &str) -> Spec {
    Spec {
        name: name.to_owned(),
        origin: Origin::Settings,
        way: Way::Command {
            program: "python3".to_owned(),
            arguments: vec![FAKE.to_owned(), mode.to_owned()],
            environment: vec![("FAKE_KEY".to_owned(), Secret::new("k3y"))],
            directory: None,
        },
        connect: Duration::from_secs(20),
        call: Duration::from_secs(20),
        trusted: false,
        include: Vec::new(),
        exclude: Vec::new(),
        confined: false,
    }
}

pub fn options(workspace: &Path, servers: Vec<Spec>) -> Options {
    let own = |name: &str| Some((OsString::from(name), std::env::var_os(name)?));
    Options {
        servers,
        from_clients: false,
        from_workspaces: true,
        hosts: Vec::new(),
        root: workspace.to_owned(),
        workspace: workspace.to_owned(),
        trusted: Vec::new(),
        launcher: Launcher {
            helper: PathBuf::from(env!("CARGO_BIN_EXE_agena")),
            environment: ["PATH", "HOME"].into_iter().filter_map(own).collect(),
            confinement: None,
        },
        metrics: Arc::new(McpCalls::default()),
    }
}

pub fn hub(workspace: &Path, servers: Vec<Spec>) -> Arc<Hub> {
    Arc::new(Hub::new(options(workspace, servers)).unwrap())
}

/// Where servers work: as the workspace is known, with links followed.
pub fn place(directory: &tempfile::TempDir) -> String {
    directory.path().canonicalize().unwrap().to_str().unwrap().to_owned()
}

pub fn crew(hub: &Hub, workspace: &str) -> Arc<dyn Crew> {
    let whose = ("ann".to_owned(), String::new(), "c".to_owned());
    hub.open(&whose, workspace, &[]).unwrap()
}

pub async fn names(crew: &Arc<dyn Crew>) -> Vec<String> {
    crew.declarations().await.into_iter().map(|declaration| declaration.name).collect()
}

pub fn called(tool: &str, arguments: Value) -> Call {
    Call { id: "1".to_owned(), tool: tool.to_owned(), arguments: arguments.as_object().unwrap().clone() }
}

/// Runs a call to its end.
pub async fn run(crew: &Arc<dyn Crew>, tool: &str, arguments: Value) -> Result<Outcome, ToolError> {
    let (output, _heard) = mpsc::channel(64);
    let cancel = CancellationToken::new();
    crew.run(Run { call: called(tool, arguments), approval: Approval::default(), output, cancel }).await
}

/// The fake server over HTTP; ended when it is dropped.
pub struct OverHttp {
    child: Child,
    pub url: String,
}

impl OverHttp {
    pub fn start() -> Self {
        Self::start_as("")
    }

    pub fn start_as(mode: &str) -> Self {
        let mut child = std::process::Command::new("python3")
            .args([FAKE, "http", mode])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { child, url: format!("http://127.0.0.1:{}/mcp", line.trim()) }
    }

    pub fn spec(&self, name: &str, token: &str) -> Spec {
        let way = Way::Http {
            url: self.url.clone(),
            headers: vec![("x-extra".to_owned(), Secret::new("yes"))],
            bearer: Some(Secret::new(token)),
        };
        Spec { way, ..spec(name, "") }
    }
}

impl Drop for OverHttp {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
