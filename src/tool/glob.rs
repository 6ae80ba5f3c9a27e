//! `glob`: files by the pattern of their paths.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, SystemTime};

use globset::{GlobBuilder, GlobMatcher};
use serde::Deserialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::list_directory::Filtering;
use super::shape::{Looking, declaration, reach, shown, start, text};
use crate::domain::tool::{Declaration, Extent, Kind, Outcome, Reach, ToolError};
use crate::sandbox::{Found, FoundKind, Workspace};

/// More paths than a model can use.
const MOST: usize = 1_000;
/// What was worked on lately is what is meant most of the time.
const LATELY: Duration = Duration::from_hours(24);

#[derive(Deserialize)]
pub(super) struct Arguments {
    pattern: String,
    dir_path: Option<String>,
    #[serde(default)]
    case_sensitive: bool,
    respect_git_ignore: Option<bool>,
    respect_gemini_ignore: Option<bool>,
}

pub(super) struct GlobFiles;

impl Looking for GlobFiles {
    type Arguments = Arguments;

    fn declaration() -> Declaration {
        declaration(
            "glob",
            "FindFiles",
            Kind::Search,
            "Finds files by a glob such as `src/**/*.ts` and returns their absolute paths: first those changed in the \
             last day, newest first, then the others by name.",
            json!({
                "type": "object",
                "properties": {
                    "pattern": {
                        "type": "string", "minLength": 1,
                        "description": "The glob, from the directory on.",
                    },
                    "dir_path": {
                        "type": "string",
                        "description": "Where to search; the workspace if left out.",
                    },
                    "case_sensitive": {"type": "boolean", "description": "Off by default."},
                    "respect_git_ignore": {"type": "boolean", "description": "On by default."},
                    "respect_gemini_ignore": {"type": "boolean", "description": "On by default."},
                },
                "required": ["pattern"],
            }),
        )
    }

    fn describe(arguments: &Arguments, workspace: &Workspace) -> Result<String, ToolError> {
        let path = start(workspace, arguments.dir_path.as_deref())?;
        matcher(&pattern(&arguments.pattern, workspace, &path)?, arguments.case_sensitive)?;
        Ok(format!("Find '{}' in {}", arguments.pattern, shown(&path)))
    }

    fn reach(arguments: &Arguments, workspace: &Workspace) -> Result<Vec<Reach>, ToolError> {
        Ok(vec![reach(workspace, &start(workspace, arguments.dir_path.as_deref())?, Extent::All)?])
    }

    fn look(
        arguments: &Arguments,
        workspace: &Workspace,
        cancel: &CancellationToken,
    ) -> Result<Outcome, ToolError> {
        let path = start(workspace, arguments.dir_path.as_deref())?;
        let matcher = matcher(&pattern(&arguments.pattern, workspace, &path)?, arguments.case_sensitive)?;
        let which = Filtering::new(arguments.respect_git_ignore, arguments.respect_gemini_ignore).ignore();
        let mut files = Vec::new();
        let ignored = workspace.walk(&path, which, &mut |found| {
            let below = found.path.strip_prefix(&path).unwrap_or(&found.path);
            if found.kind == FoundKind::File && matcher.is_match(below) {
                files.push(found);
            }
            if cancel.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        sort(&mut files, SystemTime::now());
        Ok(told(&arguments.pattern, &files, workspace, &path, ignored))
    }
}

/// From the start on: an absolute pattern has to begin there, and none may climb.
fn pattern(given: &str, workspace: &Workspace, start: &Path) -> Result<String, ToolError> {
    let bare = match given.starts_with('/') {
        true => {
            let base = format!("{}/", workspace.absolute(start));
            given.strip_prefix(&base).unwrap_or(given)
        }
        false => given.strip_prefix("./").unwrap_or(given),
    };
    if bare.starts_with('/') || bare.split('/').any(|part| part == "..") {
        let message = format!(
            "the pattern {given:?} leads out of {}; every path must lie in the workspace {}",
            workspace.absolute(start),
            workspace.path()
        );
        return Err(ToolError::new("path_not_in_workspace", message));
    }
    Ok(bare.to_owned())
}

fn matcher(pattern: &str, case_sensitive: bool) -> Result<GlobMatcher, ToolError> {
    let built = GlobBuilder::new(pattern).literal_separator(true).case_insensitive(!case_sensitive).build();
    built
        .map(|glob| glob.compile_matcher())
        .map_err(|error| ToolError::new("invalid_tool_params", format!("pattern: {error}")))
}

fn sort(files: &mut [Found], now: SystemTime) {
    let lately = |found: &Found| {
        found.modified.filter(|at| now.duration_since(*at).is_ok_and(|age| age < LATELY) || *at > now)
    };
    files.sort_by(|a, b| match (lately(a), lately(b)) {
        (Some(a_at), Some(b_at)) => b_at.cmp(&a_at).then_with(|| a.path.cmp(&b.path)),
        (a_at, b_at) => b_at.is_some().cmp(&a_at.is_some()).then_with(|| a.path.cmp(&b.path)),
    });
}

fn told(pattern: &str, files: &[Found], workspace: &Workspace, start: &Path, ignored: usize) -> Outcome {
    let place = workspace.absolute(start);
    let ignored = if ignored > 0 { format!(" ({ignored} ignored)") } else { String::new() };
    if files.is_empty() {
        return text(
            format!("No files found matching \"{pattern}\" within {place}{ignored}"),
            "No files found",
        );
    }
    let mut told = format!("Found {} file(s) matching \"{pattern}\" within {place}{ignored}:", files.len());
    for found in files.iter().take(MOST) {
        told.push('\n');
        told.push_str(&workspace.absolute(&found.path));
    }
    if files.len() > MOST {
        told.push_str(&format!("\n({} more; use a narrower pattern)", files.len() - MOST));
    }
    text(told, format!("Found {} matching file(s)", files.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn what_changed_lately_comes_first() {
        let now = SystemTime::now();
        let file = |name: &str, hours: u64| Found {
            path: PathBuf::from(name),
            kind: FoundKind::File,
            size: 0,
            modified: now.checked_sub(Duration::from_hours(hours)),
        };
        let mut files = [file("z", 48), file("b", 5), file("a", 99), file("c", 1)];
        sort(&mut files, now);
        assert_eq!(files.map(|found| found.name()), ["c", "b", "a", "z"]);
    }
}
