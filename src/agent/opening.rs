//! Tasks that are opened before anything is said in them, and what can be told of a task without working on it.

use std::time::SystemTime;

use super::engine::{Engine, EngineError, Result, blocking};
use super::machine::Machine;
use crate::domain::principal::Principal;
use crate::domain::store::{Commit, Filter, Head};
use crate::domain::tool::Declaration;
use crate::proto::a2a::TaskState;
use crate::proto::devtool::AgentSettings;
use crate::proto::task::Created;
use crate::proto::task::task_event::Event;
use crate::proto::wkt::Timestamp;

/// Of one principal, at a time. Nobody works on them, so nothing else would bound them.
const MOST: usize = 100;

impl Engine {
    /// A conversation that waits for its first message. Returns the id of its task.
    pub async fn open(
        &self,
        who: &Principal,
        context_id: String,
        settings: Option<AgentSettings>,
    ) -> Result<String> {
        if let Some(settings) = &settings {
            self.check(settings).await?;
        }
        let waiting = Filter { state: Some(TaskState::Submitted), ..Filter::default() };
        if self.shared.store.list(who, &waiting, None, 1).await?.total >= MOST as u64 {
            return Err(EngineError::Crowded);
        }
        let task_id = uuid::Uuid::now_v7().to_string();
        let created = Created {
            task_id: task_id.clone(),
            context_id: Some(context_id)
                .filter(|id| !id.is_empty())
                .unwrap_or_else(|| uuid::Uuid::now_v7().to_string()),
            settings,
            conversational: true,
            ..Created::default()
        };
        let now = SystemTime::now();
        let mut machine = Machine::new();
        let events = vec![machine.apply(Event::Created(Box::new(created)), Timestamp::of(now))?];
        let commit = Commit {
            task_id: task_id.clone(),
            events: events.into(),
            state: machine.state(),
            updated: Some(now),
            send: None,
            grants: Vec::new(),
            push: None,
        };
        self.shared.commit(who, commit).await?;
        Ok(task_id)
    }

    /// How a task began.
    pub async fn created(&self, who: &Principal, task_id: &str) -> Result<Created> {
        let first = self.shared.store.events(who, task_id, 0, 1).await?;
        let created = first.into_iter().find_map(|event| match event.event {
            Some(Event::Created(created)) => Some(*created),
            _ => None,
        });
        Ok(created.unwrap_or_default())
    }

    /// The tools of a task with these settings; none where its workspace cannot be had any more.
    pub async fn tools(&self, settings: AgentSettings) -> Vec<Declaration> {
        let workshop = self.shared.mind.workshop.clone();
        let tools = blocking(move || {
            let tools = workshop.open(&settings).ok()?;
            let named = &settings.allowed_tools;
            let allowed = |tool: &&Declaration| named.is_empty() || named.contains(&tool.name);
            Some(tools.declarations().iter().filter(allowed).cloned().collect())
        });
        tools.await.flatten().unwrap_or_default()
    }

    /// The model that works on tasks that name none.
    pub fn model(&self) -> &str {
        &self.shared.mind.options.model
    }

    /// The newest tasks of a principal.
    pub async fn newest(&self, who: &Principal, most: usize) -> Result<Vec<Head>> {
        Ok(self.shared.store.list(who, &Filter::default(), None, most).await?.heads)
    }
}
