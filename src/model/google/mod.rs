//! Google's models on the wire of `generateContent`: by key (`api`), in a project of Google Cloud (`vertex`), or with the
//! account of Gemini CLI (`code_assist`). They differ in address, credentials and envelope, which a [`Site`] knows;
//! everything else is here once. One attempt each: patience stands above.

mod abilities;
mod api;
mod error;
mod history;
mod read;
mod site;
mod wire;

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures::{StreamExt, TryFutureExt};

pub use abilities::Abilities;
pub use api::Api;
pub use site::{Question, Site};

use super::chunks::chunks;
use super::http::{Answer, Http};
use crate::domain::model::{Backend, Chunks, ModelCause, ModelError};
use crate::proto::gemini::{
    BatchEmbedContentsRequest, BatchEmbedContentsResponse, CountTokensRequest, CountTokensResponse,
    GenerateContentRequest, GenerateContentResponse, Model,
};
use crate::proto::json::BadJson;

/// A whole answer may hold pictures; everything else is short.
const ANSWER: usize = 64 << 20;
const ERROR: usize = 1 << 20;
/// Pages of models; more than there could ever be.
const PAGES: usize = 50;

pub struct Google<S> {
    inner: Arc<Inner<S>>,
}

struct Inner<S> {
    site: S,
    http: Http,
}

impl<S: Site> Google<S> {
    pub fn new(site: S, http: Http) -> Self {
        Self { inner: Arc::new(Inner { site, http }) }
    }
}

#[async_trait]
impl<S: Site> Backend for Google<S> {
    fn stream(&self, request: GenerateContentRequest) -> Chunks {
        let inner = Arc::clone(&self.inner);
        async move { inner.open(request).await }.try_flatten_stream().boxed()
    }

    async fn generate(&self, request: GenerateContentRequest) -> Result<GenerateContentResponse, ModelError> {
        let answer = self.inner.generate(request, false).await?;
        self.inner.read(answer, |site, body| site.read(body)).await
    }

    async fn count_tokens(&self, request: CountTokensRequest) -> Result<CountTokensResponse, ModelError> {
        let request = wire::counted(request);
        let answer = self.inner.ask(Question::Count(&request)).await?;
        self.inner.read(answer, |site, body| site.read_count(body)).await
    }

    async fn embed(
        &self,
        mut request: BatchEmbedContentsRequest,
    ) -> Result<BatchEmbedContentsResponse, ModelError> {
        for each in &mut request.requests {
            each.model.clone_from(&request.model);
        }
        let answer = self.inner.ask(Question::Embed(&request)).await?;
        self.inner.read(answer, |site, body| site.read_embeddings(body)).await
    }

    async fn models(&self) -> Result<Vec<Model>, ModelError> {
        let (mut models, mut page) = (Vec::new(), String::new());
        for _ in 0..PAGES {
            let answer = self.inner.ask(Question::Models { page: &page }).await?;
            let listed = self.inner.read(answer, |site, body| site.read_models(body)).await?;
            models.extend(listed.models);
            page = listed.next_page_token;
            if page.is_empty() {
                break;
            }
        }
        Ok(models)
    }

    fn searches(&self, _model: &str) -> bool {
        true
    }
}

impl<S: Site> Inner<S> {
    async fn open(self: Arc<Self>, request: GenerateContentRequest) -> Result<Chunks, ModelError> {
        let pieces = self.generate(request, true).await?.pieces();
        Ok(chunks(pieces, read::Reader::new(self)))
    }

    /// Signatures of another model, key or project are refused: then the answer is asked for once more without them.
    async fn generate(&self, request: GenerateContentRequest, streamed: bool) -> Result<Answer, ModelError> {
        let abilities = self.site.abilities(&request.model);
        let mut request = wire::prepared(request, &abilities);
        match self.ask(Question::Generate { request: &request, streamed }).await {
            Err(error) if wire::blames_signatures(&error) && wire::forget_signatures(&mut request) => {
                tracing::debug!(model = request.model, "the signatures were refused; asking without them");
                self.ask(Question::Generate { request: &request, streamed }).await
            }
            answer => answer,
        }
    }

    /// The answer if the other side said yes. Credentials that were refused are made anew once.
    async fn ask(&self, question: Question<'_>) -> Result<Answer, ModelError> {
        let answer = self.http.send(self.site.call(question).await?).await?;
        let answer = match answer.status.as_u16() {
            401 if self.site.renew().await => self.http.send(self.site.call(question).await?).await?,
            _ => answer,
        };
        if answer.status.is_success() {
            return Ok(answer);
        }
        let (status, after) = (answer.status.as_u16(), error::retry_after(&answer.headers));
        // What cannot be read says less, but the status says enough.
        let body = answer.whole(ERROR).await.unwrap_or_default();
        Err(self.refusal(status, &body, after))
    }

    fn refusal(&self, status: u16, body: &[u8], after: Option<std::time::Duration>) -> ModelError {
        let error = error::refusal(self.site.name(), self.site.credentials(), status, body);
        let retry_after = error.retry_after.or(after);
        ModelError { message: self.site.blot(&error.message), retry_after, ..error }
    }

    async fn read<T>(
        &self,
        answer: Answer,
        read: impl Fn(&S, &Bytes) -> Result<T, BadJson>,
    ) -> Result<T, ModelError> {
        let body = answer.whole(ANSWER).await?;
        read(&self.site, &body).map_err(|bad| self.unreadable(&bad))
    }

    fn unreadable(&self, bad: &BadJson) -> ModelError {
        let message = format!("{} gave an answer that cannot be read: {bad}", self.site.name());
        ModelError::new(ModelCause::Broken, message)
    }
}
