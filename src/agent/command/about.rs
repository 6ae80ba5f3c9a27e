//! `/about`: which server this is and what holds in the context.

use async_trait::async_trait;

use super::{Desk, Does, Line, Slash, described};
use crate::agent::runner::Failed;
use crate::agent::work::Done;
use crate::proto::devtool::SlashCommand;

pub(super) struct About;

#[async_trait]
impl Slash for About {
    fn about(&self) -> SlashCommand {
        described("about", "Says which server this is, and what holds in this context.")
    }

    async fn run(&self, desk: &Desk, _line: &Line, _done: &[Done]) -> Result<Does, Failed> {
        Ok(Does::Says(format!(
            "Agena {} on {}\nModel: {}\nApproval mode: {}\nWorkspace: {}\nContext: {}",
            env!("CARGO_PKG_VERSION"),
            std::env::consts::OS,
            desk.model(),
            desk.mode(),
            desk.tools.workspace(),
            desk.owner.context_id,
        )))
    }
}
