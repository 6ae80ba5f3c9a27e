//! Streams: a task first, then what happens to it, or only what was missed.

use futures::StreamExt;
use futures::stream::{self, BoxStream};
use tonic::{Response, Status};

use super::fault::{Wanted, fault};
use super::negotiate::Caller;
use super::send::{Outcome, pauses};
use super::{A2a, answer};
use crate::agent::{EngineError, Watch};
use crate::domain::dialect::Cursor;
use crate::domain::error::{Cause, Error};
use crate::domain::snapshot::Snapshot;
use crate::domain::store::Head;
use crate::projection::v10::View;
use crate::proto::a2a::stream_response::Payload;
use crate::proto::a2a::{SendMessageRequest, StreamResponse, Task};
use crate::proto::task::TaskEvent;

type Items = Response<BoxStream<'static, Result<StreamResponse, Status>>>;
type Events = BoxStream<'static, Result<std::sync::Arc<TaskEvent>, EngineError>>;

/// When a stream has told enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Until {
    /// The task ends or asks: whoever sent a message has the answer.
    Pause,
    /// The task ends.
    End,
}

impl A2a {
    pub(super) async fn send_and_stream(
        &self,
        caller: &Caller,
        request: SendMessageRequest,
    ) -> Result<Items, Error> {
        let length = request.configuration.as_ref().and_then(|c| c.history_length);
        let length = super::send::history_length(length, "configuration.historyLength")?;
        match self.send(caller, request).await? {
            Outcome::Reply(message) => {
                let item = StreamResponse { payload: Some(Payload::Message(message)) };
                Ok(answer(caller, stream::iter([Ok(item)]).boxed()))
            }
            Outcome::Task { watch, sequence } => {
                let snapshot = watch.snapshot(Some(sequence)).await.map_err(|e| fault(e, Wanted::Read))?;
                self.from(caller, &watch, snapshot, length, Until::Pause).await
            }
        }
    }

    pub(super) async fn subscribe(&self, caller: &Caller, task_id: &str) -> Result<Items, Error> {
        let head = self.head(caller, task_id).await?;
        if let Some(after) = caller.after {
            return self.missed(caller, &head, after);
        }
        if head.state.is_terminal() {
            return Err(over());
        }
        let watch = self.engine.watch(&caller.who, &head);
        let snapshot = watch.snapshot(None).await.map_err(|e| fault(e, Wanted::Read))?;
        // It may have ended since its head was read. Nothing comes behind its end, so the rule is the same.
        if snapshot.task.status.as_ref().is_some_and(|status| status.state().is_terminal()) {
            return Err(over());
        }
        self.from(caller, &watch, snapshot, None, Until::End).await
    }

    /// A cursor asks for what was missed, so the task may have ended meanwhile.
    fn missed(&self, caller: &Caller, head: &Head, after: u64) -> Result<Items, Error> {
        // Whoever was shown an event finds it stored. A cursor beyond would skip events, or wait for none.
        if after > head.sequence {
            let last = head.sequence;
            return Err(Error::field(
                "last-event-id",
                format!("is beyond the last event of the task, {last}"),
            ));
        }
        let view = View {
            task_id: head.task_id.clone(),
            context_id: head.context_id.clone(),
            resume: caller.resumes(),
        };
        let events = self.engine.watch(&caller.who, head).events(after);
        Ok(items(caller, None, events, view, Until::End))
    }

    /// The task as it was seen, and then what comes behind it.
    async fn from(
        &self,
        caller: &Caller,
        watch: &Watch,
        snapshot: Snapshot,
        length: Option<usize>,
        until: Until,
    ) -> Result<Items, Error> {
        let sequence = snapshot.sequence;
        let events = watch.events(sequence);
        let task = self.shown(caller, snapshot, length).await.map_err(|e| fault(e, Wanted::Read))?;
        let view = self.view(caller, &task);
        let first = StreamResponse { payload: Some(Payload::Task(task)) };
        Ok(items(caller, Some((first, sequence)), events, view, until))
    }

    pub(super) fn view(&self, caller: &Caller, task: &Task) -> View {
        View { task_id: task.id.clone(), context_id: task.context_id.clone(), resume: caller.resumes() }
    }
}

fn over() -> Error {
    Error::new(Cause::UnsupportedOperation, "the task has ended; get it, or give a cursor to read its events")
}

fn items(
    caller: &Caller,
    first: Option<(StreamResponse, u64)>,
    events: Events,
    view: View,
    until: Until,
) -> Items {
    let cursor = Cursor::default();
    let set = cursor.clone();
    let first = stream::iter(first).map(move |(item, sequence)| {
        set.set(sequence);
        Ok(item)
    });
    let set = cursor.clone();
    let rest = up_to(events, until).filter_map(move |event| {
        let item = match event {
            Ok(event) => {
                set.set(event.sequence);
                view.event(&event).map(Ok)
            }
            Err(error) => Some(Err(Status::from(fault(error, Wanted::Read)))),
        };
        std::future::ready(item)
    });
    let mut response = answer(caller, first.chain(rest).boxed());
    response.extensions_mut().insert(cursor);
    response
}

/// Ends behind the event that is enough.
fn up_to(events: Events, until: Until) -> Events {
    if until == Until::End {
        return events;
    }
    let state = (events, false);
    stream::unfold(state, |(mut events, over)| async move {
        if over {
            return None;
        }
        let event = events.next().await?;
        let over = event.as_ref().is_ok_and(|event| pauses(event.event.as_ref()));
        Some((event, (events, over)))
    })
    .boxed()
}
