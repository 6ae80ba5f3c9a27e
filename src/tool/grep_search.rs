//! `grep_search`: lines of files by a regular expression, with ripgrep's own searcher on files that the workspace opens.

mod hits;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use globset::GlobSet;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use self::hits::{Hits, Lines, told};
use super::list_directory::globs;
use super::shape::{Looking, declaration, reach, shown, start};
use crate::domain::tool::{Declaration, Extent, Kind, Outcome, Reach, ToolError};
use crate::sandbox::walk::Ignore;
use crate::sandbox::{FoundKind, Workspace};

const MOST: usize = 100;
const PATIENCE: Duration = Duration::from_secs(30);
/// A line longer than this is not held in memory; its file is passed over.
const HEAP: usize = 16 * 1024 * 1024;
/// What is made by programs and looks like text.
const MADE: &[&str] = &[
    "dist/**",
    "build/**",
    "coverage/**",
    ".vscode/**",
    ".idea/**",
    "**/__pycache__/**",
    "**/*.log",
    "**/*.tmp",
];

#[derive(Deserialize)]
pub(super) struct Arguments {
    pattern: String,
    dir_path: Option<String>,
    include_pattern: Option<String>,
    exclude_pattern: Option<String>,
    #[serde(default)]
    names_only: bool,
    max_matches_per_file: Option<usize>,
    total_max_matches: Option<usize>,
    #[serde(default)]
    case_sensitive: bool,
    #[serde(default)]
    fixed_strings: bool,
    context: Option<usize>,
    after: Option<usize>,
    before: Option<usize>,
    #[serde(default)]
    no_ignore: bool,
}

fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "pattern": {
                "type": "string", "minLength": 1,
                "description": "The regular expression (Rust syntax).",
            },
            "dir_path": {
                "type": "string",
                "description": "A directory or file to search; the workspace if left out.",
            },
            "include_pattern": {
                "type": "string",
                "description": "Only files whose path fits this glob, such as `*.rs`.",
            },
            "exclude_pattern": {
                "type": "string",
                "description": "Leave out lines that this regular expression fits.",
            },
            "names_only": {
                "type": "boolean",
                "description": "Only the paths of files that hold a match.",
            },
            "max_matches_per_file": {"type": "integer", "minimum": 1},
            "total_max_matches": {"type": "integer", "minimum": 1, "description": "100 if left out."},
            "case_sensitive": {"type": "boolean", "description": "Off by default."},
            "fixed_strings": {"type": "boolean", "description": "Take the pattern as plain text."},
            "context": {
                "type": "integer", "minimum": 0, "maximum": 100,
                "description": "Lines to show around a match.",
            },
            "after": {"type": "integer", "minimum": 0, "maximum": 100},
            "before": {"type": "integer", "minimum": 0, "maximum": 100},
            "no_ignore": {
                "type": "boolean",
                "description": "Also search what .gitignore and the like leave out.",
            },
        },
        "required": ["pattern"],
    })
}

pub(super) struct GrepSearch;

impl Looking for GrepSearch {
    type Arguments = Arguments;

    fn declaration() -> Declaration {
        let description = "Searches the content of files for a regular expression and returns the lines that fit, with \
                           their files and numbers.";
        declaration("grep_search", "SearchText", Kind::Search, description, parameters())
    }

    fn describe(arguments: &Arguments, workspace: &Workspace) -> Result<String, ToolError> {
        Query::new(arguments)?;
        let path = start(workspace, arguments.dir_path.as_deref())?;
        Ok(format!("Search '{}' in {}", arguments.pattern, shown(&path)))
    }

    fn reach(arguments: &Arguments, workspace: &Workspace) -> Result<Vec<Reach>, ToolError> {
        Ok(vec![reach(workspace, &start(workspace, arguments.dir_path.as_deref())?, Extent::All)?])
    }

    fn look(
        arguments: &Arguments,
        workspace: &Workspace,
        cancel: &CancellationToken,
    ) -> Result<Outcome, ToolError> {
        let query = Query::new(arguments)?;
        let path = start(workspace, arguments.dir_path.as_deref())?;
        let files = files(&query, workspace, &path, cancel)?;
        let mut hits = query.search(workspace, &files, query.around, cancel);
        let more = hits.around(arguments);
        if more > 0 {
            let again: Vec<PathBuf> = hits.files.keys().cloned().collect();
            hits = query.search(workspace, &again, Around { before: more, after: more }, cancel);
        }
        Ok(told(&hits, arguments, workspace, &path))
    }
}

