//! A task as a stream tells it: its events as a view shows them, until enough is told. A2A and the typed service follow
//! tasks with it; neither what a view shows nor what an error becomes is known here.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures::{Stream, StreamExt};
use tonic::Status;

use crate::agent::{EngineError, Events};
use crate::domain::dialect::Cursor;
use crate::domain::error::Error;
use crate::domain::stretch::Stretch;
use crate::projection::{typed, view};
use crate::proto::a2a::StreamResponse;
use crate::proto::devtool::TaskUpdate;
use crate::proto::task::TaskEvent;
use crate::proto::task::task_event::Event;

/// When a stream has told enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// The task ends or asks, at this event or behind it: whoever sent a message has the answer.
    Pause(u64),
    /// This event is told.
    Here(u64),
    /// The task ends.
    End,
}

impl Until {
    fn is_reached(self, event: &TaskEvent) -> bool {
        match self {
            Self::Pause(from) => event.sequence >= from && pauses(event.event.as_ref()),
            Self::Here(last) => event.sequence >= last,
            Self::End => false,
        }
    }
}

/// Whether whoever waits for an answer has it now.
pub(super) fn pauses(event: Option<&Event>) -> bool {
    matches!(event, Some(Event::State(change)) if change.state().is_terminal() || change.state().is_interrupted())
}

/// One event becomes at most one item.
pub(super) trait Shows: Unpin {
    type Item: Unpin;

    fn event(&mut self, event: &TaskEvent) -> Option<Self::Item>;
}

impl Shows for view::View {
    type Item = StreamResponse;

    fn event(&mut self, event: &TaskEvent) -> Option<StreamResponse> {
        self.event(event)
    }
}

impl Shows for typed::View {
    type Item = TaskUpdate;

    fn event(&mut self, event: &TaskEvent) -> Option<TaskUpdate> {
        self.event(event)
    }
}

/// By hand, because most of what a stream costs is spent between one item and the next.
pub(super) struct Told<V: Shows> {
    first: Option<(V::Item, u64)>,
    /// None when enough is told.
    events: Option<Events>,
    /// What came last of them, and how far it is told.
    now: Stretch,
    next: usize,
    view: V,
    /// Where the stream stands.
    pub(super) cursor: Cursor,
    until: Until,
    fault: fn(EngineError) -> Error,
}

impl<V: Shows> Told<V> {
    pub(super) fn new(events: Events, view: V, until: Until, fault: fn(EngineError) -> Error) -> Self {
        let (now, cursor) = (Stretch::default(), Cursor::default());
        Self { first: None, events: Some(events), now, next: 0, view, cursor, until, fault }
    }

    /// Something before the events, with the sequence that it shows.
    pub(super) fn behind(mut self, item: V::Item, sequence: u64) -> Self {
        self.first = Some((item, sequence));
        self
    }

    /// Of what is there already.
    fn ready(&mut self) -> Option<V::Item> {
        if let Some((item, sequence)) = self.first.take() {
            self.cursor.set(sequence);
            self.events = self.events.take().filter(|_| self.until != Until::Here(sequence));
            return Some(item);
        }
        while let Some(event) = self.now.get(self.next) {
            self.next += 1;
            self.cursor.set(event.sequence);
            let item = self.view.event(event);
            if self.until.is_reached(event) {
                self.now.truncate(self.next);
                self.events = None;
            }
            if item.is_some() {
                return item;
            }
        }
        None
    }
}

impl<V: Shows> Stream for Told<V> {
    type Item = Result<V::Item, Status>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(item) = self.ready() {
                return Poll::Ready(Some(Ok(item)));
            }
            let Some(events) = &mut self.events else { return Poll::Ready(None) };
            match ready!(events.poll_next_unpin(cx)) {
                Some(Ok(stretch)) => (self.now, self.next) = (stretch, 0),
                Some(Err(error)) => {
                    self.events = None;
                    return Poll::Ready(Some(Err((self.fault)(error).into())));
                }
                None => self.events = None,
            }
        }
    }
}
