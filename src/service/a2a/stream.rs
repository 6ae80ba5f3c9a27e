//! Streams: a task first, then what happens to it, or only what was missed.

use futures::StreamExt;
use futures::stream::{self, BoxStream};
use tonic::{Response, Status};

use super::fault::{Wanted, fault};
use super::negotiate::Caller;
use super::send::Outcome;
use super::{A2a, answer};
use crate::agent::{Events, Watch};
use crate::domain::confirmation::is_confirmation;
use crate::domain::dialect::{Dialect, EndsAtPause};
use crate::domain::error::{Cause, Error};
use crate::domain::extension::{DEVELOPMENT_TOOL, RESUME};
use crate::domain::snapshot::Snapshot;
use crate::domain::store::Head;
use crate::projection::view::View;
use crate::projection::{coder, v10};
use crate::proto::a2a::stream_response::Payload;
use crate::proto::a2a::{SendMessageRequest, StreamResponse, TaskState};
use crate::service::told::{Told, Until};

pub type Items = Response<BoxStream<'static, Result<StreamResponse, Status>>>;

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
            Outcome::Task { watch, sequence } => {
                let snapshot = watch.snapshot(Some(sequence)).await.map_err(|e| fault(e, Wanted::Read))?;
                // The RFC shows no task before the call that was decided about; 1.0 asks for one. Gemini CLI's own
                // server shows it once, when it begins.
                let is_known = (decides && caller.dialect == Dialect::V03)
                    || (caller.is_coder(&snapshot) && snapshot.task.history.len() > 1);
                match is_known {
                    true => Ok(self.behind(caller, &watch, &snapshot)),
                    false => self.from(caller, &watch, snapshot, length, Until::Pause(0)).await,
                }
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
        if caller.is_coder(&snapshot) {
            let until = turn(snapshot.task.status.as_ref().map(|status| status.state()), snapshot.sequence);
            let mut turn = self.from(caller, &watch, snapshot, None, until).await?;
            turn.extensions_mut().insert(EndsAtPause);
            return Ok(turn);
        }
        self.from(caller, &watch, snapshot, None, Until::End).await
    }

    /// From its first message on, until the task ends or asks.
    pub(super) async fn follow(&self, caller: &Caller, watch: &Watch) -> Result<Items, Error> {
        let snapshot = watch.snapshot(Some(2)).await.map_err(|e| fault(e, Wanted::Read))?;
        self.from(caller, watch, snapshot, None, Until::Pause(0)).await
    }

    /// Only what comes behind it, until the task ends or asks.
    fn behind(&self, caller: &Caller, watch: &Watch, seen: &Snapshot) -> Items {
        items(caller, None, watch.events(seen.sequence), self.view(caller, seen), Until::Pause(0))
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
        let mut seen = Snapshot::default();
        seen.task.id.clone_from(&head.task_id);
        seen.task.context_id.clone_from(&head.context_id);
        if caller.activates(DEVELOPMENT_TOOL) || caller.may_be_coder() {
            // How it began is shown to nobody, and says who sees what.
            let after = Some(after.max(1));
            seen = watch.snapshot(after).await.map_err(|e| fault(e, Wanted::Read))?;
        }
        let view = self.view(caller, &seen);
        if !caller.is_coder(&seen) {
            return Ok(items(caller, None, watch.events(after), view, Until::End));
        }
        let until = turn(Some(head.state), head.sequence);
        if until == Until::Here(after) {
            return Ok(answer(caller, stream::empty().boxed()));
        }
        let mut missed = items(caller, None, watch.events(after), view, until);
        missed.extensions_mut().insert(EndsAtPause);
        Ok(missed)
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
        let view = self.view(caller, &snapshot);
        let task = self.shown(caller, snapshot, length).await.map_err(|e| fault(e, Wanted::Read))?;
        let first = StreamResponse { payload: Some(Payload::Task(Box::new(task))) };
        Ok(items(caller, Some((first, sequence)), events, view, until))
    }

    /// What this client sees of a task from where it stands.
    pub(super) fn view(&self, caller: &Caller, seen: &Snapshot) -> View {
        if caller.is_coder(seen) {
            return View::Coder(coder::View::of(seen, &self.engine.model()));
        }
        View::Native(v10::View {
            task_id: seen.task.id.clone(),
            context_id: seen.task.context_id.clone(),
            resume: caller.activates(RESUME),
            calls: caller.activates(DEVELOPMENT_TOOL).then(|| seen.calls.clone()),
        })
    }
}

/// A conversation has no end to wait for: its turn has one, perhaps already.
fn turn(state: Option<TaskState>, sequence: u64) -> Until {
    match state {
        Some(state) if state.is_terminal() || state == TaskState::InputRequired => Until::Here(sequence),
        _ => Until::Pause(sequence),
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
    let told = Told::new(events, view, until, |error| fault(error, Wanted::Read));
    let told = match first {
        Some((item, sequence)) => told.behind(item, sequence),
        None => told,
    };
    let cursor = told.cursor.clone();
    let mut response = answer(caller, told.boxed());
    response.extensions_mut().insert(cursor);
    response
}
