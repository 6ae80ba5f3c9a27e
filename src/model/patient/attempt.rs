//! One answer that is asked for as often as it takes: the driver of [`Retry`] and [`Judge`].

use std::sync::Arc;

use futures::StreamExt;
use tokio::time::Instant;

use super::judge::Judge;
use super::retry::{Policy, Retry};
use crate::domain::backoff;
use crate::domain::model::{Backend, Chunks, ModelError};
use crate::proto::gemini::{Candidate, Content, GenerateContentRequest, GenerateContentResponse, Part};

type Told = Result<GenerateContentResponse, ModelError>;

pub(super) struct Attempt {
    inner: Arc<dyn Backend>,
    request: GenerateContentRequest,
    retry: Retry,
    judge: Judge,
    now: Now,
}

/// Where it stands.
enum Now {
    Asks,
    Listens(Chunks),
    Waits(std::time::Duration),
    Over,
}

impl Attempt {
    pub(super) fn new(inner: Arc<dyn Backend>, request: GenerateContentRequest, policy: Policy) -> Self {
        let (judge, retry) = (Judge::new(&request), Retry::new(policy, Instant::now()));
        Self { inner, request, retry, judge, now: Now::Asks }
    }

    /// The next thing to tell, with all that follows from it.
    pub(super) async fn next(mut self) -> Option<(Told, Self)> {
        loop {
            match std::mem::replace(&mut self.now, Now::Over) {
                Now::Over => return None,
                Now::Waits(time) => {
                    tokio::time::sleep(time).await;
                    self.now = Now::Asks;
                }
                Now::Asks => {
                    self.judge = Judge::new(&self.request);
                    self.now = Now::Listens(self.inner.stream(self.request.clone()));
                }
                Now::Listens(mut chunks) => {
                    let came = chunks.next().await;
                    if let Some(told) = self.heard(came, chunks) {
                        return Some((told, self));
                    }
                }
            }
        }
    }

    /// What is told of what came. Nothing, where it is asked for again or has ended.
    fn heard(&mut self, came: Option<Told>, chunks: Chunks) -> Option<Told> {
        match came {
            Some(Ok(chunk)) => {
                self.judge.hear(&chunk);
                if let Some(error) = self.judge.worthless() {
                    return self.again(&error).unwrap_or(Some(Err(error)));
                }
                self.now = Now::Listens(chunks);
                Some(Ok(chunk))
            }
            // Something of it was told already: asking again would tell it twice.
            Some(Err(error)) if self.judge.has_heard() => Some(Err(error)),
            Some(Err(error)) => self.again(&error).unwrap_or(Some(Err(error))),
            None => None,
        }
    }

    /// Asks again, if that is worth it, and what is told of it meanwhile.
    fn again(&mut self, error: &ModelError) -> Option<Option<Told>> {
        let wait = self.retry.after(error, Instant::now(), backoff::chance())?;
        tracing::info!(model = self.request.model, %error, wait = wait.as_secs_f64(), "asking the model again");
        self.now = Now::Waits(wait);
        Some(self.retry.tells(wait).then(|| Ok(waiting(error, wait))))
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
