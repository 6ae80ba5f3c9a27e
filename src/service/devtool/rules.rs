//! Rules: what the user always allows, listed and taken back.

use super::DevTool;
use super::fault::fault;
use super::read::page_size;
use crate::domain::error::{Cause, Error};
use crate::domain::grant::Grant;
use crate::domain::principal::Principal;
use crate::domain::store::{After, Context};
use crate::proto::devtool::{
    ConfirmationOptionKind, ListRulesRequest, ListRulesResponse, RevokeRuleRequest, Rule,
};
use crate::proto::wkt::Timestamp;
use crate::service::limits;

impl DevTool {
    pub(super) async fn rules(
        &self,
        who: &Principal,
        request: &ListRulesRequest,
    ) -> Result<ListRulesResponse, Error> {
        let size = page_size(request.page_size)?;
        limits::id("context_id", &request.context_id)?;
        let question = ("rules", &request.context_id);
        let after = self.after(who, &question, &request.page_token)?;
        let grants = self.engine.store().all_grants(who, "").await.map_err(fault)?;
        // Their numbers grow, and they stand in that order.
        let behind = after.and_then(|after| after.task_id.parse::<i64>().ok());
        let wanted = grants.into_iter().filter(|(context, grant)| {
            let here = request.context_id.is_empty() || *context == request.context_id;
            here && behind.is_none_or(|last| grant.id.parse::<i64>().is_ok_and(|number| number > last))
        });
        let mut wanted: Vec<_> = wanted.take(size + 1).collect();
        let more = wanted.len() > size;
        wanted.truncate(size);
        let last = wanted
            .last()
            .filter(|_| more)
            .map(|(_, grant)| After { updated: grant.at, task_id: grant.id.clone() });
        let next_page_token = self.token(who, &question, last);
        Ok(ListRulesResponse { rules: wanted.into_iter().map(rule).collect(), next_page_token })
    }

    pub(super) async fn revoke(&self, who: &Principal, request: RevokeRuleRequest) -> Result<(), Error> {
        let context = Context { tenant: String::new(), id: request.context_id };
        let gone = self.engine.store().revoke_grant(who, &context, &request.rule_id).await.map_err(fault)?;
        // Another's rule, or none: nobody is told which.
        let missing = || Error::new(Cause::RuleNotFound, "there is no such rule in this context");
        if gone { Ok(()) } else { Err(missing()) }
    }
}

/// What is kept is always an allowance; refusals are not kept for good.
fn rule((context_id, grant): (String, Grant)) -> Rule {
    Rule {
        rule_id: grant.id,
        subject: grant.rule.to_string(),
        kind: ConfirmationOptionKind::AllowAlways.into(),
        create_time: Some(Timestamp::of(grant.at)),
        context_id,
    }
}
