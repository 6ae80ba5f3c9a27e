//! One answer that is asked for as often as it takes: the driver of [`Retry`] and [`Judge`].

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures::{Stream, StreamExt};
use tokio::time::{Instant, Sleep, sleep};

use super::judge::Judge;
use super::retry::{Policy, Retry};
use crate::domain::backoff;
use crate::domain::model::{Backend, Chunks, ModelError};
use crate::proto::gemini::{Candidate, Content, GenerateContentRequest, GenerateContentResponse, Part};

type Told = Result<GenerateContentResponse, ModelError>;

pub(super) struct Attempt {
    inner: Arc<dyn Backend>,
    /// Until something was said, for which nobody asks again: answers are long, and there are many.
    request: Option<Box<GenerateContentRequest>>,
    retry: Retry,
    judge: Judge,
    now: Now,
}

/// Where it stands.
enum Now {
    Asks,
    Listens(Chunks),
    Waits(Pin<Box<Sleep>>),
    Over,
}

impl Attempt {
    pub(super) fn new(inner: Arc<dyn Backend>, request: GenerateContentRequest, policy: Policy) -> Self {
        let (judge, retry) = (Judge::new(&request), Retry::new(policy, Instant::now()));
        Self { inner, request: Some(Box::new(request)), retry, judge, now: Now::Asks }
    }

    /// What is told of what came. Nothing, where it is asked for again or has ended.
    fn heard(&mut self, came: Option<Told>) -> Option<Told> {
        let failed = match came {
            Some(Ok(chunk)) => {
                self.judge.hear(&chunk);
                self.request = self.request.take().filter(|_| !self.judge.has_said());
                match self.judge.worthless() {
                    None => return Some(Ok(chunk)),
                    Some(error) => error,
                }
            }
            // Something of it was told already: asking again would tell it twice.
            Some(Err(error)) if self.judge.has_heard() => {
                self.now = Now::Over;
                return Some(Err(error));
            }
            Some(Err(error)) => error,
            None => {
                self.now = Now::Over;
                return None;
            }
        };
        self.now = Now::Over;
        self.again(&failed).unwrap_or(Some(Err(failed)))
    }

    /// Asks again, if that is worth it, and what is told of it meanwhile.
    fn again(&mut self, error: &ModelError) -> Option<Option<Told>> {
        let model = &self.request.as_ref()?.model;
        let wait = self.retry.after(error, Instant::now(), backoff::chance())?;
        tracing::info!(model, %error, wait = wait.as_secs_f64(), "asking the model again");
        self.now = Now::Waits(Box::pin(sleep(wait)));
        Some(self.retry.tells(wait).then(|| Ok(waiting(error, wait))))
    }
}

impl Stream for Attempt {
    type Item = Told;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Told>> {
        let this = &mut *self;
        loop {
            match &mut this.now {
                Now::Over => return Poll::Ready(None),
                Now::Waits(over) => {
                    ready!(over.as_mut().poll(context));
                    this.now = Now::Asks;
                }
                Now::Asks => {
                    let Some(request) = this.request.as_deref() else { return Poll::Ready(None) };
                    this.judge = Judge::new(request);
                    this.now = Now::Listens(this.inner.stream(request.clone()));
                }
                Now::Listens(chunks) => {
                    let came = ready!(chunks.poll_next_unpin(context));
                    if let Some(told) = this.heard(came) {
                        return Poll::Ready(Some(told));
                    }
                }
            }
        }
    }
}

/// A thought, which is shown and not remembered.
fn waiting(error: &ModelError, wait: std::time::Duration) -> GenerateContentResponse {
    let text =
        format!("**Waiting for the model** {error}. Asking again in {:.0} s.", wait.as_secs_f64().ceil());
    let content =
        Content { role: "model".to_owned(), parts: vec![Part { thought: true, ..Part::text(text) }] };
    GenerateContentResponse {
        candidates: vec![Candidate { content: Some(content), ..Candidate::default() }],
        ..GenerateContentResponse::default()
    }
}
