//! `write_file`: a whole file, new or over an old one.

use std::path::Path;

use serde::Deserialize;
use serde_json::json;

use super::shape::{Editing, Proposal, declaration};
use super::text::with_endings_of;
use crate::domain::tool::{Declaration, Kind, ToolError};
use crate::sandbox::{FoundKind, Workspace};

/// Both sides of an edit travel to every client, so they are of a size that can be looked at.
pub(super) const EDITED: u64 = 2 * 1024 * 1024;

/// What models write when they mean "and so on", without its dots and comment marks.
const OMISSIONS: &[&str] = &[
    "rest of code",
    "rest of the code",
    "rest of file",
    "rest of the file",
    "rest of method",
    "rest of the method",
    "rest of methods",
    "rest of the methods",
    "rest of function",
    "rest of the function",
    "remaining code",
    "remaining methods",
    "existing code",
    "unchanged code",
    "code unchanged",
    "rest unchanged",
    "previous code",
    "same as before",
];

#[derive(Deserialize)]
pub(super) struct Arguments {
    file_path: String,
    content: String,
}

pub(super) struct WriteFile;

impl Editing for WriteFile {
    type Arguments = Arguments;

    fn declaration() -> Declaration {
        declaration(
            "write_file",
            "WriteFile",
            Kind::Edit,
            "Writes the whole content of a file, which is created if it does not exist. The user may change the content \
             before agreeing; the answer then says so.",
            json!({
                "type": "object",
                "properties": {
                    "file_path": {"type": "string", "description": "The file to write."},
                    "content": {
                        "type": "string",
                        "description": "All of the file's new content, with nothing left out.",
                    },
                },
                "required": ["file_path", "content"],
            }),
        )
    }

    fn propose(arguments: &Arguments, workspace: &Workspace) -> Result<Proposal, ToolError> {
        let path = workspace.follow(&arguments.file_path)?;
        complete("content", &arguments.content, "")?;
        let old = current(workspace, &path)?;
        let new = with_endings_of(old.as_deref().unwrap_or_default(), &arguments.content);
        sized(workspace, &path, &new)?;
        Ok(Proposal { path, old, new, note: None })
    }
}

/// A file as it is now, or that there is none.
pub(super) fn current(workspace: &Workspace, path: &Path) -> Result<Option<String>, ToolError> {
    match workspace.look(path) {
        Ok(found) if found.kind == FoundKind::Directory => {
            let message = format!("{} is a directory, not a file", workspace.absolute(path));
            return Err(ToolError::new("target_is_directory", message));
        }
        Ok(_) => {}
        // A symlink that leads nowhere has a name already; writing says what is wrong with it.
        Err(ToolError::Failed { kind: "file_not_found", .. }) if !workspace.has_name(path) => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    }
    let bytes = workspace.read(path, EDITED)?;
    String::from_utf8(bytes).map(Some).map_err(|_| {
        let message = format!(
            "{} is not UTF-8 text, so an edit cannot be shown; nothing was changed",
            workspace.absolute(path)
        );
        ToolError::new("edit_preparation_failure", message)
    })
}

pub(super) fn sized(workspace: &Workspace, path: &Path, new: &str) -> Result<(), ToolError> {
    if new.len() as u64 <= EDITED {
        return Ok(());
    }
    let message =
        format!("{} would have more than {EDITED} bytes, the most of an edit", workspace.absolute(path));
    Err(ToolError::new("file_too_large", message))
}

/// Refuses a text that leaves something out, unless the old one has the same line.
pub(super) fn complete(field: &str, new: &str, old: &str) -> Result<(), ToolError> {
    let Some(line) = new.lines().find(|line| leaves_out(line) && !old.contains(line.trim())) else {
        return Ok(());
    };
    let message = format!(
        "{field}: the line {:?} stands for something that was left out; write all of it",
        line.trim()
    );
    Err(ToolError::new("invalid_tool_params", message))
}

fn leaves_out(line: &str) -> bool {
    if !line.contains("...") && !line.contains('…') {
        return false;
    }
    let words: String =
        line.chars().map(|c| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { ' ' }).collect();
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    OMISSIONS.iter().any(|omission| words == *omission || words == format!("the {omission}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_line_that_stands_for_others_is_refused() {
        for (line, refused) in [
            ("// ... rest of code ...", true),
            ("# ... existing code ...", true),
            ("    /* … the rest of the methods … */", true),
            ("<!-- ... unchanged code ... -->", true),
            ("(rest of code ...)", true),
            ("print('rest of code')", false),
            ("// handles the rest of code paths ...", false),
            ("...", false),
            ("let [first, ...rest] = all;", false),
        ] {
            assert_eq!(complete("content", line, "").is_err(), refused, "{line}");
        }
        assert!(complete("new_string", "// ... rest of code ...", "a\n// ... rest of code ...\n").is_ok());
    }
}
