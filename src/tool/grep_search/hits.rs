//! What a search found: lines of files, and how they are told.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use grep_matcher::Matcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkMatch};
use serde_json::{Value, json};

use super::{Arguments, Query};
use crate::domain::tool::Outcome;
use crate::sandbox::Workspace;
use crate::tool::shape::{shown, structured};
use crate::tool::text::cut_line;

pub(super) struct Line {
    number: u64,
    is_match: bool,
    text: String,
}

#[derive(Default)]
pub(super) struct Hits {
    pub(super) files: BTreeMap<PathBuf, Vec<Line>>,
    pub(super) matches: usize,
    pub(super) is_cut: bool,
}

impl Hits {
    pub(super) fn add(&mut self, path: &Path, found: Lines<'_>) {
        if found.matches > 0 {
            self.matches += found.matches;
            self.is_cut |= found.is_cut;
            self.files.insert(path.to_owned(), found.lines);
        }
    }

    /// Few matches are shown with what stands around them, which saves the model from reading the file next.
    pub(super) fn around(&self, arguments: &Arguments) -> usize {
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
pub(super) struct Lines<'a> {
    query: &'a Query,
    /// So many more may be found.
    left: usize,
    matches: usize,
    is_cut: bool,
    lines: Vec<Line>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(query: &'a Query, left: usize) -> Self {
        Self { query, left, matches: 0, is_cut: false, lines: Vec::new() }
    }

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

pub(super) fn told(hits: &Hits, arguments: &Arguments, workspace: &Workspace, start: &Path) -> Outcome {
    let place = workspace.absolute(start);
    if hits.matches == 0 {
        let told = format!("No matches found for pattern \"{}\" in {place}.", arguments.pattern);
        return structured(told, json!({"summary": "No matches found", "matches": []}));
    }
    let cut = if hits.is_cut { " (cut; there may be more)" } else { "" };
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
