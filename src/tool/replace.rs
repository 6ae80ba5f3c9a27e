//! `replace`: one passage of a file by another, found exactly or nearly.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::json;

use super::matching::{Found, Way, find};
use super::shape::{Editing, Proposal, declaration};
use super::text::is_crlf;
use super::write_file::{complete, current, sized};
use crate::domain::tool::{Declaration, Kind, ToolError};
use crate::sandbox::Workspace;

#[derive(Deserialize)]
pub(super) struct Arguments {
    file_path: String,
    old_string: String,
    new_string: String,
    #[serde(default)]
    allow_multiple: bool,
}

pub(super) struct Replace;

impl Editing for Replace {
    type Arguments = Arguments;

    fn declaration() -> Declaration {
        declaration(
            "replace",
            "Edit",
            Kind::Edit,
            "Replaces a passage of a file. old_string must be the exact text, with enough around it to stand in the file \
             only once, unless allow_multiple is set. An empty old_string creates a new file. The user may change the \
             result before agreeing; the answer then says so.",
            json!({
                "type": "object",
                "properties": {
                    "file_path": {"type": "string", "description": "The file to change."},
                    "instruction": {
                        "type": "string",
                        "description": "What the change is for, in a sentence.",
                    },
                    "old_string": {
                        "type": "string",
                        "description": "The text to replace, exactly as it stands.",
                    },
                    "new_string": {"type": "string", "description": "The text to put in its place."},
                    "allow_multiple": {
                        "type": "boolean",
                        "description": "Replace every occurrence; off by default.",
                    },
                },
                "required": ["file_path", "instruction", "old_string", "new_string"],
            }),
        )
    }

    fn propose(arguments: &Arguments, workspace: &Workspace) -> Result<Proposal, ToolError> {
        let path = workspace.follow(&arguments.file_path)?;
        complete("new_string", &arguments.new_string, &arguments.old_string)?;
        let shown = workspace.absolute(&path);
        let made = match current(workspace, &path)? {
            None if arguments.old_string.is_empty() => {
                Proposal { path, old: None, new: arguments.new_string.clone(), note: None }
            }
            None => {
                let message = format!("{shown} does not exist; an empty old_string creates it");
                return Err(ToolError::new("file_not_found", message));
            }
            Some(_) if arguments.old_string.is_empty() => {
                let message =
                    format!("{shown} exists already; give the passage to replace, or use write_file");
                return Err(ToolError::new("attempt_to_create_existing_file", message));
            }
            Some(old) => replaced(arguments, path, old, &shown)?,
        };
        sized(workspace, &made.path, &made.new)?;
        Ok(made)
    }
}

fn replaced(arguments: &Arguments, path: PathBuf, old: String, shown: &str) -> Result<Proposal, ToolError> {
    if arguments.old_string == arguments.new_string {
        return Err(ToolError::new(
            "edit_no_change",
            format!("old_string and new_string are the same; {shown} stays"),
        ));
    }
    // The model writes plain line ends; a file that has others keeps them.
    let windows = is_crlf(&old);
    let plain = |text: &str| if windows { text.replace("\r\n", "\n") } else { text.to_owned() };
    let (text, wanted, new) = (plain(&old), plain(&arguments.old_string), plain(&arguments.new_string));
    let found = find(&text, &wanted, &new);
    check(&found, arguments.allow_multiple, shown)?;
    let new = found.apply(&text);
    let new = if windows { new.replace('\n', "\r\n") } else { new };
    if new == old {
        return Err(ToolError::new("edit_no_change", format!("the replacement leaves {shown} as it is")));
    }
    Ok(Proposal { path, old: Some(old), new, note: note(&found, &text) })
}

fn check(found: &Found, several: bool, shown: &str) -> Result<(), ToolError> {
    match found.places.len() {
        0 => Err(ToolError::new(
            "edit_no_occurrence_found",
            format!(
                "old_string was not found in {shown}, not even nearly; read the file and give the text as it stands"
            ),
        )),
        2.. if !several => Err(ToolError::new(
            "edit_expected_occurrence_mismatch",
            format!(
                "old_string was found {} times in {shown} and once was expected; give more of the text around it, or set \
                 allow_multiple",
                found.places.len()
            ),
        )),
        _ => Ok(()),
    }
}

fn note(found: &Found, text: &str) -> Option<String> {
    let count = found.places.len();
    let line = |at: usize| text[..at].matches('\n').count() + 1;
    match found.way {
        Way::Exact if count == 1 => None,
        Way::Exact => Some(format!("{count} occurrences were replaced.")),
        Way::Spacing => Some("old_string was found with other white space than given.".to_owned()),
        Way::Nearly => {
            let lines: Vec<String> =
                found.places.iter().map(|place| line(place.range.start).to_string()).collect();
            Some(format!("old_string was found only nearly, at line {}; check the result.", lines.join(", ")))
        }
    }
}
