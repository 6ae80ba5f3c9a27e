//! Gemini in a project of Google Cloud, or by key alone (express mode). The wire is that of the Gemini API but for the
//! address, the embeddings, the list of models and what is not known there.

mod address;
mod embed;
mod fit;

use std::sync::Arc;

use async_trait::async_trait;
use http::HeaderValue;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::Abilities;
use super::api::KEY;
use super::credentials::{self, TokenSource};
use super::site::{Question, Site};
use super::wire::encoded;
use crate::domain::change::Change;
use crate::domain::model::{ModelError, Relay, Verb};
use crate::domain::secret::Secret;
use crate::model::http::Call;
use crate::proto::gemini::{
    BatchEmbedContentsResponse, CountTokensRequest, GenerateContentRequest, ListModelsResponse, Model,
};
use crate::proto::json::BadJson;
use crate::proto::vendor;
use crate::proto::vertex::{ListPublisherModelsResponse, PublisherModel};
use address::Address;

pub use address::{BadAddress, Options};

/// In whose name it is asked.
#[derive(Clone)]
pub enum Access {
    Key(Secret),
    Tokens(Arc<dyn TokenSource>),
}

pub struct Vertex {
    address: Address,
    access: Access,
    origin: String,
}

impl Vertex {
    /// `origin` says where the credentials come from.
    pub fn new(options: Options, access: Access, origin: impl Into<String>) -> Result<Self, BadAddress> {
        let by_key = matches!(access, Access::Key(_));
        Ok(Self { address: Address::new(options, by_key)?, access, origin: origin.into() })
    }

    async fn signed(&self, call: Call) -> Result<Call, ModelError> {
        match &self.access {
            Access::Key(key) => Ok(call.secret(KEY, "", key)),
            Access::Tokens(tokens) => Ok(tokens.token().await?.sign(call)),
        }
    }

    fn unsigned(&self, question: Question<'_>) -> Result<Call, ModelError> {
        let post = |model: &str, verb: &str, body: Vec<u8>| {
            Ok(Call::post(self.address.of_model(model, verb)?, body))
        };
        match question {
            Question::Generate { request, streamed } => {
                let verb = if streamed { "streamGenerateContent?alt=sse" } else { "generateContent" };
                fit::known(request)?;
                post(&request.model, verb, encoded(request)?)
            }
            Question::Count(request) => post(&request.model, "countTokens", encoded(&counted(request))?),
            Question::Embed(request) => {
                let (verb, body) = embed::question(request)?;
                post(&request.model, verb, body)
            }
            Question::Models { page } => {
                let page = utf8_percent_encode(page, NON_ALPHANUMERIC);
                Ok(Call::get(self.address.of_models(&format!("pageSize=1000&pageToken={page}"))))
            }
        }
    }
}

#[async_trait]
impl Site for Vertex {
    fn name(&self) -> &str {
        "Vertex AI"
    }

    fn credentials(&self) -> &str {
        &self.origin
    }

    async fn call(&self, question: Question<'_>) -> Result<Call, ModelError> {
        self.signed(self.unsigned(question)?).await
    }

    /// Counts and embeddings are another wire there.
    async fn relay(&self, relay: &Relay) -> Option<Result<Call, ModelError>> {
        if !matches!(relay.verb, Verb::Generate | Verb::Stream) {
            return None;
        }
        match self.address.of_model(&relay.model, relay.action()) {
            Ok(url) => Some(self.signed(Call::post(url, relay.body.clone())).await),
            Err(error) => Some(Err(error)),
        }
    }

    async fn renew(&self, refused: Option<&HeaderValue>) -> bool {
        match &self.access {
            Access::Key(_) => false,
            Access::Tokens(tokens) => credentials::forget(&**tokens, refused),
        }
    }

    fn blot(&self, text: &str) -> String {
        match &self.access {
            Access::Key(key) => text.replace(key.expose(), "[redacted]"),
            Access::Tokens(tokens) => tokens.blot(text),
        }
    }

    fn abilities(&self, model: &str) -> Abilities {
        Abilities { own_tools_beside_functions: false, safety_of_pictures: true, ..Abilities::of(model) }
    }

    fn fit(&self, request: &mut GenerateContentRequest, changes: &mut Vec<Change>) {
        fit::fit(request, changes);
    }

    fn embeds_at_once(&self, model: &str) -> usize {
        embed::at_once(model)
    }

    fn read_embeddings(&self, body: &[u8]) -> Result<BatchEmbedContentsResponse, BadJson> {
        embed::read(body)
    }

    fn read_models(&self, body: &[u8]) -> Result<ListModelsResponse, BadJson> {
        let listed: ListPublisherModelsResponse = vendor::decode(body)?;
        let models = listed.publisher_models.into_iter().filter_map(model).collect();
        Ok(ListModelsResponse { models, next_page_token: listed.next_page_token })
    }
}

/// Without the envelope that the Gemini API has around a whole request.
fn counted(request: &CountTokensRequest) -> GenerateContentRequest {
    let Some(whole) = &request.generate_content_request else {
        return GenerateContentRequest { contents: request.contents.clone(), ..Default::default() };
    };
    GenerateContentRequest {
        contents: whole.contents.clone(),
        system_instruction: whole.system_instruction.clone(),
        tools: whole.tools.clone(),
        generation_config: whole.generation_config.clone(),
        ..Default::default()
    }
}

/// The list has everything that Google ever published there; what cannot be asked here is left out.
fn model(listed: PublisherModel) -> Option<Model> {
    let name = listed.name.rsplit('/').next()?.to_owned();
    let methods: &[&str] = match () {
        () if name.contains("embedding") && !name.starts_with("multimodal") => &["embedContent"],
        () if name.starts_with("gemini-") => &["generateContent", "countTokens"],
        () => return None,
    };
    let supported_generation_methods = methods.iter().map(|method| (*method).to_owned()).collect();
    Some(Model { name, version: listed.version_id, supported_generation_methods, ..Model::default() })
}
