//! Reading: tasks and contexts as lists show them, and what waits for an answer.

use std::fmt::Debug;
use std::time::SystemTime;

use prost::Message as _;

use super::DevTool;
use super::fault::fault;
use crate::agent::EngineError;
use crate::domain::error::Error;
use crate::domain::principal::Principal;
use crate::domain::store::{After, ContextHead, Filter, Head, StoreError};
use crate::projection::typed::{self, Tally};
use crate::proto::a2a::{Artifact, TaskState};
use crate::proto::devtool::*;
use crate::proto::task::TaskEvent;
use crate::proto::task::task_event::Event;
use crate::proto::wkt::Timestamp;
use crate::service::limits;

/// What the artifacts of one task may hold together, in bytes. Clients of gRPC take 4 MiB unless they are told otherwise.
const ARTIFACTS: usize = 1 << 20;
const PAGE: usize = 50;
const MOST: usize = 100;

impl DevTool {
    pub(super) async fn task(&self, who: &Principal, task_id: &str) -> Result<GetTaskResponse, Error> {
        let head = self.head(who, task_id).await?;
        let task = Some(self.summary(who, &head).await?);
        let events = self.engine.store().events(who, task_id, 0, usize::MAX).await.map_err(fault)?;
        let settings = events.first().and_then(|event| match &event.event {
            Some(Event::Created(created)) => created.settings.clone(),
            _ => None,
        });
        let mut tally = Tally::default();
        events.iter().filter_map(|event| event.event.as_ref()).for_each(|event| tally.event(event));
        let snapshot = crate::domain::snapshot::Snapshot::of(&events);
        let open_tool_calls = snapshot.calls.iter().cloned().collect();
        let (status, artifacts) = (snapshot.task.status, within(ARTIFACTS, snapshot.task.artifacts));
        Ok(GetTaskResponse { task, status, settings, open_tool_calls, artifacts, usage: tally.usage() })
    }

    pub(super) async fn tasks(
        &self,
        who: &Principal,
        request: &ListTasksRequest,
    ) -> Result<ListTasksResponse, Error> {
        let size = page_size(request.page_size)?;
        let state = TaskState::try_from(request.state)
            .map_err(|_| Error::field("state", format!("{} is not a state", request.state)))?;
        let state = Some(state).filter(|state| *state != TaskState::Unspecified);
        let filter = Filter { state, open: request.open, ..of_context(&request.context_id)? };
        let after = self.after(who, &filter, &request.page_token)?;
        let page = self.engine.store().list(who, &filter, after.as_ref(), size).await.map_err(fault)?;
        let mut tasks = Vec::with_capacity(page.heads.len());
        for head in &page.heads {
            tasks.extend(self.listed(who, head).await?);
        }
        let last = page.heads.last().filter(|_| page.more).map(place);
        Ok(ListTasksResponse {
            tasks,
            next_page_token: self.token(who, &filter, last),
            total_size: i64::try_from(page.total).unwrap_or(i64::MAX),
        })
    }

    pub(super) async fn contexts(
        &self,
        who: &Principal,
        request: &ListContextsRequest,
    ) -> Result<ListContextsResponse, Error> {
        const QUESTION: &str = "contexts";
        let size = page_size(request.page_size)?;
        let after = self.after(who, &QUESTION, &request.page_token)?;
        let page = self.engine.store().contexts(who, "", after.as_ref(), size).await.map_err(fault)?;
        let mut contexts = Vec::with_capacity(page.contexts.len());
        for context in &page.contexts {
            contexts.push(self.context(who, context).await?);
        }
        let last = page.contexts.last().filter(|_| page.more);
        let last = last.map(|last| After { updated: last.newest.updated, task_id: last.context_id.clone() });
        Ok(ListContextsResponse { contexts, next_page_token: self.token(who, &QUESTION, last) })
    }

    pub(super) async fn pending(
        &self,
        who: &Principal,
        request: &ListPendingConfirmationsRequest,
    ) -> Result<ListPendingConfirmationsResponse, Error> {
        let size = page_size(request.page_size)?;
        let filter = Filter { open: true, ..of_context(&request.context_id)? };
        let question = ("pending", &filter);
        let after = self.after(who, &question, &request.page_token)?;
        let page = self.engine.store().list(who, &filter, after.as_ref(), size).await.map_err(fault)?;
        let mut confirmations = Vec::new();
        for head in &page.heads {
            confirmations.extend(self.asked(who, head).await?);
        }
        let last = page.heads.last().filter(|_| page.more).map(place);
        let next_page_token = self.token(who, &question, last);
        Ok(ListPendingConfirmationsResponse { confirmations, next_page_token })
    }

