//! Following: the updates of one task, from a cursor on.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures::{Stream, StreamExt, TryStreamExt, stream};
use tonic::codegen::BoxStream;
use tonic::{Response, Status};

use super::DevTool;
use super::act::Started;
use super::fault::fault;
use crate::agent::Events;
use crate::domain::dialect::Cursor;
use crate::domain::error::Error;
use crate::domain::principal::Principal;
use crate::domain::stretch::Stretch;
use crate::projection::typed::View;
use crate::proto::devtool::task_update::Update;
use crate::proto::devtool::{
    FollowTaskRequest, FollowTaskResponse, StartTaskRequest, StartTaskResponse, TaskUpdate,
};
use crate::proto::task::task_event::Event;

/// When a stream has told enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// The task ends or asks: whoever started it has the answer.
    Pause,
    /// The task ends.
    End,
}

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
                streamed(Updates::new(watch.events(0), view, Until::Pause), answer)
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
        Ok(Updates::new(watch.events(after), view, Until::End))
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

/// By hand, because most of what a stream costs is spent between one item and the next.
pub(super) struct Updates {
    /// None when enough is told.
    events: Option<Events>,
    /// What came last of them, and how far it is told.
    now: Stretch,
    next: usize,
    view: View,
    cursor: Cursor,
    until: Until,
}

impl Updates {
    pub(super) fn new(events: Events, view: View, until: Until) -> Self {
        let (now, cursor) = (Stretch::default(), Cursor::default());
        Self { events: Some(events), now, next: 0, view, cursor, until }
    }

    /// Of what is there already.
    fn ready(&mut self) -> Option<TaskUpdate> {
        while let Some(event) = self.now.get(self.next) {
            self.next += 1;
            self.cursor.set(event.sequence);
            let update = self.view.event(event);
            if self.until == Until::Pause && pauses(event.event.as_ref()) {
                self.now.truncate(self.next);
                self.events = None;
            }
            if update.is_some() {
                return update;
            }
        }
        None
    }
}

fn pauses(event: Option<&Event>) -> bool {
    matches!(event, Some(Event::State(change)) if change.state().is_terminal() || change.state().is_interrupted())
}

impl Stream for Updates {
    type Item = Result<TaskUpdate, Status>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(update) = self.ready() {
                return Poll::Ready(Some(Ok(update)));
            }
            let Some(events) = &mut self.events else { return Poll::Ready(None) };
            match ready!(events.poll_next_unpin(cx)) {
                Some(Ok(stretch)) => (self.now, self.next) = (stretch, 0),
                Some(Err(error)) => {
                    self.events = None;
                    return Poll::Ready(Some(Err(fault(error).into())));
                }
                None => self.events = None,
            }
        }
    }
}
