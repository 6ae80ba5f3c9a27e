//! What stands behind the agent of a test: a script, and real tools in a workspace of its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agena::agent::Mind;
use agena::agent::mind::Options;
use agena::model::rehearsal::{Rehearsal, Script};
use agena::tool::{self, Bench};

/// An agent in the making.
#[derive(Debug, Clone)]
pub struct AgentSetup {
    /// Without one, a directory that nobody looks at.
    pub workspace: Option<PathBuf>,
    pub options: Options,
    pub sandbox: bool,
    pub trusted: Vec<PathBuf>,
}

impl Default for AgentSetup {
    fn default() -> Self {
        Self { workspace: None, options: Options::default(), sandbox: false, trusted: vec![] }
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
        let options = tool::Options {
            default_workspace: Some(workspace.clone()),
            sandbox: self.sandbox,
            trusted: self.trusted.clone(),
            ..tool::Options::new(workspace, PathBuf::from(env!("CARGO_BIN_EXE_agena")))
        };
        Mind {
            brain: rehearsal.clone(),
            backend: rehearsal,
            workshop: Arc::new(Bench::new(options).unwrap()),
            options: self.options.clone(),
        }
    }
}
