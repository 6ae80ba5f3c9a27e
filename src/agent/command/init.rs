//! `/init`: the model looks at the workspace and proposes a GEMINI.md.

use async_trait::async_trait;

use super::{Desk, Does, Line, Slash, described};
use crate::agent::runner::Failed;
use crate::agent::work::Done;
use crate::proto::devtool::SlashCommand;

pub(super) struct Init;

const FILE: &str = "GEMINI.md";
const PROMPT: &str = "Look at this workspace: its files, how it is built and tested, and the habits that its code shows. \
    Then write GEMINI.md with write_file, so that an agent that comes here for the first time knows what this project is, \
    how to build, run and test it, where things are, and which conventions to keep. Be short, and write nothing that you \
    have not seen.";

#[async_trait]
impl Slash for Init {
    fn about(&self) -> SlashCommand {
        described("init", "Has the model look at the workspace and write a GEMINI.md.")
    }

    async fn run(&self, desk: &Desk, _line: &Line, _done: &[Done]) -> Result<Does, Failed> {
        Ok(match desk.tools.content(FILE).await {
            Ok(None) => Does::Prompts(PROMPT.to_owned()),
            Ok(Some(_)) => Does::Says("There is a GEMINI.md already; nothing was changed.".to_owned()),
            Err(error) => Does::Fails(error.to_string()),
        })
    }
}
