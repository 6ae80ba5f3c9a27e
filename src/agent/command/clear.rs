//! `/clear`: the model forgets. The context, its tasks and what is allowed in it stay.

use async_trait::async_trait;

use super::{Desk, Does, Line, Slash, described};
use crate::agent::runner::Failed;
use crate::agent::work::Done;
use crate::proto::devtool::SlashCommand;

pub(super) struct Clear;

#[async_trait]
impl Slash for Clear {
    fn about(&self) -> SlashCommand {
        described(
            "clear",
            "Makes the model forget the conversation of this context; its tasks stay readable.",
        )
    }

    async fn run(&self, _desk: &Desk, _line: &Line, _done: &[Done]) -> Result<Does, Failed> {
        let said = "The model has forgotten this conversation. The context goes on, with its tasks, settings and rules.";
        Ok(Does::Forgets(said.to_owned()))
    }
}
