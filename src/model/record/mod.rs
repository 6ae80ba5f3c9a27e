//! Recording: what a model answers is passed on untouched and at once, and written down as a script of the rehearsal, with
//! its times and without secrets. Only what the user said last and what the model answered is written: no system prompt and
//! no output of a tool. Nothing that goes wrong here is felt by who asked. The composition root puts it around a model.

mod blot;
mod file;
mod hearing;

use std::io;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;

use self::blot::Blot;
use self::file::Writer;
use self::hearing::{Hearing, Listener};
use crate::domain::model::{Backend, Chunks, ModelError, Prepared, Relay, Relayed};
use crate::domain::secret::Secret;
use crate::proto::gemini::{
    BatchEmbedContentsRequest, BatchEmbedContentsResponse, CountTokensRequest, CountTokensResponse,
    GenerateContentRequest, GenerateContentResponse, Model,
};

/// Records the model behind it. What was answered is on disk when the recorder and its answers are gone.
pub struct Recorder {
    inner: Arc<dyn Backend>,
    writer: Arc<Writer>,
    blot: Arc<Blot>,
}

impl Recorder {
    /// Makes the directory, if it is not there. Each recorder writes one file, which begins with the first answer.
    /// `secrets` are blotted out wherever they come up.
    pub fn new(inner: Arc<dyn Backend>, dir: &Path, secrets: &[Secret]) -> io::Result<Self> {
        let blot = Arc::new(Blot::new(secrets));
        let writer = Arc::new(Writer::start(dir, Arc::clone(&blot))?);
        Ok(Self { inner, writer, blot })
    }

    /// From now on these are blotted out too, for whoever reads the settings again.
    pub fn also(&self, secrets: &[Secret]) {
        self.blot.add(secrets);
    }

    fn listener(&self, request: &GenerateContentRequest) -> Listener {
        // A replay must offer the same tools.
        self.searches(&request.model);
        Listener::new(request, Arc::clone(&self.writer))
    }
}

#[async_trait]
impl Backend for Recorder {
    fn stream(&self, request: GenerateContentRequest) -> Chunks {
        let listener = self.listener(&request);
        Box::pin(Hearing::new(self.inner.stream(request), listener))
    }

    async fn generate(
        &self,
        request: &GenerateContentRequest,
    ) -> Result<GenerateContentResponse, ModelError> {
        let mut listener = self.listener(request);
        listener.begin();
        let answer = self.inner.generate(request).await;
        listener.hear(Some(&answer));
        if answer.is_ok() {
            listener.hear(None);
        }
        answer
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

    /// What passes unread would be missing in the script.
    async fn relay(&self, _relay: &Relay) -> Option<Result<Relayed, ModelError>> {
        None
    }

    fn prepare(&self, request: GenerateContentRequest) -> Prepared {
        self.inner.prepare(request)
    }

    fn default_model(&self) -> Option<String> {
        self.inner.default_model()
    }

    fn searches(&self, model: &str) -> bool {
        let searches = self.inner.searches(model);
        if searches {
            self.writer.searches();
        }
        searches
    }
}
