//! `save_memory`: a fact to remember, as an edit of the workspace's GEMINI.md.

use serde::Deserialize;
use serde_json::json;

use super::shape::{Editing, Proposal, declaration};
use super::text::with_endings_of;
use super::write_file::{current, sized};
use crate::domain::tool::{Declaration, Kind, ToolError};
use crate::sandbox::Workspace;

const FILE: &str = "GEMINI.md";
const HEADING: &str = "## Gemini Added Memories";

#[derive(Deserialize)]
pub(super) struct Arguments {
    fact: String,
}

pub(super) struct SaveMemory;

impl Editing for SaveMemory {
    type Arguments = Arguments;

    fn declaration() -> Declaration {
        declaration(
            "save_memory",
            "SaveMemory",
            Kind::Edit,
            "Remembers one short fact for later conversations, in GEMINI.md of the workspace. Use it when the user asks \
             to remember something, not for what only matters now.",
            json!({
                "type": "object",
                "properties": {
                    "fact": {
                        "type": "string", "minLength": 1,
                        "description": "The fact, in one sentence that stands for itself.",
                    },
                },
                "required": ["fact"],
            }),
        )
    }

    fn propose(arguments: &Arguments, workspace: &Workspace) -> Result<Proposal, ToolError> {
        let fact = arguments.fact.split_whitespace().collect::<Vec<_>>().join(" ");
        let fact = fact.trim_start_matches(['-', ' ']);
        if fact.is_empty() {
            return Err(ToolError::new("invalid_tool_params", "fact: there is nothing to remember in it"));
        }
        let path = workspace.follow(FILE)?;
        let old = current(workspace, &path)?;
        let text = old.as_deref().unwrap_or_default();
        let new = with_endings_of(text, &remembered(&text.replace("\r\n", "\n"), fact));
        sized(workspace, &path, &new)?;
        Ok(Proposal { path, old, new, note: Some(format!("Remembered: {fact}")) })
    }
}

/// At the end of the list below the heading, which is made if it is not there.
fn remembered(text: &str, fact: &str) -> String {
    let Some(heading) = text.find(HEADING) else {
        let above = text.trim_end();
        let gap = if above.is_empty() { "" } else { "\n\n" };
        return format!("{above}{gap}{HEADING}\n- {fact}\n");
    };
    let list = heading + HEADING.len();
    let end = text[list..].find("\n## ").map_or(text.len(), |at| list + at);
    let (above, below) = (text[..end].trim_end(), &text[end..]);
    format!("{above}\n- {fact}\n{below}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_go_below_their_heading() {
        for (text, expected) in [
            ("", "## Gemini Added Memories\n- f\n"),
            ("# Mine\n\n", "# Mine\n\n## Gemini Added Memories\n- f\n"),
            ("## Gemini Added Memories\n- e\n", "## Gemini Added Memories\n- e\n- f\n"),
            (
                "## Gemini Added Memories\n- e\n\n## Next\nx\n",
                "## Gemini Added Memories\n- e\n- f\n\n## Next\nx\n",
            ),
        ] {
            assert_eq!(remembered(text, "f"), expected, "{text:?}");
        }
    }
}
