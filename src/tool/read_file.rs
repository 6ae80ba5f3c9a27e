//! `read_file`: a file or some of its lines.

use std::path::Path;

use serde::Deserialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::shape::{Looking, declaration, reach, text};
use super::text::{Content, content, cut_line, media};
use crate::domain::tool::{Declaration, Extent, Kind, Outcome, Reach, ToolError};
use crate::sandbox::Workspace;
use crate::sandbox::walk::Ignore;

pub(super) const FILE: u64 = 20 * 1024 * 1024;
/// A drawing is text; a very large one is no use as such.
const DRAWING: usize = 1024 * 1024;
pub(super) const LINES: usize = 2_000;

#[derive(Deserialize)]
pub(super) struct Arguments {
    file_path: String,
    start_line: Option<usize>,
    end_line: Option<usize>,
}

pub(super) struct ReadFile;

impl Looking for ReadFile {
    type Arguments = Arguments;

    fn declaration() -> Declaration {
        declaration(
            "read_file",
            "ReadFile",
            Kind::Read,
            "Reads a file. Long files are cut: the answer then says which lines it shows and how to read on with \
             start_line and end_line. Text, images, audio, video and PDF can be read.",
            json!({
                "type": "object",
                "properties": {
                    "file_path": {"type": "string", "description": "The file to read."},
                    "start_line": {
                        "type": "integer", "minimum": 1,
                        "description": "First line to read, from 1.",
                    },
                    "end_line": {
                        "type": "integer", "minimum": 1,
                        "description": "Last line to read, included.",
                    },
                },
                "required": ["file_path"],
            }),
        )
    }

    fn describe(arguments: &Arguments, workspace: &Workspace) -> Result<String, ToolError> {
        let path = workspace.resolve(&arguments.file_path)?;
        if let (Some(start), Some(end)) = (arguments.start_line, arguments.end_line)
            && start > end
        {
            let message = format!("start_line: {start} lies behind end_line {end}");
            return Err(ToolError::new("invalid_tool_params", message));
        }
        Ok(format!("Read {}", workspace.absolute(&path)))
    }

    fn reach(arguments: &Arguments, workspace: &Workspace) -> Result<Vec<Reach>, ToolError> {
        Ok(vec![reach(workspace, &workspace.resolve(&arguments.file_path)?, Extent::Itself)?])
    }

    fn look(
        arguments: &Arguments,
        workspace: &Workspace,
        _: &CancellationToken,
    ) -> Result<Outcome, ToolError> {
        Self::describe(arguments, workspace)?;
        // An ignore file means the file, by whatever symlink it is read.
        let path = workspace.follow(&arguments.file_path)?;
        if workspace.ignores(&path, Ignore::default()) {
            let message = format!(
                "{} is named by .gitignore or .geminiignore and is not read",
                workspace.absolute(&path)
            );
            return Err(ToolError::new("permission_denied", message));
        }
        let bytes = workspace.read(&path, FILE)?;
        Ok(told(arguments, &path, &bytes))
    }
}

fn told(arguments: &Arguments, path: &Path, bytes: &[u8]) -> Outcome {
    match content(path, bytes) {
        Content::Text(_) if is_drawing(path) && bytes.len() > DRAWING => {
            text(format!("{} is a drawing of more than 1 MB and is not shown.", path.display()), "")
        }
        Content::Text(whole) => lines(&whole, arguments.start_line, arguments.end_line),
        Content::Media { mime } => Outcome {
            media: vec![media(mime, bytes)],
            ..text(format!("{} ({mime}) is attached.", path.display()), format!("Read {mime}"))
        },
        Content::Binary => text(
            format!("{} is a binary file and its content cannot be shown.", path.display()),
            "Binary file",
        ),
    }
}

fn is_drawing(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("svg"))
}

/// The lines that were asked for, with a notice where that is not the whole file.
pub(super) fn lines(whole: &str, start: Option<usize>, end: Option<usize>) -> Outcome {
    let total = whole.lines().count();
    let from = start.unwrap_or(1);
    let to = end.unwrap_or(usize::MAX).min(total).min(from.saturating_add(LINES - 1));
    let chosen: Vec<&str> = whole.lines().skip(from - 1).take((to + 1).saturating_sub(from)).collect();
    let is_long = |line: &&str| line.len() > super::text::LINE && cut_line(line).len() < line.len();
    let shortened = chosen.iter().any(is_long);
    if from == 1 && to == total && !shortened {
        return text(whole.to_owned(), "");
    }
    let shown = if from > total { "no lines".to_owned() } else { format!("lines {from}-{to}") };
    let mut told = format!("IMPORTANT: this is not the whole file. It shows {shown} of {total}.");
    if to < total && from <= total {
        told.push_str(&format!(" To read on, use start_line: {}.", to + 1));
    }
    if shortened {
        told.push_str(" Lines of more than 2000 characters are cut.");
    }
    told.push_str("\n\n--- FILE CONTENT ---\n");
    told.push_str(&chosen.iter().map(|line| cut_line(line)).collect::<Vec<_>>().join("\n"));
    text(told, format!("Read {shown} of {total}"))
}
