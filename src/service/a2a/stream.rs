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
use crate::domain::snapshot::shorten;
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
                let item = StreamResponse { payload: Some(Payload::Message(message)) };
                Ok(answer(caller, stream::iter([Ok(item)]).boxed()))
            }
            // The RFC shows no task before the call that was decided about; 1.0 asks for one.
            Outcome::Task { watch, sequence } if decides && caller.dialect == Dialect::V03 => {
                self.behind(caller, &watch, sequence).await
            }
            Outcome::Task { watch, sequence } => {
                self.from(caller, &watch, Some(sequence), length, Until::Pause).await
            }
        }
    }

    pub(super) async fn subscribe(&self, caller: &Caller, task_id: &str) -> Result<Items, Error> {
        let head = self.head(caller, task_id).await?;
        if let Some(after) = caller.after {
            // A cursor asks for what was missed, so the task may have ended meanwhile.
            let watch = self.engine.watch(&caller.who, &head);
            let mut view = self.view(caller, &head.task_id, &head.context_id);
            if view.calls.is_some() {
                let seen = watch.snapshot(Some(after)).await.map_err(|e| fault(e, Wanted::Read))?;
                view.calls = Some(seen.calls);
            }
            return Ok(items(caller, None, watch.events(after), view, Until::End));
        }
        if head.state.is_terminal() {
            return Err(Error::new(
                Cause::UnsupportedOperation,
                "the task has ended; get it, or give a cursor to read its events",
            ));
        }
        let watch = self.engine.watch(&caller.who, &head);
        self.from(caller, &watch, None, None, Until::End).await
    }

    /// Only what comes behind `sequence`, until the task ends or asks.
    async fn behind(&self, caller: &Caller, watch: &Watch, sequence: u64) -> Result<Items, Error> {
        let seen = watch.snapshot(Some(sequence)).await.map_err(|e| fault(e, Wanted::Read))?;
        let mut view = self.view(caller, &seen.task.id, &seen.task.context_id);
        view.calls = view.calls.map(|_| seen.calls);
        Ok(items(caller, None, watch.events(sequence), view, Until::Pause))
    }

    /// The task as it is at `sequence`, or now, and then what comes behind it.
    async fn from(
        &self,
        caller: &Caller,
        watch: &Watch,
        sequence: Option<u64>,
        length: Option<usize>,
        until: Until,
    ) -> Result<Items, Error> {
        let snapshot = watch.snapshot(sequence).await.map_err(|e| fault(e, Wanted::Read))?;
        let events = watch.events(snapshot.sequence);
        let mut task = snapshot.task;
        shorten(&mut task.history, length);
        let mut view = self.view(caller, &task.id, &task.context_id);
        view.calls = view.calls.map(|_| snapshot.calls);
        let first = (view.task(task, snapshot.sequence), snapshot.sequence);
        Ok(items(caller, Some(first), events, view, until))
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
