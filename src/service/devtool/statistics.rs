//! Counting: what the journal tells of tasks, tokens and tool calls.

use super::DevTool;
use super::fault::fault;
use super::read::{of_context, since};
use crate::domain::error::Error;
use crate::domain::principal::Principal;
use crate::domain::store::{Filter, StoreError};
use crate::projection::typed::Tally;
use crate::proto::devtool::{GetStatisticsRequest, GetStatisticsResponse};

/// Of the newest so many tasks, so that a question has an end.
const MOST: usize = 1000;
/// Events that are read at once.
const STEP: usize = 1024;

impl DevTool {
    pub(super) async fn count(
        &self,
        who: &Principal,
        request: &GetStatisticsRequest,
    ) -> Result<GetStatisticsResponse, Error> {
        let filter = Filter { updated_since: since(request.since)?, ..of_context(&request.context_id)? };
        let page = self.engine.store().list(who, &filter, None, MOST).await.map_err(fault)?;
        let mut tally = Tally::default();
        for head in &page.heads {
            match self.count_task(who, &head.task_id, &mut tally).await {
                Ok(()) => tally.task(head.state),
                // Purged since the list was read.
                Err(StoreError::NotFound) => {}
                Err(error) => return Err(fault(error)),
            }
        }
        Ok(GetStatisticsResponse { statistics: Some(tally.told(!page.more)) })
    }

    async fn count_task(&self, who: &Principal, task_id: &str, tally: &mut Tally) -> Result<(), StoreError> {
        let mut after = 0;
        loop {
            let events = self.engine.store().events(who, task_id, after, STEP).await?;
            let Some(last) = events.last() else { return Ok(()) };
            after = last.sequence;
            events.iter().filter_map(|event| event.event.as_ref()).for_each(|event| tally.event(event));
        }
    }
}
