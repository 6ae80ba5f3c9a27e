//! Gemini's API over whatever model stands behind: its words are the hub's, so answers go through as they come.

use tonic::codegen::BoxStream;
use tonic::{Request, Response, Status};

use super::facade::{Drive, fault};
use crate::domain::error::Error;
use crate::domain::model::{Relay, Relayed, Verb};
use crate::domain::principal::Principal;
use crate::facade::gemini::{Answer, convert};
use crate::proto::gemini::generative_service_server::GenerativeService;
use crate::proto::gemini::model_service_server::ModelService;
use crate::proto::gemini::{
    BatchEmbedContentsRequest, BatchEmbedContentsResponse, CountTokensRequest, CountTokensResponse,
    EmbedContentRequest, EmbedContentResponse, GenerateContentRequest, GenerateContentResponse,
    GetModelRequest, ListModelsRequest, ListModelsResponse, Model,
};

pub struct Gemini {
    drive: Drive,
}

impl Gemini {
    pub fn new(drive: Drive) -> Self {
        Self { drive }
    }

    /// The bytes as they are, where the model speaks this dialect itself; none if it does not.
    pub async fn relay(&self, who: &Principal, relay: Relay) -> Option<Result<Relayed, Error>> {
        let Drive { guard, backend, .. } = &self.drive;
        if let Err(error) = guard.check(&**backend, who, &relay.model).await {
            return Some(Err(error));
        }
        if relay.verb == Verb::Count {
            if let Err(error) = guard.has_room(who) {
                return Some(Err(error));
            }
            let answer = backend.relay(&relay).await?;
            return Some(guard.count(who, &relay.model).and(answer.map_err(fault)));
        }
        let mut spending = match guard.admit_bytes(who, &relay.model, &relay.body) {
            Ok(spending) => spending,
            Err(error) => return Some(Err(error)),
        };
        match backend.relay(&relay).await {
            // Numbers are no tokens.
            Some(Ok(answer)) if matches!(relay.verb, Verb::Embed | Verb::BatchEmbed) => {
                spending.asked();
                Some(Ok(answer))
            }
            Some(answer) => Some(answer.map(|answer| spending.watch(answer)).map_err(fault)),
            // It is asked on another way, and counted there.
            None => {
                spending.cancel();
                None
            }
        }
    }
}

#[tonic::async_trait]
impl GenerativeService for Gemini {
    async fn generate_content(
        &self,
        request: Request<GenerateContentRequest>,
    ) -> Result<Response<GenerateContentResponse>, Status> {
        self.drive.whole(request, convert).await
    }

    async fn stream_generate_content(
        &self,
        request: Request<GenerateContentRequest>,
    ) -> Result<Response<BoxStream<GenerateContentResponse>>, Status> {
        self.drive.stream::<_, Answer>(request, convert).await
    }

    async fn count_tokens(
        &self,
        request: Request<CountTokensRequest>,
    ) -> Result<Response<CountTokensResponse>, Status> {
        Ok(Response::new(self.drive.count(request).await?))
    }

    async fn embed_content(
        &self,
        request: Request<EmbedContentRequest>,
    ) -> Result<Response<EmbedContentResponse>, Status> {
        let several = |one: EmbedContentRequest| BatchEmbedContentsRequest {
            model: one.model.clone(),
            requests: vec![one],
        };
        let answer = self.drive.embed(request.map(several)).await?;
        let embedding = answer.embeddings.into_iter().next();
        Ok(Response::new(EmbedContentResponse { embedding, ..EmbedContentResponse::default() }))
    }

    async fn batch_embed_contents(
        &self,
        request: Request<BatchEmbedContentsRequest>,
    ) -> Result<Response<BatchEmbedContentsResponse>, Status> {
        Ok(Response::new(self.drive.embed(request).await?))
    }
}

#[tonic::async_trait]
impl ModelService for Gemini {
    async fn list_models(
        &self,
        request: Request<ListModelsRequest>,
    ) -> Result<Response<ListModelsResponse>, Status> {
        let models = self.drive.models(&request).await?;
        Ok(Response::new(ListModelsResponse { models, next_page_token: String::new() }))
    }

    async fn get_model(&self, request: Request<GetModelRequest>) -> Result<Response<Model>, Status> {
        let model = self.drive.model(&request, &request.get_ref().model).await?;
        Ok(Response::new(model))
    }
}
