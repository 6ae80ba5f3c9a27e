//! Tasks that are opened before anything is said in them, and what can be told of a task without working on it.

use std::time::SystemTime;

use super::engine::{Engine, Result, blocking};
use super::machine::Machine;
use super::runner::Owner;
use super::session::declared;
use crate::domain::mcp::ServerStatus;
use crate::domain::principal::Principal;
use crate::domain::store::{Commit, Filter, Head};
use crate::domain::stretch::Stretch;
use crate::domain::tool::{Declaration, RESTORE};
use crate::proto::a2a::TaskState;
use crate::proto::devtool::AgentSettings;
use crate::proto::task::Created;
use crate::proto::task::task_event::Event;
use crate::proto::wkt::Timestamp;

/// Of one principal, at a time. Nobody works on them, so nothing else would bound them.
const MOST: usize = 100;

/// What a task may call.
#[derive(Debug, Clone, Default)]
pub struct Offered {
    pub tools: Vec<Declaration>,
    pub servers: Vec<ServerStatus>,
}

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
        let settings = match settings {
            None if !context_id.is_empty() => self.held(who, "", &context_id).await?,
            given => given,
        };
        self.make_room(who).await?;
        let (task_id, context_id) =
            (new_id(), Some(context_id).filter(|id| !id.is_empty()).unwrap_or_else(new_id));
        let created = Created {
            task_id: task_id.clone(),
            context_id: context_id.clone(),
            settings,
            conversational: true,
            ..Created::default()
        };
        let now = SystemTime::now();
        let mut machine = Machine::new();
        let events: Stretch =
            vec![machine.apply(Event::Created(Box::new(created)), Timestamp::of(now))?].into();
        let commit = Commit {
            task_id: task_id.clone(),
            events: events.clone(),
            state: machine.state(),
            updated: Some(now),
            send: None,
            grants: Vec::new(),
            push: None,
        };
        self.shared.commit(who, commit).await?;
        let owner = Owner { who: who.clone(), task_id: task_id.clone(), context_id, tenant: String::new() };
        self.shared.tell(&owner, &events, true);
        Ok(task_id)
    }

    /// The one that has waited longest gives way: it was most likely forgotten, and its client can open another.
    async fn make_room(&self, who: &Principal) -> Result<()> {
        let waiting = Filter { state: Some(TaskState::Submitted), ..Filter::default() };
        let page = self.shared.store.list(who, &waiting, None, MOST).await?;
        if page.total < MOST as u64 {
            return Ok(());
        }
        // Others that were just begun are submitted too, for a moment; they are younger.
        match page.heads.iter().min_by(|a, b| a.task_id.cmp(&b.task_id)) {
            Some(oldest) => self.cancel(who, oldest).await,
            None => Ok(()),
        }
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

    /// What a task with these settings may call; nothing where its workspace cannot be had any more.
    pub async fn offered(&self, who: &Principal, head: &Head, settings: AgentSettings) -> Offered {
        let mind = self.shared.mind.clone();
        let whose = (who.name().to_owned(), String::new(), head.context_id.clone());
        let (workspace_path, named) = (settings.workspace_path.clone(), settings.mcp_servers.clone());
        let opened = blocking(move || {
            let alone = AgentSettings { workspace_path, ..AgentSettings::default() };
            let tools = mind.workshop.open(&alone).ok()?;
            let servers = mind.servers.open(&whose, tools.workspace(), &named).ok()?;
            Some((tools, servers))
        });
        let Some(Some((tools, servers))) = opened.await else { return Offered::default() };
        let mut tools = declared(&*tools, &*servers, &settings).await;
        tools.retain(|tool| tool.name != RESTORE);
        Offered { tools, servers: servers.status() }
    }

    /// The model that works on tasks that name none.
    pub fn model(&self) -> String {
        self.shared.mind.model()
    }

    /// The newest tasks of a principal.
    pub async fn newest(&self, who: &Principal, most: usize) -> Result<Vec<Head>> {
        Ok(self.shared.store.list(who, &Filter::default(), None, most).await?.heads)
    }
}

fn new_id() -> String {
    uuid::Uuid::now_v7().to_string()
}
