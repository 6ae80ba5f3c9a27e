//! Clients of Gemini CLI's own server: which tasks are shown in their words, what they answer, and what its own routes
//! tell. The fronts of these routes call it.

use std::collections::BTreeMap;

use prost::Message as _;
use serde_json::Value;
use tonic::{Request, Status};

use super::A2a;
use super::fault::{Wanted, fault};
use super::negotiate::Caller;
use super::stream::Items;
use crate::agent::{EngineError, Offered};
use crate::domain::confirmation::is_coder;
use crate::domain::dialect::Dialect;
use crate::domain::error::{Cause, Error};
use crate::domain::extension::{CODER_AGENT, DEVELOPMENT_TOOL};
use crate::domain::snapshot::Snapshot;
use crate::domain::store::Head;
use crate::projection::coder::command::{self, Called};
use crate::projection::coder::metadata::{self, Facts};
use crate::projection::coder::{opening, outcome};
use crate::proto::a2a::Message;
use crate::proto::devtool::{AgentSettings, GetAllSlashCommandsRequest, ToolCallConfirmation};
use crate::service::{commands, limits};

/// What became of a command that was executed.
pub enum Ran {
    /// As `{name, data}`.
    Ended(Value),
    /// It works on or asks: the events of its task tell.
    GoesOn { task_id: String, events: Items },
}

/// Tasks on one list.
const MOST: usize = 100;

impl Caller {
    /// They speak 0.3 and know nothing of the extension.
    pub(super) fn may_be_coder(&self) -> bool {
        self.dialect == Dialect::V03 && !self.activates(DEVELOPMENT_TOOL)
    }

    /// Whether a task is shown to this client in their words: such a client has begun it.
    pub(super) fn is_coder(&self, seen: &Snapshot) -> bool {
        self.may_be_coder() && seen.conversational
    }

    /// Whether such a client has sent a message.
    pub(super) fn sends_coder(&self, message: &Message) -> bool {
        let marked = |metadata: &crate::proto::wkt::Struct| metadata.fields.contains_key(CODER_AGENT);
        self.may_be_coder() && message.metadata.as_ref().is_some_and(marked)
    }
}

impl A2a {
    /// Answers in their words become answers that are offered.
    pub(super) async fn fit(
        &self,
        caller: &Caller,
        head: &Head,
        message: &Message,
        decisions: &mut [(usize, ToolCallConfirmation)],
    ) -> Result<(), Error> {
        let theirs = |part: usize| message.parts.get(part).is_some_and(is_coder);
        if !decisions.iter().any(|(part, _)| theirs(*part)) {
            return Ok(());
        }
        let seen = self.engine.watch(&caller.who, head).snapshot(None).await;
        let seen = seen.map_err(|e| fault(e, Wanted::Read))?;
        for (part, decision) in decisions.iter_mut().filter(|(part, _)| theirs(*part)) {
            if let Some(call) = seen.calls.get(&decision.tool_call_id) {
                let field = format!("message.parts[{part}].data.outcome");
                outcome::fit(decision, call).map_err(|problem| Error::field(field, problem))?;
            }
        }
        Ok(())
    }

    pub(super) async fn is_conversational(&self, caller: &Caller, head: &Head) -> Result<bool, Error> {
        let created = self.engine.created(&caller.who, &head.task_id).await;
        Ok(created.map_err(|e| fault(e, Wanted::Read))?.conversational)
    }

    /// A task that waits for its first message.
    pub async fn open_task(&self, request: Request<Value>) -> Result<String, Status> {
        let caller = self.enter(&request, "")?;
        let opening =
            opening::read(request.get_ref()).map_err(|(field, problem)| Error::field(field, problem))?;
        limits::id("contextId", &opening.context_id)?;
        let opened = self.engine.open(&caller.who, opening.context_id, opening.settings).await;
        Ok(opened.map_err(|error| match error {
            // Its clients know nothing of the extension.
            EngineError::Settings(bad) => Error::field("agentSettings.workspacePath", bad.problem),
            error => fault(error, Wanted::Say),
        })?)
    }

