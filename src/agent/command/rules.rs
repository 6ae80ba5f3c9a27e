//! `/rules`: what the user has allowed for the rest of the context.

use async_trait::async_trait;

use super::{Desk, Does, Line, Slash, argument, described, over, with};
use crate::agent::runner::Failed;
use crate::agent::work::Done;
use crate::proto::devtool::SlashCommand;

pub(super) struct Rules;

#[async_trait]
impl Slash for Rules {
    fn about(&self) -> SlashCommand {
        let id = argument("id", "of the rule, as /rules list shows it", true);
        over(
            described("rules", "Lists and takes back what is always allowed in this context."),
            vec![
                described("list", "Lists what is always allowed."),
                with(described("revoke", "Takes a rule back."), vec![id]),
            ],
        )
    }

    async fn run(&self, desk: &Desk, line: &Line, _done: &[Done]) -> Result<Does, Failed> {
        let (store, who, context) = (&desk.shared.store, &desk.owner.who, desk.context());
        if line.sub == "revoke" {
            return Ok(match store.revoke_grant(who, &context, &line.args).await? {
                true => Does::Says(format!("Rule {} is gone; such calls are asked for again.", line.args)),
                false => Does::Fails(format!(
                    "there is no rule {:?}; /rules list shows those there are",
                    line.args
                )),
            });
        }
        let granted = store.grants(who, &context).await?;
        let lines: Vec<String> =
            granted.iter().map(|grant| format!("{} - {}", grant.id, grant.rule)).collect();
        let none = || "Nothing is always allowed in this context.".to_owned();
        Ok(Does::Says(if lines.is_empty() { none() } else { lines.join("\n") }))
    }
}
