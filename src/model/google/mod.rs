//! Google's models on the wire of `generateContent`: by key (`api`), in a project of Google Cloud (`vertex`), or with the
//! account of Gemini CLI (`code_assist`). They differ in address, credentials and envelope, which a [`Site`] knows;
//! everything else is here once. One attempt each: patience stands above.

mod abilities;
mod api;
pub mod code_assist;
pub mod credentials;
mod error;
mod fit;
mod history;
mod learned;
mod read;
mod relay;
mod schema;
mod site;
pub mod vertex;
mod wire;

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};
use http::header::AUTHORIZATION;

pub use abilities::Abilities;
pub use api::Api;
pub use code_assist::CodeAssist;
pub use site::{Question, Site};
pub use vertex::Vertex;

use self::fit::Fitted;
use self::learned::{Learned, Lesson};
use super::chunks::{chunks, opened};
use super::http::{Answer, Http};
use super::names::Names;
use crate::domain::model::{Backend, Chunks, ModelCause, ModelError, Prepared, Relay, Relayed};
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
/// Questions for embeddings at a time, where one does not hold all texts.
const EMBEDDING: usize = 4;

pub struct Google<S> {
    inner: Arc<Inner<S>>,
}

struct Inner<S> {
    site: S,
    http: Http,
    learned: Learned,
}

impl<S: Site> Google<S> {
    pub fn new(site: S, http: Http) -> Self {
        Self { inner: Arc::new(Inner { site, http, learned: Learned::default() }) }
    }
}

#[async_trait]
impl<S: Site> Backend for Google<S> {
    fn stream(&self, request: GenerateContentRequest) -> Chunks {
        let (inner, fitted) = (Arc::clone(&self.inner), self.inner.fitted(request));
        opened(async move { inner.open(fitted).await })
    }

    async fn generate(
        &self,
        request: &GenerateContentRequest,
    ) -> Result<GenerateContentResponse, ModelError> {
        let (answer, names) = self.inner.generate(self.inner.fitted(request.clone()), false).await?;
        let mut whole = self.inner.read(answer, |site, body| site.read(body)).await?;
        names.restore(&mut whole);
        Ok(whole)
    }

    async fn count_tokens(&self, request: CountTokensRequest) -> Result<CountTokensResponse, ModelError> {
        let request = wire::counted(self.inner.fitted_count(request));
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
        let most = self.inner.site.embeds_at_once(&request.model).max(1);
        if request.requests.len() <= most {
            return self.inner.embed(request).await;
        }
        let model = &request.model;
        let part = |texts: &[_]| BatchEmbedContentsRequest { model: model.clone(), requests: texts.to_vec() };
        let parts: Vec<_> = request.requests.chunks(most).map(part).collect();
        let answers = stream::iter(parts).map(|part| self.inner.embed(part)).buffered(EMBEDDING);
        let embeddings: Vec<_> = answers.map_ok(|answer| answer.embeddings).try_collect().await?;
        Ok(BatchEmbedContentsResponse { embeddings: embeddings.concat(), ..Default::default() })
    }

    async fn models(&self) -> Result<Vec<Model>, ModelError> {
        let (mut models, mut page) = (Vec::new(), String::new());
        let pages = if self.inner.site.lists() { PAGES } else { 0 };
        for _ in 0..pages {
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

    fn prepare(&self, request: GenerateContentRequest) -> Prepared {
        let Fitted { request, changes, .. } = *self.inner.fitted(request);
        Prepared { request, changes, upstream: String::new() }
    }

    async fn relay(&self, relay: &Relay) -> Option<Result<Relayed, ModelError>> {
        self.inner.relay(relay).await
    }

    fn searches(&self, _model: &str) -> bool {
        true
    }
}

impl<S: Site> Inner<S> {
    async fn open(self: Arc<Self>, fitted: Box<Fitted>) -> Result<Chunks, ModelError> {
        let (answer, names) = self.generate(fitted, true).await?;
        Ok(names.over(chunks(answer.pieces(), read::Reader::new(self))))
    }

    /// As this model takes it. In a box, since whoever waits for the answer has it at hand.
    fn fitted(&self, request: GenerateContentRequest) -> Box<Fitted> {
        let mut abilities = self.site.abilities(&request.model);
        self.learned.lessen(&mut abilities, &request.model);
        let mut fitted = fit::fit(request, &abilities);
        self.site.fit(&mut fitted.request, &mut fitted.changes);
        Box::new(fitted)
    }

    /// What is counted is what would be asked.
    fn fitted_count(&self, mut request: CountTokensRequest) -> CountTokensRequest {
        if let Some(mut whole) = request.generate_content_request.take() {
            whole.model.clone_from(&request.model);
            request.generate_content_request = Some(self.fitted(whole).request);
        }
        request
    }

    /// What a server may refuse and does not need is left out then, and the answer is asked for once more.
    async fn generate(&self, mut fitted: Box<Fitted>, streamed: bool) -> Result<(Answer, Names), ModelError> {
        let Fitted { request, changes, .. } = &*fitted;
        if let Some(first) = changes.first() {
            tracing::debug!(model = request.model, changes = changes.len(), %first, "fitted to the model");
        }
        match self.ask(Question::Generate { request, streamed }).await {
            Ok(answer) => Ok((answer, fitted.names)),
            // Apart, since it is rare: within, every question would have room for two.
            Err(error) => {
                let answer = Box::pin(self.mended(&mut fitted.request, streamed, error)).await?;
                Ok((answer, fitted.names))
            }
        }
    }

    async fn mended(
        &self,
        request: &mut GenerateContentRequest,
        streamed: bool,
        error: ModelError,
    ) -> Result<Answer, ModelError> {
        let Some(lesson) = mended(request, &error) else { return Err(error) };
        tracing::debug!(model = request.model, %error, "a part was refused; asking without it");
        let answer = self.ask(Question::Generate { request, streamed }).await?;
        self.learned.note(&request.model, lesson);
        Ok(answer)
    }

    async fn embed(
        &self,
        request: BatchEmbedContentsRequest,
    ) -> Result<BatchEmbedContentsResponse, ModelError> {
        let answer = self.ask(Question::Embed(&request)).await?;
        self.read(answer, |site, body| site.read_embeddings(body)).await
    }

    /// The answer if the other side said yes. Credentials that were refused are made anew once.
    async fn ask(&self, question: Question<'_>) -> Result<Answer, ModelError> {
        let call = self.site.call(question).await?;
        let credentials = call.headers.get(AUTHORIZATION).cloned();
        let answer = self.http.send(call).await?;
        let answer = match answer.status.as_u16() {
            401 if self.site.renew(credentials.as_ref()).await => {
                let again = async { self.http.send(self.site.call(question).await?).await };
                Box::pin(again).await?
            }
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

/// Signatures of another model, key or project are refused, and ids and JSON schemas by some servers, whatever the model.
fn mended(request: &mut GenerateContentRequest, error: &ModelError) -> Option<Lesson> {
    if wire::blames_signatures(error) {
        return wire::forget_signatures(request).then_some(Lesson::Signatures);
    }
    if wire::blames_ids(error) {
        return wire::forget_ids(&mut request.contents).then_some(Lesson::Ids);
    }
    if !wire::blames_schemas(error) || !schema::is_full(request) {
        return None;
    }
    schema::fit(request, false, &mut Vec::new());
    Some(Lesson::Schemas)
}
