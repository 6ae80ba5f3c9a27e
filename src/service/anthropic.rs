//! Anthropic's API over whatever model stands behind.

use tonic::codegen::BoxStream;
use tonic::{Request, Response, Status};

use super::facade::Drive;
use crate::facade::anthropic::{Answer, convert, count, list, model};
use crate::proto::anthropic::messages_service_server::MessagesService;
use crate::proto::anthropic::models_service_server::ModelsService;
use crate::proto::anthropic::{
    CountTokensRequest, CountTokensResponse, CreateMessageRequest, GetModelRequest, ListModelsRequest,
    Message, MessageStreamEvent, Model, ModelList,
};
use crate::proto::facade::Preview;

/// The version of the API that a client means.
pub const VERSION: &str = "anthropic-version";

pub struct Anthropic {
    drive: Drive,
}

impl Anthropic {
    pub fn new(drive: Drive) -> Self {
        Self { drive }
    }
}

#[tonic::async_trait]
impl MessagesService for Anthropic {
    async fn create_message(
        &self,
        request: Request<CreateMessageRequest>,
    ) -> Result<Response<Message>, Status> {
        self.drive.whole(request, convert).await
    }

    async fn stream_message(
        &self,
        request: Request<CreateMessageRequest>,
    ) -> Result<Response<BoxStream<MessageStreamEvent>>, Status> {
        self.drive.stream::<_, Answer>(request, convert).await
    }

    async fn count_tokens(
        &self,
        request: Request<CountTokensRequest>,
    ) -> Result<Response<CountTokensResponse>, Status> {
        let (metadata, extensions, message) = request.into_parts();
        let version = metadata.get(VERSION).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let (asked, remote) = count(message, version)?;
        let asked = Request::from_parts(metadata, extensions, asked);
        let counted = self.drive.count_whole(asked, &remote).await?;
        Ok(Response::new(CountTokensResponse { input_tokens: counted.try_into().unwrap_or(i64::MAX) }))
    }

    async fn preview_message(
        &self,
        request: Request<CreateMessageRequest>,
    ) -> Result<Response<Preview>, Status> {
        self.drive.preview(request, convert).await
    }
}

#[tonic::async_trait]
impl ModelsService for Anthropic {
    async fn list_models(&self, request: Request<ListModelsRequest>) -> Result<Response<ModelList>, Status> {
        let models = self.drive.models(&request).await?;
        Ok(Response::new(list(models, request.get_ref())?))
    }

    async fn get_model(&self, request: Request<GetModelRequest>) -> Result<Response<Model>, Status> {
        let found = self.drive.model(&request, &request.get_ref().model).await?;
        Ok(Response::new(model(found)))
    }
}
