//! What stands behind the agent of a test: a script, and real tools in a workspace of its own.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use agena::agent::Mind;
use agena::agent::mind::Options;
use agena::domain::mcp::{NoServers, Servers};
use agena::domain::model::{Backend, Chunks};
use agena::model::rehearsal::{Rehearsal, Script};
use agena::proto::gemini::GenerateContentRequest;
use agena::tool::{self, Asks, Bench};

/// An agent in the making.
#[derive(Debug, Clone, Default)]
pub struct AgentSetup {
    /// Without one, a directory that nobody looks at.
    pub workspace: Option<PathBuf>,
    pub options: Options,
    pub sandbox: bool,
    pub trusted: Vec<PathBuf>,
    /// What the model was asked, in this order.
    pub asked: Asked,
    /// Asked instead of the script.
    pub instead: Option<Instead>,
    /// MCP servers; none without.
    pub servers: Option<WithServers>,
}

/// Any model.
#[derive(Clone)]
pub struct Instead(pub Arc<dyn Backend>);

impl std::fmt::Debug for Instead {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Instead")
    }
}

/// Any servers.
#[derive(Clone)]
pub struct WithServers(pub Arc<dyn Servers>);

impl std::fmt::Debug for WithServers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("WithServers")
    }
}

/// Requests to a model, for whoever wants to look at them.
pub type Asked = Arc<Mutex<Vec<GenerateContentRequest>>>;

/// A model that keeps what it is asked.
struct Spy {
    model: Arc<dyn Backend>,
    asked: Asked,
}

impl Backend for Spy {
    fn stream(&self, request: GenerateContentRequest) -> Chunks {
        self.asked.lock().unwrap().push(request.clone());
        self.model.stream(request)
    }

    fn searches(&self, model: &str) -> bool {
        self.model.searches(model)
    }
}

impl AgentSetup {
    pub fn at(workspace: &Path) -> Self {
        Self { workspace: Some(workspace.to_owned()), ..Self::default() }
    }

    pub fn mind(&self, script: &str) -> Mind {
        let rehearsal = match script {
            "" => Rehearsal::built_in().unwrap(),
            script => Rehearsal::new(Script::parse(script).unwrap()),
        };
        let rehearsal = Arc::new(rehearsal);
        let workspace = self.workspace.clone().unwrap_or_else(std::env::temp_dir);
        let model =
            self.instead.clone().map_or_else(|| rehearsal.clone() as Arc<dyn Backend>, |other| other.0);
        let spy: Arc<dyn Backend> = Arc::new(Spy { model, asked: Arc::clone(&self.asked) });
        let options = tool::Options {
            asks: Some(Asks { backend: Arc::clone(&spy), model: String::new() }),
            default_workspace: Some(workspace.clone()),
            sandbox: self.sandbox,
            trusted: self.trusted.clone(),
            ..tool::Options::new(workspace, PathBuf::from(env!("CARGO_BIN_EXE_agena")))
        };
        Mind {
            brain: rehearsal,
            backend: spy,
            workshop: Arc::new(Bench::new(options).unwrap()),
            servers: self
                .servers
                .clone()
                .map_or_else(|| Arc::new(NoServers) as Arc<dyn Servers>, |these| these.0),
            options: self.options.clone(),
        }
    }
}
