//! An answer on its way to a client, piece by piece: chunks in, events out, and what is to be remembered stored before the
//! last of them. Dropping it stops the model.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures::future::BoxFuture;
use futures::{FutureExt, Stream, StreamExt};
use tonic::Status;

use super::arguments::Arguments;
use super::calls::Ids;
use super::fault::fault;
use super::guard::Spending;
use super::ledger::{Ledger, Notes};
use super::ready::Ready;
use crate::domain::error::Error;
use crate::domain::model::Chunks;
use crate::domain::principal::Principal;
use crate::facade::Reply;
use crate::proto::gemini::GenerateContentResponse;

pub(super) struct Answering<R: Reply> {
    state: State,
    reply: R,
    /// Made of one chunk, and taken one by one.
    events: VecDeque<R::Event>,
    /// Kept for its room.
    fresh: Vec<R::Event>,
    ids: Ids,
    arguments: Arguments,
    notes: Notes,
    spending: Spending,
    ledger: Ledger,
    who: Principal,
}

enum State {
    Hearing(Chunks),
    /// All was said; what is to be remembered is being stored.
    Keeping(BoxFuture<'static, ()>),
    /// The rest of the events, and then perhaps an error.
    Over(Option<Error>),
}

impl<R: Reply> Answering<R> {
    pub(super) fn new(chunks: Chunks, ready: Ready<R>, ledger: Ledger) -> Self {
        let Ready { who, reply, notes, spending, id, arguments, .. } = ready;
        Self {
            state: State::Hearing(chunks),
            reply,
            events: VecDeque::new(),
            fresh: Vec::new(),
            ids: Ids::new(R::CALL, &id),
            arguments,
            notes,
            spending,
            ledger,
            who,
        }
    }

    /// With the first chunk, which may still fail as a whole.
    pub(super) fn begin(&mut self, chunk: GenerateContentResponse) -> Result<(), Error> {
        self.take(chunk)
    }

    /// Nothing was said at all.
    pub(super) fn end(&mut self) -> Result<(), Error> {
        self.reply.finish(&mut self.fresh)?;
        self.events.extend(self.fresh.drain(..));
        self.state = State::Over(None);
        Ok(())
    }

    fn take(&mut self, mut chunk: GenerateContentResponse) -> Result<(), Error> {
        self.ids.give(&mut chunk);
        self.arguments.check(&mut chunk)?;
        self.notes.see(&chunk);
        self.spending.see(&chunk);
        let taken = self.reply.push(chunk, &mut self.fresh);
        self.events.extend(self.fresh.drain(..));
        taken
    }

    fn finished(&mut self) {
        let finished = self.reply.finish(&mut self.fresh);
        if let Err(error) = finished {
            self.events.extend(self.fresh.drain(..));
            return self.failed(error);
        }
        let notes = std::mem::take(&mut self.notes);
        self.state = match notes.is_empty() {
            true => {
                self.events.extend(self.fresh.drain(..));
                State::Over(None)
            }
            false => {
                let (ledger, who) = (self.ledger.clone(), self.who.clone());
                State::Keeping(async move { ledger.keep(&who, notes).await }.boxed())
            }
        };
    }

    fn failed(&mut self, error: Error) {
        let told = self.reply.fail(&error, &mut self.fresh);
        self.events.extend(self.fresh.drain(..));
        self.state = State::Over((!told).then_some(error));
    }

    /// Until there is an event, or no more.
    fn go_on(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while self.events.is_empty() {
            match &mut self.state {
                State::Hearing(chunks) => match ready!(chunks.poll_next_unpin(cx)) {
                    Some(Ok(chunk)) => {
                        if let Err(error) = self.take(chunk) {
                            self.failed(error);
                        }
                    }
                    Some(Err(error)) => self.failed(fault(error)),
                    None => self.finished(),
                },
                State::Keeping(kept) => {
                    ready!(kept.poll_unpin(cx));
                    self.events.extend(self.fresh.drain(..));
                    self.state = State::Over(None);
                }
                State::Over(_) => return Poll::Ready(()),
            }
        }
        Poll::Ready(())
    }
}

impl<R: Reply> Unpin for Answering<R> {}

impl<R: Reply> Stream for Answering<R> {
    type Item = Result<R::Event, Status>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        ready!(this.go_on(cx));
        if let Some(event) = this.events.pop_front() {
            return Poll::Ready(Some(Ok(event)));
        }
        match &mut this.state {
            State::Over(error) => Poll::Ready(error.take().map(|error| Err(error.into()))),
            State::Hearing(_) | State::Keeping(_) => Poll::Ready(None),
        }
    }
}
