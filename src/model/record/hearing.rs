//! One answer while it comes: each chunk is noted with its time and passed on. An answer whose caller leaves is noted as far
//! as it came. One that is too long is not noted at all.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures::{Stream, StreamExt};
use prost::Message;
use tokio::time::Instant;

use super::file::Writer;
use crate::domain::model::{Chunks, ModelError};
use crate::model::rehearsal::{Outcome, Take};
use crate::proto::gemini::{GenerateContentRequest, GenerateContentResponse};

type Answer = Result<GenerateContentResponse, ModelError>;

/// So many bytes of one answer are kept until it is over.
const MOST: usize = 64 << 20;

/// Notes what it is told; when it goes, what it noted is written.
pub(super) struct Listener {
    take: Option<Take>,
    size: usize,
    begun: Option<Instant>,
    writer: Arc<Writer>,
}

impl Listener {
    pub(super) fn new(request: &GenerateContentRequest, writer: Arc<Writer>) -> Self {
        let take = Take::of(request);
        Self { size: take.said.len(), take: Some(take), begun: None, writer }
    }

    /// The answer is waited for. Before that nothing has happened, and nothing is written.
    pub(super) fn begin(&mut self) {
        self.begun.get_or_insert_with(Instant::now);
    }

    /// What came; nothing at the end.
    pub(super) fn hear(&mut self, answer: Option<&Answer>) {
        let now = self.now();
        match (answer, &mut self.take) {
            (Some(Ok(chunk)), Some(take)) => {
                self.size = self.size.saturating_add(chunk.encoded_len());
                if self.size <= MOST {
                    take.chunks.push((now, chunk.clone()));
                } else {
                    tracing::warn!(most = MOST, "an answer is too long to be recorded");
                    self.take = None;
                }
            }
            (Some(Err(error)), _) => self.end(Outcome::Failed(error.clone())),
            (None, _) => self.end(Outcome::Whole),
            (_, None) => {}
        }
    }

    fn end(&mut self, outcome: Outcome) {
        let now = self.now();
        if let Some(take) = self.take.take() {
            self.writer.write(Take { end: (now, outcome), ..take }, self.size);
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::blot::Blot;
    use super::*;
    use crate::proto::gemini::{Candidate, Content, Part};

    fn said(text: String) -> Answer {
        let content = Content { role: "model".to_owned(), parts: vec![Part::text(text)] };
        let candidates = vec![Candidate { content: Some(content), ..Candidate::default() }];
        Ok(GenerateContentResponse { candidates, ..GenerateContentResponse::default() })
    }

    #[test]
    fn an_answer_without_measure_is_not_kept() {
        let dir = tempfile::tempdir().unwrap();
        let writer = Arc::new(Writer::start(dir.path(), Arc::new(Blot::new(&[]))).unwrap());
        let listener = || {
            let mut listener = Listener::new(&GenerateContentRequest::default(), Arc::clone(&writer));
            listener.begin();
            listener
        };
        let (mut long, mut short) = (listener(), listener());
        let half = said("a".repeat(MOST / 2));
        for kept in [true, false, false] {
            long.hear(Some(&half));
            assert_eq!(long.take.is_some(), kept);
        }
        long.hear(None);
        short.hear(Some(&said("short".to_owned())));
        short.hear(None);
        drop((long, short, writer));
        let path = fs::read_dir(dir.path()).unwrap().next().unwrap().unwrap().path();
        let script = fs::read_to_string(path).unwrap();
        assert!(script.matches("- when:").count() == 1 && script.contains("short"), "{}", script.len());
    }
}
