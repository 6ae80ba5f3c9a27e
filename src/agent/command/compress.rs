//! `/compress`: the conversation becomes a summary.

use async_trait::async_trait;

use super::{Desk, Does, Line, Slash, described};
use crate::agent::runner::Failed;
use crate::agent::work::Done;
use crate::proto::devtool::SlashCommand;

pub(super) struct Compress;

#[async_trait]
impl Slash for Compress {
    fn about(&self) -> SlashCommand {
        described("compress", "Puts a summary in the place of the older part of the conversation.")
    }

    async fn run(&self, _desk: &Desk, _line: &Line, _done: &[Done]) -> Result<Does, Failed> {
        Ok(Does::Compresses)
    }
}
