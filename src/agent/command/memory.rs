//! `/memory`: what every model is told about the workspace.

use async_trait::async_trait;
use serde_json::json;

use super::{Desk, Does, Line, Slash, argument, described, over, with};
use crate::agent::runner::Failed;
use crate::agent::work::Done;
use crate::proto::devtool::SlashCommand;

pub(super) struct Memory;

const NONE: &str =
    "No file tells the model anything: there is no GEMINI.md or AGENTS.md, or the workspace is not trusted.";

#[async_trait]
impl Slash for Memory {
    fn about(&self) -> SlashCommand {
        let fact = argument("fact", "what to remember, in one sentence", true);
        over(
            described("memory", "Shows and changes what every model is told about this workspace."),
            vec![
                described("show", "Shows all of it."),
                with(described("add", "Adds a fact to GEMINI.md."), vec![fact]),
                described("refresh", "Reads the files again."),
                described("list", "Names the files."),
            ],
        )
    }

    async fn run(&self, desk: &Desk, line: &Line, done: &[Done]) -> Result<Does, Failed> {
        if line.sub == "add" {
            return Ok(match done.first() {
                None => Does::Calls(vec![("save_memory", json!({"fact": line.args}))]),
                Some(done) => done.ending("Remembered."),
            });
        }
        let memory = desk.memory().await;
        if memory.is_empty() {
            return Ok(Does::Says(NONE.to_owned()));
        }
        Ok(Does::Says(match line.sub.as_str() {
            "list" => memory.keys().cloned().collect::<Vec<_>>().join("\n"),
            "refresh" => {
                let length: usize = memory.values().map(|text| text.chars().count()).sum();
                // They are read for each request, so there is nothing that could be old.
                format!("Read {} files with {length} characters.", memory.len())
            }
            _ => memory
                .iter()
                .map(|(path, text)| format!("--- {path} ---\n{text}"))
                .collect::<Vec<_>>()
                .join("\n"),
        }))
    }
}