/// What is looked for.
struct Query {
    matcher: RegexMatcher,
    exclude: Option<RegexMatcher>,
    include: Option<GlobSet>,
    made: GlobSet,
    around: Around,
    per_file: usize,
    total: usize,
    ignore: Ignore,
}

impl Query {
    fn new(arguments: &Arguments) -> Result<Self, ToolError> {
        let regex = |field: &str, pattern: &str, fixed: bool| {
            RegexMatcherBuilder::new()
                .case_insensitive(!arguments.case_sensitive)
                .fixed_strings(fixed)
                .line_terminator(Some(b'\n'))
                .build(pattern)
                .map_err(|error| ToolError::new("invalid_tool_params", format!("{field}: {error}")))
        };
        let exclude =
            arguments.exclude_pattern.as_deref().map(|e| regex("exclude_pattern", e, false)).transpose()?;
        let include =
            arguments.include_pattern.as_ref().map(|i| globs("include_pattern", &widened(i))).transpose()?;
        let made: Vec<String> = MADE.iter().map(|made| (*made).to_owned()).collect();
        let around = arguments.context.unwrap_or(0);
        Ok(Self {
            matcher: regex("pattern", &arguments.pattern, arguments.fixed_strings)?,
            exclude,
            include,
            made: globs("pattern", if arguments.no_ignore { &[] } else { &made })?,
            around: Around {
                before: arguments.before.unwrap_or(around),
                after: arguments.after.unwrap_or(around),
            },
            per_file: arguments.max_matches_per_file.unwrap_or(usize::MAX),
            total: arguments.total_max_matches.unwrap_or(MOST),
            ignore: if arguments.no_ignore { Ignore::NOTHING } else { Ignore::default() },
        })
    }

    fn wants(&self, path: &Path) -> bool {
        self.include.as_ref().is_none_or(|include| include.is_match(path)) && !self.made.is_match(path)
    }

    fn search(
        &self,
        workspace: &Workspace,
        files: &[PathBuf],
        around: Around,
        cancel: &CancellationToken,
    ) -> Hits {
        let mut searcher = around.searcher();
        let (mut hits, deadline) = (Hits::default(), Instant::now() + PATIENCE);
        for path in files {
            if hits.matches >= self.total || cancel.is_cancelled() || Instant::now() > deadline {
                hits.is_cut = true;
                break;
            }
            let Ok(file) = workspace.open(path) else { continue };
            let left = self.per_file.min(self.total - hits.matches);
            let mut sink = Lines::new(self, left);
            // A file that cannot be read to its end has shown what it could.
            let _ = searcher.search_reader(&self.matcher, file, &mut sink);
            hits.add(path, sink);
        }
        hits
    }
}

/// How many lines are shown with a match.
#[derive(Clone, Copy)]
struct Around {
    before: usize,
    after: usize,
}

impl Around {
    fn searcher(self) -> Searcher {
        SearcherBuilder::new()
            .line_number(true)
            .binary_detection(BinaryDetection::quit(0))
            .before_context(self.before)
            .after_context(self.after)
            .heap_limit(Some(HEAP))
            .build()
    }
}

/// A glob without a slash means files of that name anywhere.
fn widened(include: &str) -> Vec<String> {
    if include.contains('/') {
        vec![include.to_owned()]
    } else {
        vec![include.to_owned(), format!("**/{include}")]
    }
}

/// By name, so that an answer that is cut is cut in the same place each time.
fn files(
    query: &Query,
    workspace: &Workspace,
    start: &Path,
    cancel: &CancellationToken,
) -> Result<Vec<PathBuf>, ToolError> {
    let found = workspace.look(start).map_err(|error| match error {
        ToolError::Failed { kind: "file_not_found", message, code } => {
            ToolError::Failed { kind: "search_path_not_found", message, code }
        }
        other => other,
    })?;
    if found.kind == FoundKind::File {
        return Ok(vec![start.to_owned()]);
    }
    let mut files = Vec::new();
    workspace.walk(start, query.ignore, &mut |found| {
        if found.kind == FoundKind::File && query.wants(found.path.strip_prefix(start).unwrap_or(&found.path))
        {
            files.push(found.path);
        }
        if cancel.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    files.sort();
    Ok(files)
}
