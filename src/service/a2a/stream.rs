//! Streams: a task first, then what happens to it, or only what was missed.

use std::sync::{Arc, Mutex, PoisonError};

use futures::StreamExt;
use futures::future::Either;
use futures::stream::{self, BoxStream};
use tonic::{Response, Status};

use super::fault::{Wanted, fault};
use super::negotiate::Caller;
use super::send::{Outcome, pauses};
use super::{A2a, answer};
use crate::agent::{Events, Watch};
use crate::domain::calls::OpenCalls;
use crate::domain::confirmation::is_confirmation;
use crate::domain::dialect::{Cursor, Dialect};
use crate::domain::error::{Cause, Error};
use crate::domain::extension::{DEVELOPMENT_TOOL, RESUME};
use crate::domain::snapshot::Snapshot;
use crate::domain::store::Head;
use crate::projection::v10::View;
use crate::proto::a2a::stream_response::Payload;
use crate::proto::a2a::{SendMessageRequest, StreamResponse};

type Items = Response<BoxStream<'static, Result<StreamResponse, Status>>>;

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
        let decides = request.message.as_ref().is_some_and(|m| m.parts.iter().any(is_confirmation));
        match self.send(caller, request).await? {
            Outcome::Reply(message) => {
                let item = StreamResponse { payload: Some(Payload::Message(Box::new(message))) };
                Ok(answer(caller, stream::iter([Ok(item)]).boxed()))
            }
            // The RFC shows no task before the call that was decided about; 1.0 asks for one.
            Outcome::Task { watch, sequence } if decides && caller.dialect == Dialect::V03 => {
                self.behind(caller, &watch, sequence).await
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
            return self.missed(caller, &head, after).await;
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

    /// Only what comes behind `sequence`, until the task ends or asks.
    async fn behind(&self, caller: &Caller, watch: &Watch, sequence: u64) -> Result<Items, Error> {
        let seen = watch.snapshot(Some(sequence)).await.map_err(|e| fault(e, Wanted::Read))?;
        let mut view = self.view(caller, &seen.task.id, &seen.task.context_id);
        view.calls = view.calls.map(|_| seen.calls);
        Ok(items(caller, None, watch.events(sequence), view, Until::Pause))
    }

    /// A cursor asks for what was missed, so the task may have ended meanwhile.
    async fn missed(&self, caller: &Caller, head: &Head, after: u64) -> Result<Items, Error> {
        // Whoever was shown an event finds it stored. A cursor beyond would skip events, or wait for none.
        if after > head.sequence {
            let last = head.sequence;
            return Err(Error::field(
                "last-event-id",
                format!("is beyond the last event of the task, {last}"),
            ));
        }
        let watch = self.engine.watch(&caller.who, head);
        let mut view = self.view(caller, &head.task_id, &head.context_id);
        if view.calls.is_some() {
            let seen = watch.snapshot(Some(after)).await.map_err(|e| fault(e, Wanted::Read))?;
            view.calls = Some(seen.calls);
        }
        Ok(items(caller, None, watch.events(after), view, Until::End))
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
        let calls = snapshot.calls.clone();
        let task = self.shown(caller, snapshot, length).await.map_err(|e| fault(e, Wanted::Read))?;
        let mut view = self.view(caller, &task.id, &task.context_id);
        view.calls = view.calls.map(|_| calls);
        let first = StreamResponse { payload: Some(Payload::Task(Box::new(task))) };
        Ok(items(caller, Some((first, sequence)), events, view, until))
    }

    /// What this client sees of a task, with no calls that it knows of yet.
    pub(super) fn view(&self, caller: &Caller, task_id: &str, context_id: &str) -> View {
        View {
            task_id: task_id.to_owned(),
            context_id: context_id.to_owned(),
            resume: caller.activates(RESUME),
            calls: caller.activates(DEVELOPMENT_TOOL).then(OpenCalls::default),
        }
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
    // Behind a lock that is never waited for: items are made one after the other.
    let (set, view) = (cursor.clone(), Arc::new(Mutex::new(view)));
    let rest = up_to(events, until).flat_map(move |events| match events {
        Ok(events) => {
            let (set, view) = (set.clone(), Arc::clone(&view));
            // One by one, because the cursor goes with the item.
            Either::Left(stream::iter(events.into_iter().filter_map(move |event| {
                set.set(event.sequence);
                view.lock().unwrap_or_else(PoisonError::into_inner).event(&event).map(Ok)
            })))
        }
        Err(error) => Either::Right(stream::iter([Err(Status::from(fault(error, Wanted::Read)))])),
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
    stream::unfold(Some(events), |events| async move {
        let mut events = events?;
        let mut next = events.next().await?;
        if let Ok(next) = &mut next
            && let Some(enough) = next.iter().position(|event| pauses(event.event.as_ref()))
        {
            next.truncate(enough + 1);
            return Some((Ok(std::mem::take(next)), None));
        }
        Some((next, Some(events)))
    })
    .boxed()
}