    /// The commands of the default workspace: that server knows no other.
    pub async fn list_commands(&self, request: Request<()>) -> Result<Value, Status> {
        let caller = self.enter(&request, "")?;
        let listed = commands::list(&self.engine, &caller.who, GetAllSlashCommandsRequest::default()).await?;
        Ok(command::list(&listed.commands))
    }

    pub async fn execute_command(&self, request: Request<Value>) -> Result<Ran, Status> {
        let caller = self.enter(&request, "")?;
        let called =
            command::read(request.get_ref()).map_err(|(field, problem)| Error::field(field, problem))?;
        let Called { name, path, args } = called;
        let wanted = commands::Wanted { path, args, conversational: true, ..commands::Wanted::default() };
        let (response, watch) = commands::start(&self.engine, &caller.who, wanted).await?;
        let Some(watch) = watch else {
            return Err(Error::new(Cause::CommandNotFound, response.message).into());
        };
        let seen = watch.snapshot(None).await.map_err(|e| fault(e, Wanted::Read))?;
        match seen.task.status.as_ref().map(|status| status.state()) {
            // What went wrong is told there like anything else.
            Some(state) if state.is_terminal() => Ok(Ran::Ended(command::result(&name, &seen.task))),
            _ => {
                let (task_id, events) = (seen.task.id.clone(), self.follow(&caller, &watch).await?);
                Ok(Ran::GoesOn { task_id, events })
            }
        }
    }

    pub async fn task_metadata(&self, request: Request<String>) -> Result<Value, Status> {
        let caller = self.enter(&request, "")?;
        let head = self.head(&caller, request.get_ref()).await?;
        Ok(self.metadata(&caller, &head, &mut BTreeMap::new()).await?)
    }

    /// Of the newest tasks.
    pub async fn tasks_metadata(&self, request: Request<()>) -> Result<Vec<Value>, Status> {
        let caller = self.enter(&request, "")?;
        let heads = self.engine.newest(&caller.who, MOST).await.map_err(|e| fault(e, Wanted::Read))?;
        // Most of them work in the same place.
        let (mut tools, mut told) = (BTreeMap::new(), Vec::new());
        for head in &heads {
            told.push(self.metadata(&caller, head, &mut tools).await?);
        }
        Ok(told)
    }

    async fn metadata(
        &self,
        caller: &Caller,
        head: &Head,
        known: &mut BTreeMap<(String, Vec<u8>), Offered>,
    ) -> Result<Value, Error> {
        let created = self.engine.created(&caller.who, &head.task_id).await;
        let settings = created.map_err(|e| fault(e, Wanted::Read))?.settings.unwrap_or_default();
        let key = place(head, &settings);
        if !known.contains_key(&key) {
            known.insert(key.clone(), self.engine.offered(&caller.who, head, settings.clone()).await);
        }
        let own = self.engine.model();
        let model = if settings.model.is_empty() { &own } else { &settings.model };
        let none = Offered::default();
        let Offered { tools, servers } = known.get(&key).unwrap_or(&none);
        let (id, context_id, state) = (&head.task_id, &head.context_id, head.state);
        Ok(metadata::shape(&Facts { id, context_id, state, model, tools, servers }))
    }
}

/// What tells the tools of one task from those of another. Servers that a client named belong to its context.
fn place(head: &Head, settings: &AgentSettings) -> (String, Vec<u8>) {
    let AgentSettings { workspace_path, allowed_tools, mcp_servers, .. } = settings.clone();
    let context = if mcp_servers.is_empty() { String::new() } else { head.context_id.clone() };
    let what = AgentSettings { workspace_path, allowed_tools, mcp_servers, ..AgentSettings::default() };
    (context, what.encode_to_vec())
}
