//! `/help`: what there is.

use async_trait::async_trait;

use super::{Desk, Does, Line, Slash, described};
use crate::agent::runner::Failed;
use crate::agent::work::Done;
use crate::proto::devtool::SlashCommand;

pub(super) struct Help;

#[async_trait]
impl Slash for Help {
    fn about(&self) -> SlashCommand {
        described("help", "Lists the commands.")
    }

    async fn run(&self, desk: &Desk, _line: &Line, _done: &[Done]) -> Result<Does, Failed> {
        let mut lines = Vec::new();
        for command in desk.commands().await? {
            lines.push(shown("", &command));
            let name = format!("{} ", command.name);
            lines.extend(command.sub_commands.iter().map(|sub| shown(&name, sub)));
        }
        Ok(Does::Says(lines.join("\n")))
    }
}

fn shown(above: &str, command: &SlashCommand) -> String {
    let argument = |name: &str, required| if required { format!(" <{name}>") } else { format!(" [{name}]") };
    let arguments: String = command.arguments.iter().map(|a| argument(&a.name, a.is_required)).collect();
    format!("/{above}{}{arguments} - {}", command.name, command.description)
}
