//! Answers longer than one request may give: where a model says `CONTINUATION`, the rest is asked for until there is none,
//! and the caller sees one answer with one end and one sum of tokens. Stands before each backend, since only the model
//! that began can go on.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use async_trait::async_trait;
use futures::{Stream, StreamExt, stream};

use crate::domain::model::{Backend, Chunks, Gathered, ModelError, Prepared, Relay, Relayed};
use crate::model::patient::{Patient, Policy};
use crate::proto::gemini::{
    BatchEmbedContentsRequest, BatchEmbedContentsResponse, CountTokensRequest, CountTokensResponse,
    GenerateContentRequest, GenerateContentResponse, Model, UsageMetadata,
};

const CONTINUATION: &str = "CONTINUATION";
/// A million tokens; whoever says more goes in circles.
const HOPS: usize = 16;

pub struct Continued {
    inner: Arc<dyn Backend>,
    /// For all requests but the first, which is somebody else's to repeat.
    patient: Arc<Patient>,
}

impl Continued {
    pub fn new(inner: Arc<dyn Backend>, policy: Policy) -> Self {
        let policy = Policy { tells: false, ..policy };
        Self { patient: Arc::new(Patient::new(Arc::clone(&inner), policy)), inner }
    }
}

/// An answer on its way.
struct Answer {
    patient: Arc<Patient>,
    request: GenerateContentRequest,
    chunks: Chunks,
    hops: usize,
    /// Of the requests that have ended.
    before: UsageMetadata,
    /// Of this one, so far.
    usage: Option<UsageMetadata>,
    /// What the rest is asked for with.
    token: Option<String>,
}

impl Answer {
    /// `chunks` are those of the first request.
    fn from(patient: &Arc<Patient>, request: GenerateContentRequest, chunks: Chunks) -> Chunks {
        let answer = Self {
            patient: Arc::clone(patient),
            request,
            chunks,
            hops: 0,
            before: UsageMetadata::default(),
            usage: None,
            token: None,
        };
        answer.boxed()
    }

    /// Asks for the rest.
    fn go_on(&mut self, token: String) {
        self.request.continuation_token = token;
        self.before = sum(&self.before, &self.usage.take().unwrap_or_default());
        self.hops += 1;
        self.chunks = self.patient.stream(self.request.clone());
    }

    /// Hides that there is an end, where there is more.
    fn hear(&mut self, chunk: &mut GenerateContentResponse) {
        if let Some(usage) = &mut chunk.usage_metadata {
            let own = self.usage.insert(usage.clone());
            if self.hops > 0 {
                *usage = sum(&self.before, own);
            }
        }
        let Some(candidate) = chunk.candidates.first_mut() else { return };
        let token = std::mem::take(&mut candidate.continuation_token);
        if candidate.finish_reason == CONTINUATION && !token.is_empty() && self.hops < HOPS {
            candidate.finish_reason.clear();
            self.token = Some(token);
        } else if candidate.finish_reason == CONTINUATION {
            // The end of what can be had.
            "MAX_TOKENS".clone_into(&mut candidate.finish_reason);
        }
    }
}

impl Stream for Answer {
    type Item = Result<GenerateContentResponse, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            match ready!(this.chunks.poll_next_unpin(context)) {
                Some(Ok(mut chunk)) => {
                    this.hear(&mut chunk);
                    return Poll::Ready(Some(Ok(chunk)));
                }
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => match this.token.take() {
                    Some(token) => this.go_on(token),
                    None => return Poll::Ready(None),
                },
            }
        }
    }
}

/// Every request takes its prompt anew, so all of it adds up.
fn sum(before: &UsageMetadata, now: &UsageMetadata) -> UsageMetadata {
    UsageMetadata {
        prompt_token_count: before.prompt_token_count.saturating_add(now.prompt_token_count),
        cached_content_token_count: before
            .cached_content_token_count
            .saturating_add(now.cached_content_token_count),
        candidates_token_count: before.candidates_token_count.saturating_add(now.candidates_token_count),
        thoughts_token_count: before.thoughts_token_count.saturating_add(now.thoughts_token_count),
        tool_use_prompt_token_count: before
            .tool_use_prompt_token_count
            .saturating_add(now.tool_use_prompt_token_count),
        total_token_count: before.total_token_count.saturating_add(now.total_token_count),
        extra: now.extra.clone(),
    }
}

#[async_trait]
impl Backend for Continued {
    fn stream(&self, request: GenerateContentRequest) -> Chunks {
        Answer::from(&self.patient, request.clone(), self.inner.stream(request))
    }

    async fn generate(
        &self,
        request: &GenerateContentRequest,
    ) -> Result<GenerateContentResponse, ModelError> {
        let first = self.inner.generate(request).await?;
        if first.candidates.first().is_none_or(|candidate| candidate.finish_reason != CONTINUATION) {
            return Ok(first);
        }
        let mut chunks = Answer::from(&self.patient, request.clone(), stream::iter([Ok(first)]).boxed());
        let mut gathered = Gathered::default();
        while let Some(chunk) = chunks.next().await {
            gathered.push(chunk?);
        }
        Ok(gathered.finish())
    }

    async fn count_tokens(&self, request: CountTokensRequest) -> Result<CountTokensResponse, ModelError> {
        self.inner.count_tokens(request).await
    }

    async fn embed(
        &self,
        request: BatchEmbedContentsRequest,
    ) -> Result<BatchEmbedContentsResponse, ModelError> {
        self.inner.embed(request).await
    }

    async fn models(&self) -> Result<Vec<Model>, ModelError> {
        self.inner.models().await
    }

    fn prepare(&self, request: GenerateContentRequest) -> Prepared {
        self.inner.prepare(request)
    }

    async fn relay(&self, relay: &Relay) -> Option<Result<Relayed, ModelError>> {
        self.inner.relay(relay).await
    }

    fn searches(&self, model: &str) -> bool {
        self.inner.searches(model)
    }
}
