//! Servers that speak OpenAI's chat completions: OpenAI itself, Ollama, vLLM, llama.cpp and many others. Conversion and
//! reading are pure, in the modules below; here they meet the wire. One attempt each: patience stands above.

mod embed;
mod error;
mod fit;
mod models;
mod read;
mod request;
mod stream;

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
use http::HeaderName;
use http::header::AUTHORIZATION;

pub use error::Who;
pub use read::Reader;
pub use request::{Answer as Wanted, Converted, Server, convert};

use super::chunks::{chunks, opened};
use super::http::{Answer, Call, Http};
use super::names::{Names, Rule};
use crate::domain::model::{Backend, Chunks, ModelCause, ModelError, Prepared};
use crate::domain::secret::Secret;
use crate::proto::gemini::{
    BatchEmbedContentsRequest, BatchEmbedContentsResponse, GenerateContentRequest, GenerateContentResponse,
    Model,
};
use crate::proto::openai::ChatCompletionRequest;
use crate::proto::vendor;

const ANSWER: usize = 64 << 20;
const ERROR: usize = 1 << 20;

/// Where such a server is.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// With the version, for example `http://localhost:11434/v1`.
    pub base_url: String,
    /// Servers at home mostly do without.
    pub key: Option<Secret>,
    /// Sent with every request. Any of them may be a key.
    pub headers: BTreeMap<String, Secret>,
    pub who: Who,
}

pub struct OpenAi {
    inner: Arc<Inner>,
}

struct Inner {
    base_url: String,
    headers: Vec<(HeaderName, &'static str, Secret)>,
    who: Arc<Who>,
    server: Server,
    http: Http,
}

impl OpenAi {
    pub fn new(endpoint: Endpoint, http: Http) -> Self {
        let Endpoint { base_url, key, headers, who } = endpoint;
        let server = Server::at(&base_url);
        let base_url = base_url.trim_end_matches('/').to_owned();
        let given = headers.into_iter().filter_map(|(name, value)| Some((name.parse().ok()?, "", value)));
        // One that is given by name is meant more than the key.
        let headers = key.map(|key| (AUTHORIZATION, "Bearer ", key)).into_iter().chain(given).collect();
        Self { inner: Arc::new(Inner { base_url, headers, who: Arc::new(who), server, http }) }
    }
}

#[async_trait]
impl Backend for OpenAi {
    fn stream(&self, request: GenerateContentRequest) -> Chunks {
        let inner = Arc::clone(&self.inner);
        opened(async move { inner.open(request).await })
    }

    async fn generate(
        &self,
        request: &GenerateContentRequest,
    ) -> Result<GenerateContentResponse, ModelError> {
        let (answer, names) = self.inner.complete(request.clone(), Wanted::Whole).await?;
        let body = answer.whole(ANSWER).await?;
        let whole = stream::whole(&body, Arc::clone(&self.inner.who));
        let mut whole = whole.map_err(|error| self.inner.blot(error))?;
        names.restore(&mut whole);
        Ok(whole)
    }

    async fn embed(
        &self,
        request: BatchEmbedContentsRequest,
    ) -> Result<BatchEmbedContentsResponse, ModelError> {
        let (request, dropped) = embed::request(request);
        report(&request.model, &dropped);
        let body = self.inner.ask(self.inner.post("embeddings", &request)?).await?.whole(ANSWER).await?;
        embed::response(&body, embed::count(&request))
            .map_err(|problem| self.inner.unreadable(&body, &problem))
    }

    async fn models(&self) -> Result<Vec<Model>, ModelError> {
        let call = self.inner.signed(Call::get(self.inner.url("models")));
        let body = self.inner.ask(call).await?.whole(ANSWER).await?;
        models::models(&body).map_err(|bad| self.inner.unreadable(&body, &bad.to_string()))
    }

    fn prepare(&self, request: GenerateContentRequest) -> Prepared {
        let (request, changes) = fit::fit(request, self.inner.server);
        Prepared { request, changes, upstream: String::new() }
    }
}

impl Inner {
    async fn open(self: Arc<Self>, request: GenerateContentRequest) -> Result<Chunks, ModelError> {
        let (answer, names) = self.complete(request, Wanted::Streamed).await?;
        let reader = Reader::new(Arc::clone(&self.who));
        let chunks = names.over(chunks(answer.pieces(), reader));
        Ok(chunks.map(move |chunk| chunk.map_err(|error| self.blot(error))).boxed())
    }

    /// Behind a gateway may stand a model that wants the other name of the limit, and says so.
    async fn complete(
        &self,
        mut request: GenerateContentRequest,
        wanted: Wanted,
    ) -> Result<(Answer, Names), ModelError> {
        let names = Names::fit(&mut request, Rule::OpenAi, &mut Vec::new());
        let Converted { mut request, dropped } = convert(request, self.server, wanted);
        report(&request.model, &dropped);
        let answer = match self.ask(self.post("chat/completions", &request)?).await {
            Err(error) if wants_other_limit(&error, &request) => {
                request.max_completion_tokens = request.max_tokens.take();
                self.ask(self.post("chat/completions", &request)?).await
            }
            answer => answer,
        };
        answer.map(|answer| (answer, names))
    }

    fn url(&self, path: &str) -> String {
        format!("{}/{path}", self.base_url)
    }

    fn signed(&self, call: Call) -> Call {
        let headers = self.headers.iter();
        headers.fold(call, |call, (name, prefix, value)| call.secret(name.clone(), prefix, value))
    }

    fn post<T: serde::Serialize + prost::Name>(&self, path: &str, message: &T) -> Result<Call, ModelError> {
        let mut body = Vec::new();
        vendor::encode(message, &mut body)
            .map_err(|problem| ModelError::new(ModelCause::Invalid, problem.to_string()))?;
        Ok(self.signed(Call::post(self.url(path), Bytes::from(body))))
    }

    /// The answer if the other side said yes.
    async fn ask(&self, call: Call) -> Result<Answer, ModelError> {
        let answer = self.http.send(call).await?;
        if answer.status.is_success() {
            return Ok(answer);
        }
        let (status, headers) = (answer.status, answer.headers.clone());
        // What cannot be read says less, but the status says enough.
        let body = answer.whole(ERROR).await.unwrap_or_default();
        Err(self.blot(error::refused(status, &headers, &body, &self.who)))
    }

    fn unreadable(&self, body: &[u8], problem: &str) -> ModelError {
        let broken = || format!("{} gave an answer that cannot be read: {problem}", self.who.name);
        let error =
            error::told(body, &self.who).unwrap_or_else(|| ModelError::new(ModelCause::Broken, broken()));
        self.blot(error)
    }

    /// Whatever a server says, no key is in it that could be told from other words.
    fn blot(&self, error: ModelError) -> ModelError {
        let secrets = self.headers.iter().map(|(_, _, secret)| secret).filter(|secret| secret.is_telling());
        let blotted = |message: String, secret: &Secret| message.replace(secret.expose(), "[redacted]");
        let message = secrets.fold(error.message, blotted);
        ModelError { message, ..error }
    }
}

fn wants_other_limit(error: &ModelError, request: &ChatCompletionRequest) -> bool {
    error.cause == ModelCause::Invalid
        && request.max_tokens.is_some()
        && error.message.contains("max_completion_tokens")
}

fn report(model: &str, dropped: &[String]) {
    if !dropped.is_empty() {
        tracing::debug!(model, dropped = dropped.join(" "), "not everything can be said to this model");
    }
}
