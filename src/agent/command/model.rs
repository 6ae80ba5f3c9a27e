//! `/model`: which model is asked in this context, or another one from now on.

use async_trait::async_trait;

use super::{Desk, Does, Line, Slash, argument, described, over, with};
use crate::agent::runner::Failed;
use crate::agent::work::Done;
use crate::proto::devtool::{AgentSettings, SlashCommand};

pub(super) struct Model;

#[async_trait]
impl Slash for Model {
    fn about(&self) -> SlashCommand {
        let name = argument("name", "one of the models that this server has", true);
        over(
            described("model", "Shows or sets the model of this context."),
            vec![
                described("show", "Says which model is asked."),
                with(described("set", "Asks another model from now on."), vec![name]),
            ],
        )
    }

    /// Whether there is such a model is looked at with all other settings.
    fn sets(&self, line: &Line, held: &AgentSettings) -> Result<Option<AgentSettings>, String> {
        let model = line.args.clone();
        Ok((line.sub == "set").then(|| AgentSettings { model, ..held.clone() }))
    }

    async fn run(&self, desk: &Desk, _line: &Line, _done: &[Done]) -> Result<Does, Failed> {
        Ok(Does::Says(format!("The model of this context is {}.", desk.model())))
    }
}
