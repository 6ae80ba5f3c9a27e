//! `list_directory`: what is in one directory.

use globset::{Glob, GlobSet, GlobSetBuilder};
use serde::Deserialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::shape::{Looking, declaration, reach, structured};
use crate::domain::tool::{Declaration, Extent, Kind, Outcome, Reach, ToolError};
use crate::sandbox::walk::Ignore;
use crate::sandbox::{Found, FoundKind, Workspace};

/// More names than a model can use.
const MOST: usize = 2_000;

#[derive(Deserialize)]
pub(super) struct Arguments {
    dir_path: String,
    #[serde(default)]
    ignore: Vec<String>,
    #[serde(default)]
    file_filtering_options: Filtering,
}

/// As several tools take it.
#[derive(Deserialize, Default, Clone, Copy)]
pub(super) struct Filtering {
    respect_git_ignore: Option<bool>,
    respect_gemini_ignore: Option<bool>,
}

impl Filtering {
    pub(super) fn new(git: Option<bool>, gemini: Option<bool>) -> Self {
        Self { respect_git_ignore: git, respect_gemini_ignore: gemini }
    }

    pub(super) fn ignore(self) -> Ignore {
        Ignore {
            git: self.respect_git_ignore.unwrap_or(true),
            gemini: self.respect_gemini_ignore.unwrap_or(true),
        }
    }
}

pub(super) fn filtering_schema() -> serde_json::Value {
    json!({
        "type": "object",
        "description": "Whether files that .gitignore and .geminiignore name are left out; both by default.",
        "properties": {"respect_git_ignore": {"type": "boolean"}, "respect_gemini_ignore": {"type": "boolean"}},
    })
}

/// Several globs as one; an error names the field.
pub(super) fn globs(field: &str, patterns: &[String]) -> Result<GlobSet, ToolError> {
    let bad = |error: globset::Error| ToolError::new("invalid_tool_params", format!("{field}: {error}"));
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        set.add(Glob::new(pattern).map_err(bad)?);
    }
    set.build().map_err(bad)
}

pub(super) struct ListDirectory;

impl Looking for ListDirectory {
    type Arguments = Arguments;

    fn declaration() -> Declaration {
        declaration(
            "list_directory",
            "ReadFolder",
            Kind::Search,
            "Lists the files and directories directly inside a directory.",
            json!({
                "type": "object",
                "properties": {
                    "dir_path": {"type": "string", "description": "The directory to list."},
                    "ignore": {
                        "type": "array", "items": {"type": "string"},
                        "description": "Globs of names to leave out.",
                    },
                    "file_filtering_options": filtering_schema(),
                },
                "required": ["dir_path"],
            }),
        )
    }

    fn describe(arguments: &Arguments, workspace: &Workspace) -> Result<String, ToolError> {
        globs("ignore", &arguments.ignore)?;
        Ok(format!("List {}", workspace.absolute(&workspace.resolve(&arguments.dir_path)?)))
    }

    fn reach(arguments: &Arguments, workspace: &Workspace) -> Result<Vec<Reach>, ToolError> {
        Ok(vec![reach(workspace, &workspace.resolve(&arguments.dir_path)?, Extent::Entries)?])
    }

    fn look(
        arguments: &Arguments,
        workspace: &Workspace,
        _: &CancellationToken,
    ) -> Result<Outcome, ToolError> {
        let path = workspace.resolve(&arguments.dir_path)?;
        let (names, which) = (globs("ignore", &arguments.ignore)?, arguments.file_filtering_options.ignore());
        if workspace.look(&path)?.kind != FoundKind::Directory {
            let message = format!("{} is not a directory", workspace.absolute(&path));
            return Err(ToolError::new("path_is_not_a_directory", message));
        }
        let all = workspace.list(&path)?;
        let total = all.len();
        let mut left: Vec<Found> = all
            .into_iter()
            .filter(|found| !names.is_match(found.name()) && !workspace.ignores(&found.path, which))
            .collect();
        left.sort_by(|a, b| {
            (a.kind != FoundKind::Directory, &a.path).cmp(&(b.kind != FoundKind::Directory, &b.path))
        });
        Ok(told(&workspace.absolute(&path), &left, total - left.len()))
    }
}

fn told(path: &str, found: &[Found], ignored: usize) -> Outcome {
    let summary = format!("Found {} item(s).", found.len());
    let lines: Vec<String> = found.iter().take(MOST).map(line).collect();
    let mut told = match found.is_empty() {
        true => format!("Directory {path} is empty."),
        false => format!("Directory listing for {path}:\n{}", lines.join("\n")),
    };
    if found.len() > MOST {
        told.push_str(&format!("\n({} more; use glob to find what you need)", found.len() - MOST));
    }
    if ignored > 0 {
        told.push_str(&format!("\n\n({ignored} ignored)"));
    }
    structured(told, json!({"summary": summary, "files": lines}))
}

fn line(found: &Found) -> String {
    match found.kind {
        FoundKind::Directory => format!("[DIR] {}", found.name()),
        FoundKind::File => format!("{} ({} bytes)", found.name(), found.size),
        FoundKind::Symlink => format!("{} (symlink)", found.name()),
        FoundKind::Other => format!("{} (neither file nor directory)", found.name()),
    }
}
