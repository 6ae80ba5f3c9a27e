//! `/tools`: what the model may call here.

use async_trait::async_trait;

use super::{Desk, Does, Line, Slash, described};
use crate::agent::runner::Failed;
use crate::agent::work::Done;
use crate::domain::tool::RESTORE;
use crate::proto::devtool::SlashCommand;

pub(super) struct Tools;

#[async_trait]
impl Slash for Tools {
    fn about(&self) -> SlashCommand {
        described("tools", "Lists the tools that the model may call in this context.")
    }

    async fn run(&self, desk: &Desk, _line: &Line, _done: &[Done]) -> Result<Does, Failed> {
        let known = desk.declarations.iter().filter(|tool| tool.name != RESTORE);
        let lines: Vec<String> = known
            .map(|tool| {
                let first = tool.description.split(". ").next().unwrap_or_default().trim_end_matches('.');
                let server = tool.server.as_ref().map(|server| format!(" ({server})")).unwrap_or_default();
                format!("{}{server} - {first}.", tool.name)
            })
            .collect();
        Ok(Does::Says(if lines.is_empty() { "There are no tools.".to_owned() } else { lines.join("\n") }))
    }
}
