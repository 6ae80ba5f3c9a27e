//! `read_many_files`: all files that fit some patterns, one after the other.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use globset::GlobSet;
use serde::Deserialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::list_directory::{Filtering, filtering_schema, globs};
use super::read_file::{FILE, lines};
use super::shape::{Looking, declaration, reach, structured};
use super::text::{Content, content, media, media_type};
use crate::domain::tool::{Declaration, Extent, Kind, Outcome, Reach, ToolError};
use crate::proto::gemini::Part;
use crate::sandbox::{FoundKind, Workspace};

const MOST_FILES: usize = 500;
/// For all files together, in characters: more does not fit beside a conversation.
const BUDGET: usize = 500_000;
const EXCLUDED: &[&str] = &[
    "**/node_modules/**",
    "**/.git/**",
    "**/dist/**",
    "**/build/**",
    "**/coverage/**",
    "**/__pycache__/**",
    "**/*.pyc",
    "**/*.lock",
    "**/*.class",
    "**/*.jar",
    "**/*.zip",
    "**/*.tar",
    "**/*.gz",
    "**/*.exe",
    "**/*.dll",
    "**/*.so",
    "**/.env",
    "**/.DS_Store",
];

#[derive(Deserialize)]
pub(super) struct Arguments {
    include: Vec<String>,
    #[serde(default)]
    exclude: Vec<String>,
    recursive: Option<bool>,
    #[serde(rename = "useDefaultExcludes")]
    use_default_excludes: Option<bool>,
    #[serde(default)]
    file_filtering_options: Filtering,
}

pub(super) struct ReadManyFiles;

impl Looking for ReadManyFiles {
    type Arguments = Arguments;

    fn declaration() -> Declaration {
        let item = json!({"type": "string", "minLength": 1});
        let strings = |text: &str| json!({"type": "array", "items": item, "description": text});
        let mut include = strings("Globs or paths, from the workspace on.");
        include["minItems"] = json!(1);
        declaration(
            "read_many_files",
            "ReadManyFiles",
            Kind::Read,
            "Reads all files that fit some globs and returns their contents, each behind a line with its path. Images, \
             audio, video and PDF are read only if a pattern names them by name or extension.",
            json!({
                "type": "object",
                "properties": {
                    "include": include,
                    "exclude": strings("Globs of files to leave out."),
                    "recursive": {"type": "boolean", "description": "On by default."},
                    "useDefaultExcludes": {
                        "type": "boolean",
                        "description": "Leave out what is usually made or large; on by default.",
                    },
                    "file_filtering_options": filtering_schema(),
                },
                "required": ["include"],
            }),
        )
    }

    fn describe(arguments: &Arguments, workspace: &Workspace) -> Result<String, ToolError> {
        Choice::new(arguments, workspace)?;
        Ok(format!("Read files that fit {}", arguments.include.join(", ")))
    }

    /// Of a glob, the directory that it cannot leave.
    fn reach(arguments: &Arguments, workspace: &Workspace) -> Result<Vec<Reach>, ToolError> {
        let reached = arguments.include.iter().map(|given| {
            let path = workspace.resolve(given)?;
            let plain =
                |name: &&std::ffi::OsStr| !name.to_string_lossy().contains(['*', '?', '[', '{', '\\']);
            let fixed: PathBuf = path.iter().take_while(plain).collect();
            reach(workspace, &fixed, Extent::All)
        });
        reached.collect()
    }

