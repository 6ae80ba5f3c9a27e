//! Following: the updates of one task, from a cursor on.

use futures::{StreamExt, TryStreamExt, stream};
use tonic::Response;
use tonic::codegen::BoxStream;

use super::DevTool;
use super::act::Started;
use super::fault::fault;
use crate::domain::error::Error;
use crate::domain::principal::Principal;
use crate::projection::typed::View;
use crate::proto::devtool::task_update::Update;
use crate::proto::devtool::{
    FollowTaskRequest, FollowTaskResponse, StartTaskRequest, StartTaskResponse, TaskUpdate,
};
use crate::service::told::{Told, Until};

/// The updates of one task.
pub(super) type Updates = Told<View>;

impl DevTool {
    pub(super) async fn start_and_follow(
        &self,
        who: &Principal,
        request: StartTaskRequest,
    ) -> Result<Response<BoxStream<StartTaskResponse>>, Error> {
        let answer = |update| StartTaskResponse { update: Some(update) };
        Ok(match self.start(who, request).await? {
            Started::Reply(message) => {
                let context_id = message.context_id.clone();
                let update = Some(Update::Message(message));
                let update = TaskUpdate { context_id, update, ..TaskUpdate::default() };
                Response::new(stream::iter([Ok(answer(update))]).boxed())
            }
            Started::Task(watch) => {
                let view = View { task_id: watch.task_id().to_owned(), ..View::default() };
                streamed(Told::new(watch.events(0), view, Until::Pause(0), fault), answer)
            }
        })
    }

    pub(super) async fn follow(
        &self,
        who: &Principal,
        request: &FollowTaskRequest,
        last_event_id: Option<u64>,
    ) -> Result<Response<BoxStream<FollowTaskResponse>>, Error> {
        let updates = self.updates(who, request, last_event_id).await?;
        Ok(streamed(updates, |update| FollowTaskResponse { update: Some(update) }))
    }

    /// A browser that comes back by itself says in its header where it is, and repeats the address it began with.
    pub(super) async fn updates(
        &self,
        who: &Principal,
        request: &FollowTaskRequest,
        last_event_id: Option<u64>,
    ) -> Result<Updates, Error> {
        let head = self.head(who, &request.task_id).await?;
        let (field, after) = last_event_id.map_or(("after", request.after), |id| ("last-event-id", id));
        // Whoever was shown an event finds it stored. A cursor beyond would skip events, or wait for none.
        if after > head.sequence {
            let last = head.sequence;
            return Err(Error::field(field, format!("is beyond the last event of the task, {last}")));
        }
        let watch = self.engine.watch(who, &head);
        let view = View { task_id: head.task_id, context_id: head.context_id };
        Ok(Told::new(watch.events(after), view, Until::End, fault))
    }
}

fn streamed<T: Send + 'static>(
    updates: Updates,
    answer: impl Fn(TaskUpdate) -> T + Send + 'static,
) -> Response<BoxStream<T>> {
    let cursor = updates.cursor.clone();
    let mut response = Response::new(updates.map_ok(answer).boxed());
    response.extensions_mut().insert(cursor);
    response
}
