//! What tools have in common. A tool that only looks says what it does and does it on a thread that may block; a tool
//! that edits proposes a file, and what was agreed on is written. The others implement [`Tool`] themselves.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::asks::Asks;
use super::background::Background;
use super::bench::ShellLimits;
use super::diff;
use super::schema;
use super::web::Web;
use super::write_file::sized;
use crate::domain::tool::{Approval, Arguments, Declaration, Extent, Kind, Outcome, Plan, Reach, ToolError};
use crate::proto::devtool::confirmation_request::Details;
use crate::proto::devtool::{FileDiff, GenericDetails, ToolOutput, tool_output};
use crate::sandbox::Workspace;
use crate::sandbox::process::Launcher;

/// What the tools of one workspace work with.
pub(super) struct Place {
    pub workspace: Arc<Workspace>,
    pub launcher: Launcher,
    pub shell: ShellLimits,
    pub background: Background,
    pub web: Web,
    /// Only one that can look things up on the web.
    pub asks: Option<Asks>,
}

/// A call whose arguments fit the schema.
pub(super) struct Job {
    pub arguments: Arguments,
    pub approval: Approval,
    pub output: mpsc::Sender<String>,
    pub cancel: CancellationToken,
}

/// One tool.
#[async_trait]
pub(super) trait Tool: Send + Sync {
    fn declaration(&self) -> Declaration;
    /// Whether there is what it needs.
    fn is_there(&self, _place: &Place) -> bool {
        true
    }
    async fn plan(&self, place: &Place, arguments: &Arguments) -> Result<Plan, ToolError>;
    async fn run(&self, place: &Place, job: Job) -> Result<Outcome, ToolError>;
}

/// A tool that changes nothing. All of it may block.
pub(super) trait Looking: Send + Sync + 'static {
    type Arguments: DeserializeOwned + Send + 'static;
    fn declaration() -> Declaration;
    /// In words, for the user; refuses what can be refused without looking.
    fn describe(arguments: &Self::Arguments, workspace: &Workspace) -> Result<String, ToolError>;
    /// What it would look at, with symlinks followed.
    fn reach(arguments: &Self::Arguments, workspace: &Workspace) -> Result<Vec<Reach>, ToolError>;
    fn look(
        arguments: &Self::Arguments,
        workspace: &Workspace,
        cancel: &CancellationToken,
    ) -> Result<Outcome, ToolError>;
}

/// Makes a tool of what only looks.
pub(super) struct Looks<T>(pub std::marker::PhantomData<fn() -> T>);

#[async_trait]
impl<T: Looking> Tool for Looks<T> {
    fn declaration(&self) -> Declaration {
        T::declaration()
    }

    async fn plan(&self, place: &Place, arguments: &Arguments) -> Result<Plan, ToolError> {
        let (arguments, workspace) = (read::<T::Arguments>(arguments)?, Arc::clone(&place.workspace));
        let look = move || Ok((T::describe(&arguments, &workspace)?, T::reach(&arguments, &workspace)?));
        let (description, paths) = blocking(look).await?;
        Ok(Plan { paths, ..plain_plan(description) })
    }

    async fn run(&self, place: &Place, job: Job) -> Result<Outcome, ToolError> {
        let (arguments, workspace) = (read::<T::Arguments>(&job.arguments)?, Arc::clone(&place.workspace));
        let cancel = job.cancel.clone();
        let outcome = blocking(move || T::look(&arguments, &workspace, &cancel)).await;
        if job.cancel.is_cancelled() { Err(ToolError::Cancelled { so_far: String::new() }) } else { outcome }
    }
}

/// A file as it shall be.
pub(super) struct Proposal {
    /// From the workspace on, with symlinks followed: what is shown and judged is where it is written.
    pub path: std::path::PathBuf,
    pub old: Option<String>,
    pub new: String,
    /// What the model should know besides.
    pub note: Option<String>,
}

/// A tool that writes one file. All of it may block.
pub(super) trait Editing: Send + Sync + 'static {
    type Arguments: DeserializeOwned + Send + 'static;
    fn declaration() -> Declaration;
    fn propose(arguments: &Self::Arguments, workspace: &Workspace) -> Result<Proposal, ToolError>;
}

/// Makes a tool of what edits.
pub(super) struct Edits<T>(pub std::marker::PhantomData<fn() -> T>);

impl<T: Editing> Edits<T> {
    async fn propose(place: &Place, arguments: &Arguments) -> Result<(FileDiff, Option<String>), ToolError> {
        let (arguments, workspace) = (read::<T::Arguments>(arguments)?, Arc::clone(&place.workspace));
        blocking(move || {
            let made = T::propose(&arguments, &workspace)?;
            let path = workspace.absolute(&made.path);
            Ok((diff::file_diff(&path, made.old, made.new), made.note))
        })
        .await
    }
}

