//! `/mcp`: the MCP servers of this context, as whoever speaks to them tells.

use async_trait::async_trait;

use super::{Desk, Does, Line, Slash, argument, described, over, with};
use crate::agent::runner::Failed;
use crate::agent::work::Done;
use crate::domain::mcp::{ServerStatus, State};
use crate::proto::devtool::SlashCommand;

pub(super) struct Mcp;

#[async_trait]
impl Slash for Mcp {
    fn about(&self) -> SlashCommand {
        let one = argument("server", "only this one", false);
        over(
            described("mcp", "Lists and reloads the MCP servers."),
            vec![
                described("list", "Lists the servers, their state and their tools."),
                with(
                    described("reload", "Connects to them anew, or to one of them, and lists them."),
                    vec![one],
                ),
            ],
        )
    }

    async fn run(&self, desk: &Desk, line: &Line, _done: &[Done]) -> Result<Does, Failed> {
        let one = Some(line.args.as_str()).filter(|name| !name.is_empty());
        if line.sub == "reload" && !desk.servers.reload(one) {
            return Ok(Does::Fails(format!(
                "there is no MCP server {:?}; /mcp list shows those there are",
                line.args
            )));
        }
        // Connects what is not connected, so that their tools are known.
        desk.servers.declarations().await;
        let lines: Vec<String> = desk.servers.status().iter().map(shown).collect();
        let none = || "No MCP server is configured.".to_owned();
        Ok(Does::Says(if lines.is_empty() { none() } else { lines.join("\n") }))
    }
}

fn shown(server: &ServerStatus) -> String {
    let ServerStatus { name, way, state, tools, problems, .. } = server;
    let problems = if problems.is_empty() { String::new() } else { format!(" ({})", problems.join("; ")) };
    let tools = if tools.is_empty() { "no tools".to_owned() } else { tools.join(", ") };
    format!("{name} - {}, {way}{problems}: {tools}", word(*state))
}

fn word(state: State) -> &'static str {
    match state {
        State::Unapproved => "not approved",
        State::Idle => "not connected",
        State::Connecting => "connecting",
        State::Connected => "connected",
        State::Failed => "failed",
    }
}