    fn look(
        arguments: &Arguments,
        workspace: &Workspace,
        cancel: &CancellationToken,
    ) -> Result<Outcome, ToolError> {
        let choice = Choice::new(arguments, workspace)?;
        let which = arguments.file_filtering_options.ignore();
        let mut files = Vec::new();
        workspace.walk(Path::new(""), which, &mut |found| {
            if found.kind == FoundKind::File && choice.fits(&found.path) {
                files.push(found.path);
            }
            if cancel.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        files.sort();
        let mut read = Read { left: BUDGET, ..Read::default() };
        for path in &files {
            read.file(path, workspace, &choice);
        }
        Ok(read.outcome(workspace))
    }
}

struct Choice {
    include: GlobSet,
    exclude: GlobSet,
    recursive: bool,
    patterns: Vec<String>,
}

impl Choice {
    fn new(arguments: &Arguments, workspace: &Workspace) -> Result<Self, ToolError> {
        let mut patterns = Vec::new();
        for given in &arguments.include {
            let path = workspace.resolve(given)?;
            let bare = path.to_string_lossy().into_owned();
            // A directory means all that is in it.
            patterns.extend(workspace.look(&path).ok().filter(|f| f.kind == FoundKind::Directory).map(
                |_| {
                    if bare.is_empty() { "**".to_owned() } else { format!("{bare}/**") }
                },
            ));
            patterns.push(bare);
        }
        let mut exclude = arguments.exclude.clone();
        if arguments.use_default_excludes.unwrap_or(true) {
            exclude.extend(EXCLUDED.iter().map(|pattern| (*pattern).to_owned()));
        }
        Ok(Self {
            include: globs("include", &patterns)?,
            exclude: globs("exclude", &exclude)?,
            recursive: arguments.recursive.unwrap_or(true),
            patterns,
        })
    }

    fn fits(&self, path: &Path) -> bool {
        let deep = path.components().count() > 1;
        self.include.is_match(path) && !self.exclude.is_match(path) && (self.recursive || !deep)
    }

    /// Whether a pattern asks for this picture and not just for everything.
    fn names(&self, path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let ending = path.extension().map(|ending| format!(".{}", ending.to_string_lossy().to_lowercase()));
        let asks = |pattern: &String| {
            let pattern = pattern.to_lowercase();
            pattern.contains(&name) || ending.as_ref().is_some_and(|ending| pattern.contains(ending))
        };
        self.patterns.iter().any(asks)
    }
}

#[derive(Default)]
struct Read {
    told: String,
    media: Vec<Part>,
    files: Vec<String>,
    skipped: Vec<(PathBuf, String)>,
    left: usize,
}

impl Read {
    fn file(&mut self, path: &Path, workspace: &Workspace, choice: &Choice) {
        if self.left == 0 || self.files.len() == MOST_FILES {
            self.skipped.push((path.to_owned(), "the answer is full".to_owned()));
            return;
        }
        let bytes = match workspace.read(path, FILE) {
            Ok(bytes) => bytes,
            Err(error) => return self.skipped.push((path.to_owned(), error.to_string())),
        };
        match content(path, &bytes) {
            Content::Text(whole) => self.text(workspace.absolute(path), &whole),
            Content::Media { mime } if choice.names(path) => {
                self.media.push(media(mime, &bytes));
                self.files.push(workspace.absolute(path));
            }
            Content::Media { .. } | Content::Binary => {
                let why = media_type(path).map_or("is binary", |_| "is not named by a pattern");
                self.skipped.push((path.to_owned(), why.to_owned()));
            }
        }
    }

    fn text(&mut self, path: String, whole: &str) {
        let text = lines(whole, None, None).told;
        let end = text.char_indices().nth(self.left).map_or(text.len(), |(end, _)| end);
        self.left = self.left.saturating_sub(text.chars().count());
        self.told.push_str(&format!("--- {path} ---\n\n{}\n\n", &text[..end]));
        if end < text.len() {
            self.told.push_str("[cut: the answer is full]\n\n");
        }
        self.files.push(path);
    }

    fn outcome(mut self, workspace: &Workspace) -> Outcome {
        if self.files.is_empty() {
            self.told.push_str("No files fit the patterns, or none of them could be read.\n");
        } else {
            self.told.push_str("--- End of content ---\n");
        }
        for (path, why) in self.skipped.iter().take(20) {
            self.told.push_str(&format!("Left out: {} ({why})\n", workspace.absolute(path)));
        }
        let summary = format!("Read {} file(s), left out {}", self.files.len(), self.skipped.len());
        let shown = json!({"summary": summary, "files": self.files});
        Outcome { media: self.media, ..structured(self.told, shown) }
    }
}
