//! OpenAI's API over whatever model stands behind: chat completions, embeddings and the list of models.

use tonic::codegen::BoxStream;
use tonic::{Request, Response, Status};

use super::facade::Drive;
use crate::facade::openai::chat::{Answer, convert};
use crate::facade::openai::{embeddings, models};
use crate::proto::facade::Preview;
use crate::proto::openai::chat_service_server::ChatService;
use crate::proto::openai::embeddings_service_server::EmbeddingsService;
use crate::proto::openai::models_service_server::ModelsService;
use crate::proto::openai::{
    ChatCompletion, ChatCompletionChunk, ChatCompletionRequest, EmbeddingRequest, EmbeddingResponse,
    GetModelRequest, ListModelsRequest, Model, ModelList,
};

pub struct OpenAi {
    drive: Drive,
}

impl OpenAi {
    pub fn new(drive: Drive) -> Self {
        Self { drive }
    }
}

#[tonic::async_trait]
impl ChatService for OpenAi {
    async fn create_chat_completion(
        &self,
        request: Request<ChatCompletionRequest>,
    ) -> Result<Response<ChatCompletion>, Status> {
        self.drive.whole(request, convert).await
    }

    async fn stream_chat_completion(
        &self,
        request: Request<ChatCompletionRequest>,
    ) -> Result<Response<BoxStream<ChatCompletionChunk>>, Status> {
        self.drive.stream::<_, Answer>(request, convert).await
    }

    async fn preview_chat_completion(
        &self,
        request: Request<ChatCompletionRequest>,
    ) -> Result<Response<Preview>, Status> {
        self.drive.preview(request, convert).await
    }
}

#[tonic::async_trait]
impl EmbeddingsService for OpenAi {
    async fn create_embedding(
        &self,
        request: Request<EmbeddingRequest>,
    ) -> Result<Response<EmbeddingResponse>, Status> {
        let (metadata, extensions, message) = request.into_parts();
        let (asked, places) = embeddings::convert(message)?;
        let found = self.drive.embed(Request::from_parts(metadata, extensions, asked)).await?;
        Ok(Response::new(places.answer(found)))
    }
}

#[tonic::async_trait]
impl ModelsService for OpenAi {
    async fn list_models(&self, request: Request<ListModelsRequest>) -> Result<Response<ModelList>, Status> {
        Ok(Response::new(models::list(self.drive.models(&request).await?)))
    }

    async fn get_model(&self, request: Request<GetModelRequest>) -> Result<Response<Model>, Status> {
        let model = self.drive.model(&request, &request.get_ref().model).await?;
        Ok(Response::new(models::model(model)))
    }
}
