//! What differs between the ways to Google's models: address, credentials, envelope. One file for each way.

use async_trait::async_trait;
use http::HeaderValue;

use super::Abilities;
use crate::domain::change::Change;
use crate::domain::model::{ModelError, Relay};
use crate::model::http::Call;
use crate::proto::gemini::{
    BatchEmbedContentsRequest, BatchEmbedContentsResponse, CountTokensRequest, CountTokensResponse,
    GenerateContentRequest, GenerateContentResponse, ListModelsResponse,
};
use crate::proto::json::BadJson;
use crate::proto::vendor;

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub enum Question<'a> {
    Generate { request: &'a GenerateContentRequest, streamed: bool },
    Count(&'a CountTokensRequest),
    Embed(&'a BatchEmbedContentsRequest),
    Models { page: &'a str },
}

#[async_trait]
pub trait Site: Send + Sync + 'static {
    /// For messages, for example `the Gemini API`.
    fn name(&self) -> &str;

    /// What it is asked with and where that comes from, for example `the key from GEMINI_API_KEY`.
    fn credentials(&self) -> &str;

    /// The question with its address and its credentials.
    async fn call(&self, question: Question<'_>) -> Result<Call, ModelError>;

    /// A request that passes as it is, with its address and its credentials. None where another dialect is spoken.
    async fn relay(&self, _relay: &Relay) -> Option<Result<Call, ModelError>> {
        None
    }

    /// The credentials in this `Authorization` were refused. True if there may be others now.
    async fn renew(&self, _refused: Option<&HeaderValue>) -> bool {
        false
    }

    /// The text without what nobody may see.
    fn blot(&self, text: &str) -> String;

    fn abilities(&self, model: &str) -> Abilities {
        Abilities::of(model)
    }

    /// Leaves out what is not known there, whatever the model.
    fn fit(&self, _request: &mut GenerateContentRequest, _changes: &mut Vec<Change>) {}

    /// Whether it tells which models it has.
    fn lists(&self) -> bool {
        true
    }

    /// How many texts one question may hold.
    fn embeds_at_once(&self, _model: &str) -> usize {
        usize::MAX
    }

    fn read(&self, body: &[u8]) -> Result<GenerateContentResponse, BadJson> {
        vendor::decode(body)
    }

    fn read_count(&self, body: &[u8]) -> Result<CountTokensResponse, BadJson> {
        vendor::decode(body)
    }

    fn read_embeddings(&self, body: &[u8]) -> Result<BatchEmbedContentsResponse, BadJson> {
        vendor::decode(body)
    }

    fn read_models(&self, body: &[u8]) -> Result<ListModelsResponse, BadJson> {
        vendor::decode(body)
    }
}
