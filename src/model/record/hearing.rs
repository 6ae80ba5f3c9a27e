//! One answer while it comes: each chunk is noted with its time and passed on. An answer whose caller leaves is noted as far
//! as it came.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures::{Stream, StreamExt};
use tokio::time::Instant;

use super::file::Writer;
use crate::domain::model::{Chunks, ModelError};
use crate::model::rehearsal::{Outcome, Take};
use crate::proto::gemini::{GenerateContentRequest, GenerateContentResponse};

type Answer = Result<GenerateContentResponse, ModelError>;

/// Notes what it is told; when it goes, what it noted is written.
pub(super) struct Listener {
    take: Option<Take>,
    begun: Option<Instant>,
    writer: Arc<Writer>,
}

impl Listener {
    pub(super) fn new(request: &GenerateContentRequest, writer: Arc<Writer>) -> Self {
        Self { take: Some(Take::of(request)), begun: None, writer }
    }

    /// The answer is waited for. Before that nothing has happened, and nothing is written.
    pub(super) fn begin(&mut self) {
        self.begun.get_or_insert_with(Instant::now);
    }

    /// What came; nothing at the end.
    pub(super) fn hear(&mut self, answer: Option<&Answer>) {
        let now = self.now();
        match (answer, &mut self.take) {
            (Some(Ok(chunk)), Some(take)) => take.chunks.push((now, chunk.clone())),
            (Some(Err(error)), _) => self.end(Outcome::Failed(error.clone())),
            (None, _) => self.end(Outcome::Whole),
            (_, None) => {}
        }
    }

    fn end(&mut self, outcome: Outcome) {
        let now = self.now();
        if let Some(take) = self.take.take() {
            self.writer.write(Take { end: (now, outcome), ..take });
        }
    }

    fn now(&self) -> Duration {
        self.begun.map(|begun| begun.elapsed()).unwrap_or_default()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if self.begun.is_some() {
            self.end(Outcome::Left);
        }
    }
}

/// The chunks, overheard.
pub(super) struct Hearing {
    chunks: Chunks,
    listener: Listener,
}

impl Hearing {
    pub(super) fn new(chunks: Chunks, listener: Listener) -> Self {
        Self { chunks, listener }
    }
}

impl Stream for Hearing {
    type Item = Answer;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Answer>> {
        self.listener.begin();
        let answer = ready!(self.chunks.poll_next_unpin(cx));
        self.listener.hear(answer.as_ref());
        Poll::Ready(answer)
    }
}
