//! Patience with a model: what failed before anything came of it is asked for again, for as long as the policy says, and
//! so is an answer that says nothing. What was shown is never shown twice. Knows no vendor; stands before any backend.

mod attempt;
mod judge;
mod retry;

use std::sync::Arc;

use async_trait::async_trait;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use tokio::time::Instant;

pub use retry::Policy;

use self::attempt::Attempt;
use self::judge::Judge;
use self::retry::Retry;
use crate::domain::backoff;
use crate::domain::model::{Backend, Chunks, ModelError, Prepared, Relay, Relayed};
use crate::proto::gemini::{
    BatchEmbedContentsRequest, BatchEmbedContentsResponse, CountTokensRequest, CountTokensResponse,
    GenerateContentRequest, GenerateContentResponse, Model,
};

pub struct Patient {
    inner: Arc<dyn Backend>,
    policy: Policy,
}

impl Patient {
    pub fn new(inner: Arc<dyn Backend>, policy: Policy) -> Self {
        Self { inner, policy }
    }

    /// Asks until there is an answer, or no hope.
    async fn until_answered<'a, T>(
        &self,
        ask: impl Fn() -> BoxFuture<'a, Result<T, ModelError>> + Sync,
    ) -> Result<T, ModelError> {
        let mut retry = Retry::new(self.policy, Instant::now());
        loop {
            let error = match ask().await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            match retry.after(&error, Instant::now(), backoff::chance()) {
                Some(wait) => tokio::time::sleep(wait).await,
                None => return Err(error),
            }
        }
    }
}

#[async_trait]
impl Backend for Patient {
    fn stream(&self, request: GenerateContentRequest) -> Chunks {
        Attempt::new(Arc::clone(&self.inner), request, self.policy).boxed()
    }

    async fn generate(
        &self,
        request: &GenerateContentRequest,
    ) -> Result<GenerateContentResponse, ModelError> {
        let ask = || {
            let asked = self.inner.generate(request);
            let mut judge = Judge::new(request);
            asked.map(move |answer| answer.and_then(|answer| judge.whole(answer))).boxed()
        };
        self.until_answered(ask).await
    }

    async fn count_tokens(&self, request: CountTokensRequest) -> Result<CountTokensResponse, ModelError> {
        self.until_answered(|| self.inner.count_tokens(request.clone())).await
    }

    async fn embed(
        &self,
        request: BatchEmbedContentsRequest,
    ) -> Result<BatchEmbedContentsResponse, ModelError> {
        self.until_answered(|| self.inner.embed(request.clone())).await
    }

    async fn models(&self) -> Result<Vec<Model>, ModelError> {
        self.inner.models().await
    }

    fn prepare(&self, request: GenerateContentRequest) -> Prepared {
        self.inner.prepare(request)
    }

    /// Once: whoever sends bytes asks again by itself.
    async fn relay(&self, relay: &Relay) -> Option<Result<Relayed, ModelError>> {
        self.inner.relay(relay).await
    }

    fn default_model(&self) -> Option<String> {
        self.inner.default_model()
    }

    fn searches(&self, model: &str) -> bool {
        self.inner.searches(model)
    }
}
