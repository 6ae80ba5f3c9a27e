//! What a task works with: the settings that its client asks for, if they may hold here, or those that held in its context
//! before. The engine asks before it begins a task.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::engine::{Engine, EngineError, NewTask, Result, blocking};
use crate::domain::principal::Principal;
use crate::domain::store::Filter;
use crate::domain::tool::BadSettings;
use crate::proto::devtool::AgentSettings;
use crate::proto::task::task_event::Event;

/// Tasks of a context that are looked at for the newest. More do not run side by side.
const NEWEST: usize = 32;

impl Engine {
    /// What the client asks for, if it may; else what held in the context before.
    pub(super) async fn settings(&self, who: &Principal, new: &NewTask) -> Result<Option<AgentSettings>> {
        if let Some(settings) = &new.settings {
            self.check(settings).await?;
            return Ok(Some(settings.clone()));
        }
        if new.new_context {
            return Ok(None);
        }
        self.held(who, &new.tenant, &new.message.context_id).await
    }

    /// What holds in a context: what its newest task was made with.
    pub(super) async fn held(
        &self,
        who: &Principal,
        tenant: &str,
        context_id: &str,
    ) -> Result<Option<AgentSettings>> {
        let filter = Filter {
            tenant: tenant.to_owned(),
            context_id: Some(context_id.to_owned()),
            ..Filter::default()
        };
        let page = self.shared.store.list(who, &filter, None, NEWEST).await?;
        // The list goes by the last change of state; ids grow with time.
        let newest = page.heads.iter().max_by(|a, b| a.task_id.cmp(&b.task_id));
        let Some(head) = newest else { return Ok(None) };
        let first = self.shared.store.events(who, &head.task_id, 0, 1).await?;
        let settings = first.into_iter().find_map(|event| match event.event {
            Some(Event::Created(created)) => created.settings,
            _ => None,
        });
        // What was allowed then may not be allowed any more.
        let settings = settings.map(|settings| self.shared.mind.options.clamp(settings));
        if let Some(settings) = &settings {
            self.check(settings).await?;
        }
        Ok(settings)
    }

    pub(super) async fn check(&self, settings: &AgentSettings) -> Result<()> {
        let options = &self.shared.mind.options;
        let bad = |field, problem: String| EngineError::Settings(BadSettings { field, problem });
        if options.clamp(settings.clone()) != *settings {
            let problem = "this server asks before it acts; its operator can allow more".to_owned();
            return Err(bad("approval_mode", problem));
        }
        self.has_model(&settings.model).await.map_err(|problem| bad("model", problem))?;
        let (workshop, wanted) = (Arc::clone(&self.shared.mind.workshop), settings.clone());
        let tools = blocking(move || workshop.open(&wanted)).await.ok_or(EngineError::Gone)??;
        self.shared.mind.servers.check(&settings.mcp_servers)?;
        let declared = |name: &str| tools.declarations().iter().any(|declared| declared.name == name);
        let known = |name: &&String| declared(name) || may_be_of_a_server(name);
        match settings.allowed_tools.iter().find(|name| !known(name)) {
            Some(name) => Err(bad("allowed_tools", format!("there is no tool {name:?} here"))),
            None => Ok(()),
        }
    }

    /// The one that is asked anyway, or one that the server lists.
    async fn has_model(&self, name: &str) -> std::result::Result<(), String> {
        let mind = &self.shared.mind;
        let own = mind.model();
        if name.is_empty() || name == own {
            return Ok(());
        }
        let listed = mind.backend.models().await.unwrap_or_default();
        let listed = listed.iter().map(|model| model.name.trim_start_matches("models/"));
        let names: BTreeSet<&str> = listed.chain([own.as_str()]).filter(|name| !name.is_empty()).collect();
        if names.contains(name) { Ok(()) } else { Err(unknown(name, &Vec::from_iter(names))) }
    }
}

/// What to say of a model that there is not.
fn unknown(name: &str, models: &[&str]) -> String {
    match models {
        [] => format!("there is no model {name:?} here, and none is listed"),
        [only] => format!("there is no model {name:?} here, only {only}"),
        [first @ .., last] => {
            format!("there is no model {name:?} here; there are {} and {last}", first.join(", "))
        }
    }
}

/// Which tools servers have is known when they are connected.
fn may_be_of_a_server(tool: &str) -> bool {
    tool.starts_with("mcp_") || tool.contains("_mcp_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_that_there_is_not_is_answered_with_those_that_there_are() {
        for (models, said) in [
            (&[][..], "there is no model \"x\" here, and none is listed"),
            (&["a"], "there is no model \"x\" here, only a"),
            (&["a", "b", "c"], "there is no model \"x\" here; there are a, b and c"),
        ] {
            assert_eq!(unknown("x", models), said);
        }
    }
}