    async fn asked(&self, who: &Principal, head: &Head) -> Result<Vec<PendingConfirmation>, Error> {
        let snapshot = match self.engine.watch(who, head).snapshot(None).await {
            Err(EngineError::Store(StoreError::NotFound)) => return Ok(Vec::new()),
            snapshot => snapshot.map_err(fault)?,
        };
        let title = snapshot.task.history.first().map(typed::title).unwrap_or_default();
        let pending = |call: &ToolCall| PendingConfirmation {
            task_id: head.task_id.clone(),
            context_id: head.context_id.clone(),
            title: title.clone(),
            tool_call: Some(call.clone()),
        };
        Ok(snapshot.calls.asking().map(pending).collect())
    }

    /// None if it was purged since the page was read.
    pub(super) async fn listed(&self, who: &Principal, head: &Head) -> Result<Option<TaskSummary>, Error> {
        match self.summarize(who, head).await {
            Err(EngineError::Store(StoreError::NotFound)) => Ok(None),
            summary => summary.map(Some).map_err(fault),
        }
    }

    pub(super) async fn summary(&self, who: &Principal, head: &Head) -> Result<TaskSummary, Error> {
        self.summarize(who, head).await.map_err(fault)
    }

    /// Of a task that has ended the beginning is enough; of another it is looked up who is asked.
    async fn summarize(&self, who: &Principal, head: &Head) -> Result<TaskSummary, EngineError> {
        let first = self.beginning(who, &head.task_id, head.sequence).await?;
        let pending = match head.state.is_terminal() {
            true => 0,
            false => self.engine.watch(who, head).snapshot(None).await?.calls.asking().count(),
        };
        Ok(TaskSummary {
            task_id: head.task_id.clone(),
            context_id: head.context_id.clone(),
            title: title(&first),
            state: head.state.into(),
            create_time: first.first().and_then(|event| event.time),
            update_time: Some(Timestamp::of(head.updated)),
            sequence: head.sequence,
            pending_confirmations: i32::try_from(pending).unwrap_or(i32::MAX),
        })
    }

    /// How a task began, up to its first message: one that was opened and left has none yet.
    async fn beginning(
        &self,
        who: &Principal,
        task_id: &str,
        sequence: u64,
    ) -> Result<Vec<TaskEvent>, EngineError> {
        let store = self.engine.store();
        let mut first = store.events(who, task_id, 0, 1).await?;
        if first.len() == 1 && sequence > 1 {
            first.extend(store.events(who, task_id, 1, 1).await?);
        }
        Ok(first)
    }

    async fn context(&self, who: &Principal, context: &ContextHead) -> Result<ContextSummary, Error> {
        let first = self.beginning(who, &context.first_task, u64::MAX).await;
        Ok(ContextSummary {
            context_id: context.context_id.clone(),
            // Purged meanwhile, it has none.
            title: title(&first.unwrap_or_default()),
            update_time: Some(Timestamp::of(context.newest.updated)),
            state: context.newest.state.into(),
            tasks: i64::try_from(context.tasks).unwrap_or(i64::MAX),
            open_tasks: i64::try_from(context.open).unwrap_or(i64::MAX),
        })
    }

    pub(super) fn token(&self, who: &Principal, question: &impl Debug, last: Option<After>) -> String {
        last.map(|last| self.pages.token(who, question, &last)).unwrap_or_default()
    }

    pub(super) fn after(
        &self,
        who: &Principal,
        question: &impl Debug,
        token: &str,
    ) -> Result<Option<After>, Error> {
        if token.is_empty() {
            return Ok(None);
        }
        let bad = || Error::field("page_token", "is not a token of this list; begin without one");
        self.pages.read(who, question, token).map(Some).ok_or_else(bad)
    }
}

/// As many as fit, those behind them without their content.
fn within(budget: usize, mut artifacts: Vec<Artifact>) -> Vec<Artifact> {
    let mut left = budget;
    for artifact in &mut artifacts {
        match left.checked_sub(artifact.encoded_len()) {
            Some(rest) => left = rest,
            None => artifact.parts.clear(),
        }
    }
    artifacts
}

fn title(first: &[TaskEvent]) -> String {
    let said = first.iter().find_map(|event| match &event.event {
        Some(Event::Message(message)) => Some(typed::title(message)),
        _ => None,
    });
    said.unwrap_or_default()
}

fn place(last: &Head) -> After {
    After { updated: last.updated, task_id: last.task_id.clone() }
}

pub(super) fn of_context(context_id: &str) -> Result<Filter, Error> {
    limits::id("context_id", context_id)?;
    let context_id = Some(context_id.to_owned()).filter(|id| !id.is_empty());
    Ok(Filter { context_id, ..Filter::default() })
}

pub(super) fn since(time: Option<Timestamp>) -> Result<Option<SystemTime>, Error> {
    let bad = || Error::field("since", "is not a time");
    time.map(|time| time.to_utc().map(SystemTime::from).ok_or_else(bad)).transpose()
}

/// Nothing means the usual size.
pub(super) fn page_size(size: i32) -> Result<usize, Error> {
    if size == 0 {
        return Ok(PAGE);
    }
    let fits = usize::try_from(size).ok().filter(|size| *size <= MOST);
    fits.ok_or_else(|| Error::field("page_size", format!("must be from 1 to {MOST}, or 0 for {PAGE}")))
}
