//! What a tool is to the agent: it is declared to the model, looks at a call without changing anything, and later
//! performs exactly what was looked at. The tools implement it, the agent calls it; neither knows the other.

use std::collections::BTreeMap;
use std::sync::Arc;

use sha2::{Digest, Sha256};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::proto::devtool::confirmation_request::Details;
use crate::proto::devtool::{AgentSettings, ToolOutput};
use crate::proto::gemini::Part;
use crate::proto::task::SavedFile;

/// Brings files back as they were. For commands of the user: no model is told of it.
pub const RESTORE: &str = "restore_files";

/// Arguments of a call: a JSON object.
pub type Arguments = serde_json::Map<String, serde_json::Value>;

/// A tool as the model and the policy know it.
#[derive(Debug, Clone, PartialEq)]
pub struct Declaration {
    pub name: String,
    /// For people, for example `WriteFile`.
    pub title: String,
    pub description: String,
    /// A JSON schema of an object.
    pub parameters: serde_json::Value,
    pub kind: Kind,
    /// The MCP server that it belongs to.
    pub server: Option<String>,
}

/// What a tool does to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    Read,
    Search,
    /// Notes of the agent's own, such as a list of things to do.
    Think,
    /// Reads what lies outside, so that others learn of it.
    Fetch,
    Edit,
    Execute,
    /// Asks the user.
    Communicate,
    Other,
}

impl Kind {
    /// Nothing changes, so that several may run at once and nobody needs to be asked.
    pub fn is_read_only(self) -> bool {
        matches!(self, Self::Read | Self::Search | Self::Think)
    }
}

/// One call of one tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Unique within the task.
    pub id: String,
    pub tool: String,
    pub arguments: Arguments,
}

/// What a call would do, found out without doing it.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// In words, for the user.
    pub description: String,
    /// What exactly is shown if the user is asked. An edit holds the file before and after; when it runs it writes
    /// just that, and only if the file is still as it was.
    pub details: Details,
    /// Asks whatever the policy says: the answer is what the tool is for.
    pub always_asks: bool,
    /// What a tool that only looks would look at. Others leave it empty.
    pub paths: Vec<Reach>,
}

/// Something that is looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reach {
    /// Absolute, with symlinks followed.
    pub path: String,
    pub extent: Extent,
}

/// How much of a path is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Just this.
    Itself,
    /// The names in this directory.
    Entries,
    /// Whatever lies below, at any depth.
    All,
}

/// What was agreed on.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Approval {
    /// As they were shown, with the changes of the user in them. None where nobody looked at a plan.
    pub details: Option<Details>,
    /// The user has changed the proposed file.
    pub modified: bool,
    /// To the questions of the plan, in their order.
    pub answers: Vec<String>,
}

impl Approval {
    /// The file that an edit is about, as it was when that was agreed on; it is written over nothing else.
    pub fn saves(&self) -> Option<SavedFile> {
        match &self.details {
            Some(Details::FileEditDetails(edit)) => {
                Some(SavedFile { path: edit.file_path.clone(), content: edit.old_content.clone() })
            }
            _ => None,
        }
    }
}

/// A call on its way.
pub struct Run {
    pub call: Call,
    pub approval: Approval,
    /// What the tool prints, piece by piece. Pieces are whole characters. A closed end is no reason to stop.
    pub output: mpsc::Sender<String>,
    /// Asked to stop: the tool ends what it started, then returns `Cancelled`.
    pub cancel: CancellationToken,
}

/// What a tool gives back.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// For the model. Text goes into the function response; other parts beside it.
    pub told: String,
    pub media: Vec<Part>,
    /// For the user.
    pub shown: ToolOutput,
}

/// Why a call came to nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    #[error("{message}")]
    Failed {
        /// A stable word for programs, for example `file_not_found`.
        kind: &'static str,
        /// For the user and for the model.
        message: String,
        /// An exit code, where there is one.
        code: Option<i32>,
    },
    /// It was asked to stop and all that it started is gone. What it had printed is kept.
    #[error("cancelled")]
    Cancelled { so_far: String },
}

impl ToolError {
    pub fn new(kind: &'static str, message: impl Into<String>) -> Self {
        Self::Failed { kind, message: message.into(), code: None }
    }
}

/// What tells one content of a file from another.
pub fn fingerprint(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Numbers that came by way of a protobuf Struct are all floating, and to a schema 3.0 is an integer; to types it is not.
pub fn with_whole_numbers(value: serde_json::Value) -> serde_json::Value {
    /// Up to here every whole number has a floating one of its own.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    use serde_json::Value;
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() <= EXACT => {
                Value::from(float as i64)
            }
            _ => Value::Number(number),
        },
        Value::Array(items) => items.into_iter().map(with_whole_numbers).collect(),
        Value::Object(members) => {
            members.into_iter().map(|(name, member)| (name, with_whole_numbers(member))).collect()
        }
        other => other,
    }
}

/// What came from somewhere that nobody vouches for, so that a model can tell it from what it is told.
pub fn untrusted(text: &str) -> String {
    let text = text.replace("</untrusted_context>", "&lt;/untrusted_context&gt;");
    format!("<untrusted_context>\n{text}\n</untrusted_context>")
}

/// The same without the marks, for people.
pub fn unmarked(text: &str) -> String {
    text.replace("<untrusted_context>\n", "").replace("\n</untrusted_context>", "")
}

/// The tools of one workspace.
#[async_trait::async_trait]
pub trait Toolbox: Send + Sync + 'static {
    fn declarations(&self) -> &[Declaration];

    /// Checks the arguments and looks at the world, without changing either.
    async fn plan(&self, call: &Call) -> Result<Plan, ToolError>;

    /// Does it, once.
    async fn run(&self, run: Run) -> Result<Outcome, ToolError>;

    /// The files that a call is about to change, as they are now. Nothing for one that edits none.
    async fn saves(&self, call: &Call, approval: &Approval) -> Vec<SavedFile>;

    /// The user's own commands: the text of each TOML file, by its name. Those of the workspace only if it is trusted.
    fn commands(&self) -> BTreeMap<String, String>;

    /// A file of the workspace as it is; none if there is none. An error says why it cannot be told: for an absolute path
    /// also, that a link has come into its place.
    async fn content(&self, path: &str) -> Result<Option<String>, ToolError>;

    /// Where it works: an absolute path.
    fn workspace(&self) -> &str;

    /// What the files of the workspace tell every model, by path. Empty if nobody trusts them.
    fn memory(&self) -> BTreeMap<String, String>;
}

/// Opens workspaces.
pub trait Workshop: Send + Sync + 'static {
    /// An error says which setting is wrong and what is allowed.
    fn open(&self, settings: &AgentSettings) -> Result<Arc<dyn Toolbox>, BadSettings>;
}

/// A setting of a client that cannot be honoured.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {problem}")]
pub struct BadSettings {
    /// As in AgentSettings.
    pub field: &'static str,
    pub problem: String,
}
