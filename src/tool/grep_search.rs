//! `grep_search`: lines of files by a regular expression, with ripgrep's own searcher on files that the workspace opens.

use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use globset::GlobSet;
use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::list_directory::globs;
use super::shape::{Looking, declaration, shown, start, structured};
use super::text::cut_line;
use crate::domain::tool::{Declaration, Kind, Outcome, ToolError};
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

pub(super) struct GrepSearch;

impl Looking for GrepSearch {
    type Arguments = Arguments;

    fn declaration() -> Declaration {
        let parameters = json!({
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
        });
        let description = "Searches the content of files for a regular expression and returns the lines that fit, with \
                           their files and numbers.";
        declaration("grep_search", "SearchText", Kind::Search, description, parameters)
    }

    fn describe(arguments: &Arguments, workspace: &Workspace) -> Result<String, ToolError> {
        Query::new(arguments)?;
        let path = start(workspace, arguments.dir_path.as_deref())?;
        Ok(format!("Search '{}' in {}", arguments.pattern, shown(&path)))
    }

    fn look(
        arguments: &Arguments,
        workspace: &Workspace,
        cancel: &CancellationToken,
    ) -> Result<Outcome, ToolError> {
        let query = Query::new(arguments)?;
        let path = start(workspace, arguments.dir_path.as_deref())?;
        let files = files(&query, workspace, &path, cancel)?;
        let mut hits = query.search(workspace, &files, query.before, query.after, cancel);
        let around = hits.around(arguments);
        if around > 0 {
            let again: Vec<PathBuf> = hits.files.keys().cloned().collect();
            hits = query.search(workspace, &again, around, around, cancel);
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
    before: usize,
    after: usize,
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
            before: arguments.before.unwrap_or(around),
            after: arguments.after.unwrap_or(around),
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
        ws: &Workspace,
        files: &[PathBuf],
        before: usize,
        after: usize,
        cancel: &CancellationToken,
    ) -> Hits {
        let mut searcher = SearcherBuilder::new()
            .line_number(true)
            .binary_detection(BinaryDetection::quit(0))
            .before_context(before)
            .after_context(after)
            .heap_limit(Some(HEAP))
            .build();
        let (mut hits, deadline) = (Hits::default(), Instant::now() + PATIENCE);
        for path in files {
            if hits.matches >= self.total || cancel.is_cancelled() || Instant::now() > deadline {
                hits.is_cut = true;
                break;
            }
            let Ok(file) = ws.open(path) else { continue };
            let left = self.per_file.min(self.total - hits.matches);
            let mut sink = Lines { query: self, left, matches: 0, is_cut: false, lines: Vec::new() };
            // A file that cannot be read to its end has shown what it could.
            let _ = searcher.search_reader(&self.matcher, file, &mut sink);
            if sink.matches > 0 {
                hits.matches += sink.matches;
                hits.is_cut |= sink.is_cut;
                hits.files.insert(path.clone(), sink.lines);
            }
        }
        hits
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

struct Line {
    number: u64,
    is_match: bool,
    text: String,
}

#[derive(Default)]
struct Hits {
    files: BTreeMap<PathBuf, Vec<Line>>,
    matches: usize,
    is_cut: bool,
}

impl Hits {
    /// Few matches are shown with what stands around them, which saves the model from reading the file next.
    fn around(&self, arguments: &Arguments) -> usize {
        let asked = [arguments.context, arguments.after, arguments.before].iter().any(Option::is_some);
        match self.matches {
            _ if asked || arguments.names_only => 0,
            1 => 50,
            2..=3 => 15,
            _ => 0,
        }
    }
}

/// The lines of one file.
struct Lines<'a> {
    query: &'a Query,
    left: usize,
    matches: usize,
    is_cut: bool,
    lines: Vec<Line>,
}

impl Lines<'_> {
    fn push(&mut self, number: Option<u64>, bytes: &[u8], is_match: bool) {
        let text = String::from_utf8_lossy(bytes);
        let text = cut_line(text.trim_end_matches(['\n', '\r']));
        self.lines.push(Line { number: number.unwrap_or_default(), is_match, text });
    }
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        let exclude = self.query.exclude.as_ref();
        if exclude.is_some_and(|exclude| exclude.is_match(found.bytes()).unwrap_or(false)) {
            return Ok(true);
        }
        if self.matches == self.left {
            self.is_cut = true;
            return Ok(false);
        }
        self.matches += 1;
        self.push(found.line_number(), found.bytes(), true);
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, found: &SinkContext<'_>) -> io::Result<bool> {
        self.push(found.line_number(), found.bytes(), false);
        Ok(true)
    }
}

fn told(hits: &Hits, arguments: &Arguments, workspace: &Workspace, start: &Path) -> Outcome {
    let place = workspace.absolute(start);
    if hits.matches == 0 {
        let told = format!("No matches found for pattern \"{}\" in {place}.", arguments.pattern);
        return structured(told, json!({"summary": "No matches found", "matches": []}));
    }
    let cut = if hits.is_cut { " (cut; there are more)" } else { "" };
    let summary = format!("Found {} match(es) in {} file(s){cut}", hits.matches, hits.files.len());
    let mut told = format!("{summary} for pattern \"{}\" in {place}:", arguments.pattern);
    for (path, lines) in &hits.files {
        told.push_str(&format!("\n---\nFile: {}", shown(path)));
        for line in lines.iter().filter(|_| !arguments.names_only) {
            told.push_str(&format!(
                "\nL{}{} {}",
                line.number,
                if line.is_match { ':' } else { '-' },
                line.text
            ));
        }
    }
    let matches: Vec<Value> = hits.files.iter().flat_map(|(path, lines)| matched(path, lines)).collect();
    structured(told, json!({"summary": summary, "matches": matches}))
}

fn matched<'a>(path: &'a Path, lines: &'a [Line]) -> impl Iterator<Item = Value> + 'a {
    lines
        .iter()
        .filter(|line| line.is_match)
        .map(|line| json!({"filePath": shown(path), "lineNumber": line.number, "line": line.text}))
}
