//! Reading: one task, or a page of them.

use std::time::SystemTime;

use prost::Message as _;

use super::A2a;
use super::fault::{Wanted, fault};
use super::negotiate::Caller;
use super::send::history_length;
use crate::agent::EngineError;
use crate::domain::error::Error;
use crate::domain::store::{After, Filter, Head, StoreError};
use crate::proto::a2a::{GetTaskRequest, ListTasksRequest, ListTasksResponse, Task, TaskState};
use crate::service::limits;

const PAGE: usize = 50;
const MOST: usize = 100;
/// Of encoded tasks on one page, so that what a page takes does not grow with what its tasks hold. The first may be
/// larger.
const BYTES: usize = 8 * 1024 * 1024;

impl A2a {
    pub(super) async fn read_task(&self, caller: &Caller, request: &GetTaskRequest) -> Result<Task, Error> {
        let length = history_length(request.history_length, "historyLength")?;
        self.task(caller, &request.id, length).await
    }

    pub(super) async fn read_page(
        &self,
        caller: &Caller,
        request: &ListTasksRequest,
    ) -> Result<ListTasksResponse, Error> {
        let size = page_size(request.page_size)?;
        // A list is for finding tasks; whoever wants what was said asks for it.
        let length = history_length(request.history_length, "historyLength")?.or(Some(0));
        limits::id("contextId", &request.context_id)?;
        let filter = filter(request)?;
        let after = self.after(caller, &filter, &request.page_token)?;
        let page = self.engine.store().list(&caller.who, &filter, after.as_ref(), size).await;
        let page = page.map_err(|e| fault(e.into(), Wanted::Read))?;
        let (mut tasks, mut bytes, mut last) = (Vec::new(), 0, None);
        for head in &page.heads {
            // One that was purged since the page was read is not there.
            if let Some(mut task) = self.listed(caller, head, length).await? {
                if request.include_artifacts != Some(true) {
                    task.artifacts.clear();
                }
                bytes += task.encoded_len();
                if bytes > BYTES && !tasks.is_empty() {
                    break;
                }
                tasks.push(task);
            }
            last = Some(head);
        }
        let more = page.more || last != page.heads.last();
        let next = last.filter(|_| more).map(|last| self.token(caller, &filter, last));
        Ok(ListTasksResponse {
            tasks,
            next_page_token: next.unwrap_or_default(),
            page_size: i32::try_from(size).unwrap_or(i32::MAX),
            total_size: i32::try_from(page.total).unwrap_or(i32::MAX),
        })
    }

    async fn listed(
        &self,
        caller: &Caller,
        head: &Head,
        length: Option<usize>,
    ) -> Result<Option<Task>, Error> {
        let seen = match self.engine.watch(&caller.who, head).snapshot(None).await {
            Ok(snapshot) => self.shown(caller, snapshot, length).await.map(Some),
            Err(error) => Err(error),
        };
        match seen {
            Err(EngineError::Store(StoreError::NotFound)) => Ok(None),
            seen => seen.map_err(|e| fault(e, Wanted::Read)),
        }
    }

    fn token(&self, caller: &Caller, filter: &Filter, last: &Head) -> String {
        let after = After { updated: last.updated, task_id: last.task_id.clone() };
        self.pages.token(&caller.who, filter, &after)
    }

    fn after(&self, caller: &Caller, filter: &Filter, token: &str) -> Result<Option<After>, Error> {
        if token.is_empty() {
            return Ok(None);
        }
        let bad = || Error::field("pageToken", "is not a token of this list; begin without one");
        self.pages.read(&caller.who, filter, token).map(Some).ok_or_else(bad)
    }
}

fn page_size(size: Option<i32>) -> Result<usize, Error> {
    let Some(size) = size else { return Ok(PAGE) };
    let fits = usize::try_from(size).ok().filter(|size| (1..=MOST).contains(size));
    fits.ok_or_else(|| Error::field("pageSize", format!("must be from 1 to {MOST}")))
}

fn filter(request: &ListTasksRequest) -> Result<Filter, Error> {
    let since = request.status_timestamp_after.map(|time| {
        let utc = time.to_utc().ok_or_else(|| Error::field("statusTimestampAfter", "is not a time"));
        utc.map(SystemTime::from)
    });
    let state = TaskState::try_from(request.status);
    let state = state.map_err(|_| Error::field("status", format!("{} is not a state", request.status)))?;
    Ok(Filter {
        tenant: request.tenant.clone(),
        context_id: Some(request.context_id.clone()).filter(|id| !id.is_empty()),
        state: Some(state).filter(|state| *state != TaskState::Unspecified),
        updated_since: since.transpose()?,
        open: false,
    })
}