#[async_trait]
impl<T: Editing> Tool for Edits<T> {
    fn declaration(&self) -> Declaration {
        T::declaration()
    }

    async fn plan(&self, place: &Place, arguments: &Arguments) -> Result<Plan, ToolError> {
        let (edit, _) = Self::propose(place, arguments).await?;
        let verb = if edit.old_content.is_some() { "Change" } else { "Create" };
        Ok(Plan {
            description: format!("{verb} {}", edit.file_path),
            details: Details::FileEditDetails(edit),
            always_asks: false,
            paths: Vec::new(),
        })
    }

    async fn run(&self, place: &Place, job: Job) -> Result<Outcome, ToolError> {
        let (edit, note) = match job.approval.details {
            // What was remarkable about the proposal is so still.
            Some(Details::FileEditDetails(edit)) => {
                (edit, Self::propose(place, &job.arguments).await.ok().and_then(|(_, note)| note))
            }
            Some(_) => {
                return Err(ToolError::new("invalid_tool_params", "what was agreed on is no edit of a file"));
            }
            None => Self::propose(place, &job.arguments).await?,
        };
        let (workspace, modified) = (Arc::clone(&place.workspace), job.approval.modified);
        blocking(move || write(&workspace, edit, note, modified)).await
    }
}

/// Just what was agreed on, and only over what it was agreed on for.
fn write(
    workspace: &Workspace,
    edit: FileDiff,
    note: Option<String>,
    modified: bool,
) -> Result<Outcome, ToolError> {
    let path = workspace.resolve(&edit.file_path)?;
    // The user's own content is held to the same size.
    sized(workspace, &path, &edit.new_content)?;
    workspace.write(&path, edit.old_content.as_deref(), &edit.new_content)?;
    // The diff that was shown first may not be that of what the user made of it.
    let edit = diff::file_diff(&edit.file_path, edit.old_content, edit.new_content);
    let mut told = diff::told(&edit, modified);
    told.extend(note.into_iter().flat_map(|note| ["\n".to_owned(), note]));
    Ok(Outcome {
        told,
        media: Vec::new(),
        shown: ToolOutput { result: Some(tool_output::Result::Diff(edit)) },
    })
}

/// Runs what blocks where that is allowed.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| {
        Err(ToolError::new("unhandled_exception", format!("the tool broke off: {error}")))
    })
}

/// Arguments that fit the schema also fit the type; where they do not, the model hears why.
pub(super) fn read<T: DeserializeOwned>(arguments: &Arguments) -> Result<T, ToolError> {
    serde_json::from_value(schema::with_whole_numbers(Value::Object(arguments.clone())))
        .map_err(|error| ToolError::new("invalid_tool_params", format!("the arguments do not fit: {error}")))
}

pub(super) fn plain_plan(description: String) -> Plan {
    let details = GenericDetails { description: description.clone(), questions: Vec::new() };
    Plan { description, details: Details::GenericDetails(details), always_asks: false, paths: Vec::new() }
}

pub(super) fn declaration(
    name: &str,
    title: &str,
    kind: Kind,
    description: &str,
    parameters: Value,
) -> Declaration {
    Declaration {
        name: name.to_owned(),
        title: title.to_owned(),
        description: description.to_owned(),
        parameters,
        kind,
        server: None,
    }
}

/// A result that model and user read alike.
pub(super) fn text(told: String, shown: impl Into<String>) -> Outcome {
    let shown = ToolOutput { result: Some(tool_output::Result::Text(shown.into())) };
    Outcome { told, media: Vec::new(), shown }
}

/// A result with an object for the user's program.
pub(super) fn structured(told: String, shown: Value) -> Outcome {
    let shown = serde_json::from_value(shown).unwrap_or_default();
    let shown = ToolOutput { result: Some(tool_output::Result::StructuredData(shown)) };
    Outcome { told, media: Vec::new(), shown }
}

/// Where a search begins: the workspace, unless a directory is named.
pub(super) fn start(workspace: &Workspace, given: Option<&str>) -> Result<std::path::PathBuf, ToolError> {
    given.map_or_else(|| Ok(std::path::PathBuf::new()), |given| workspace.resolve(given))
}

/// A path from the workspace on, as the policy judges it.
pub(super) fn reach(workspace: &Workspace, path: &Path, extent: Extent) -> Result<Reach, ToolError> {
    Ok(Reach { path: workspace.absolute(&workspace.real(path)?), extent })
}

/// From the workspace on, for people; the workspace itself is a dot.
pub(super) fn shown(path: &Path) -> String {
    if path.as_os_str().is_empty() { ".".to_owned() } else { path.to_string_lossy().into_owned() }
}
