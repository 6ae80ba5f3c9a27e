//! The tools of one workspace: finds the one that is called, checks the arguments, and lets it plan and run.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use jsonschema::Validator;

use super::ask_user::AskUser;
use super::background::{KillBackground, ListBackground, ReadBackground};
use super::glob::GlobFiles;
use super::google_web_search::GoogleWebSearch;
use super::grep_search::GrepSearch;
use super::list_directory::ListDirectory;
use super::read_file::ReadFile;
use super::read_many_files::ReadManyFiles;
use super::replace::Replace;
use super::restore_files::{self, RestoreFiles, itself};
use super::save_memory::SaveMemory;
use super::schema;
use super::shape::{Edits, Job, Looks, Place, Tool, blocking};
use super::shell::Shell;
use super::web_fetch::WebFetch;
use super::write_file::{WriteFile, current};
use super::write_todos::WriteTodos;
use super::{commands, memory};
use crate::domain::tool::{Approval, Call, Declaration, Outcome, Plan, RESTORE, Run, ToolError, Toolbox};
use crate::proto::task::SavedFile;
use crate::sandbox::{Root, Trusted};

/// Names that are alike enough to have been meant.
const ALIKE: f64 = 0.75;
const SUGGESTED: usize = 3;

/// Every tool, in the order in which models are told of them.
pub(super) fn every_tool() -> Vec<Box<dyn Tool>> {
    vec![
        Box::new(Looks::<ListDirectory>(PhantomData)),
        Box::new(Looks::<ReadFile>(PhantomData)),
        Box::new(Looks::<ReadManyFiles>(PhantomData)),
        Box::new(Looks::<GlobFiles>(PhantomData)),
        Box::new(Looks::<GrepSearch>(PhantomData)),
        Box::new(Edits::<WriteFile>(PhantomData)),
        Box::new(Edits::<Replace>(PhantomData)),
        Box::new(Edits::<SaveMemory>(PhantomData)),
        Box::new(Shell),
        Box::new(ListBackground),
        Box::new(ReadBackground),
        Box::new(KillBackground),
        Box::new(GoogleWebSearch),
        Box::new(WebFetch),
        Box::new(WriteTodos),
        Box::new(AskUser),
        Box::new(RestoreFiles),
    ]
}

/// The tools of one workspace. Dropped, it ends what still runs in the background.
pub struct Tools {
    tools: Vec<(Box<dyn Tool>, Validator)>,
    declarations: Vec<Declaration>,
    place: Place,
    root: Arc<Root>,
    trusted: Trusted,
    user_commands: Option<PathBuf>,
}

impl Tools {
    /// Only those named; none named means all that there are here.
    pub(super) fn new(place: Place, root: Arc<Root>, trusted: Trusted, only: &[String]) -> Self {
        let wanted = |tool: &dyn Tool| only.is_empty() || only.contains(&tool.declaration().name);
        let tools: Vec<(Box<dyn Tool>, Validator)> = every_tool()
            .into_iter()
            .filter(|tool| wanted(&**tool) && tool.is_there(&place))
            // Every schema is written here and compiles, as a test shows.
            .filter_map(|tool| {
                let validator = jsonschema::validator_for(&tool.declaration().parameters).ok()?;
                Some((tool, validator))
            })
            .collect();
        let declarations = tools.iter().map(|(tool, _)| tool.declaration()).collect();
        Self { tools, declarations, place, root, trusted, user_commands: None }
    }

    /// With the commands of this directory, which is the operator's.
    #[must_use]
    pub(super) fn with_commands(self, user_commands: Option<PathBuf>) -> Self {
        Self { user_commands, ..self }
    }

    fn checked(&self, call: &Call) -> Result<&dyn Tool, ToolError> {
        let at = self.declarations.iter().position(|known| known.name == call.tool);
        let (tool, validator) =
            at.and_then(|at| self.tools.get(at)).ok_or_else(|| unknown(&call.tool, &self.declarations))?;
        schema::check(validator, &call.tool, &call.arguments)?;
        Ok(&**tool)
    }
}

fn unknown(name: &str, known: &[Declaration]) -> ToolError {
    let mut alike: Vec<(f64, &str)> =
        known.iter().map(|tool| (strsim::jaro_winkler(name, &tool.name), tool.name.as_str())).collect();
    alike.retain(|(score, _)| *score >= ALIKE);
    alike.sort_by(|a, b| b.0.total_cmp(&a.0));
    let names: Vec<String> = alike.iter().take(SUGGESTED).map(|(_, name)| format!("\"{name}\"")).collect();
    let hint = match names.is_empty() {
        true => "use one of the tools that were declared".to_owned(),
        false => format!("did you mean {}?", names.join(" or ")),
    };
    ToolError::new("tool_not_registered", format!("there is no tool \"{name}\"; {hint}"))
}

#[async_trait]
impl Toolbox for Tools {
    fn declarations(&self) -> &[Declaration] {
        &self.declarations
    }

    async fn plan(&self, call: &Call) -> Result<Plan, ToolError> {
        self.checked(call)?.plan(&self.place, &call.arguments).await
    }

    async fn run(&self, run: Run) -> Result<Outcome, ToolError> {
        let tool = self.checked(&run.call)?;
        if run.cancel.is_cancelled() {
            return Err(ToolError::Cancelled { so_far: String::new() });
        }
        let Run { call, approval, output, cancel } = run;
        tool.run(&self.place, Job { arguments: call.arguments, approval, output, cancel }).await
    }

    async fn saves(&self, call: &Call, approval: &Approval) -> Vec<SavedFile> {
        match call.tool.as_str() {
            RESTORE => restore_files::saves(&self.place, &call.arguments).await,
            _ => approval.saves().into_iter().collect(),
        }
    }

    fn commands(&self) -> BTreeMap<String, String> {
        let trusted = self.trusted.holds(Path::new(self.workspace()));
        commands::commands(self.user_commands.as_deref(), trusted.then_some(&*self.place.workspace))
    }

    async fn content(&self, path: &str) -> Result<Option<String>, ToolError> {
        let (workspace, path) = (Arc::clone(&self.place.workspace), path.to_owned());
        blocking(move || {
            let is_absolute = Path::new(&path).is_absolute();
            let real = if is_absolute { itself(&workspace, &path)? } else { workspace.follow(&path)? };
            current(&workspace, &real)
        })
        .await
    }

    fn workspace(&self) -> &str {
        self.place.workspace.path()
    }

    fn memory(&self) -> BTreeMap<String, String> {
        memory::memory(&self.root, Path::new(self.workspace()), &self.trusted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schema_is_one_and_every_name_is_its_own() {
        let mut names = std::collections::BTreeSet::new();
        for declaration in every_tool().iter().map(|tool| tool.declaration()) {
            assert!(jsonschema::meta::is_valid(&declaration.parameters), "{}", declaration.name);
            jsonschema::validator_for(&declaration.parameters).unwrap();
            assert_eq!(declaration.parameters["type"], "object", "{}", declaration.name);
            assert!(names.insert(declaration.name));
        }
    }
}
