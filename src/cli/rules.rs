//! `agena rules`: what the user has always allowed, and taking it back.

use super::client::Scene;
use super::exit::{Exit, Stop};
use super::link::stop;
use super::show::paint::Ink;
use super::show::{json, list as lines};
use crate::proto::devtool::{ListRulesRequest, RevokeRuleRequest, Rule};

const PAGE: i32 = 100;

pub fn list(scene: &mut Scene<'_>, context: Option<&str>, json: bool) -> Result<Exit, Stop> {
    let rules = all(scene, context)?;
    for rule in &rules {
        let text = match json {
            true => json::line(rule).map_err(|error| Stop::new(Exit::Failed, error.to_string()))?,
            false => lines::rule(scene.screen.paint, rule),
        };
        scene.screen.print(&text)?;
    }
    if rules.is_empty() && !json {
        scene.screen.say(Ink::Dim, "nothing is always allowed")?;
    }
    Ok(Exit::Done)
}

pub fn revoke(scene: &mut Scene<'_>, rule: &str, context: Option<&str>) -> Result<Exit, Stop> {
    let known = all(scene, context)?.into_iter().find(|known| known.rule_id == rule);
    let Some(Rule { rule_id, context_id, .. }) = known else {
        return Err(Stop::new(Exit::Failed, "there is no such rule; `agena rules` lists them"));
    };
    let mut client = scene.found.client.clone();
    let request = RevokeRuleRequest { context_id, rule_id };
    scene.runtime.block_on(client.revoke_rule(request)).map_err(|status| stop(&status))?;
    scene.screen.say(Ink::Plain, "revoked; it is asked for again from now on")?;
    Ok(Exit::Done)
}

fn all(scene: &mut Scene<'_>, context: Option<&str>) -> Result<Vec<Rule>, Stop> {
    let mut client = scene.found.client.clone();
    let context_id = context.unwrap_or_default().to_owned();
    let mut request = ListRulesRequest { context_id, page_size: PAGE, page_token: String::new() };
    let mut rules = Vec::new();
    loop {
        let page = scene.runtime.block_on(client.list_rules(request.clone()));
        let page = page.map_err(|status| stop(&status))?.into_inner();
        rules.extend(page.rules);
        if page.next_page_token.is_empty() {
            return Ok(rules);
        }
        request.page_token = page.next_page_token;
    }
}
