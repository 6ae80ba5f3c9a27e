//! What a model is asked besides an answer, for every dialect: how long a request is, where texts lie, which models there
//! are.

use tonic::Request;

use super::{Drive, fault, size};
use crate::domain::error::{Cause, Error};
use crate::domain::model::ModelCause;
use crate::facade::Remote;
use crate::proto::gemini::{
    BatchEmbedContentsRequest, BatchEmbedContentsResponse, CountTokensRequest, CountTokensResponse,
    GenerateContentRequest, Model,
};
use crate::service::who;

impl Drive {
    /// How long it is; about how long, where the model does not count.
    pub async fn count(&self, request: Request<CountTokensRequest>) -> Result<CountTokensResponse, Error> {
        let who = who(request.extensions())?;
        let request = request.into_inner();
        self.guard.check(&*self.backend, &who, &request.model).await?;
        self.guard.count(&who, &request.model)?;
        match self.backend.count_tokens(request.clone()).await {
            Err(error) if error.cause == ModelCause::Unsupported => Ok(estimate(&request)),
            counted => counted.map_err(fault),
        }
    }

    /// The same for a request of another dialect, with what it only names.
    pub async fn count_whole(
        &self,
        request: Request<GenerateContentRequest>,
        remote: &[Remote],
    ) -> Result<u64, Error> {
        let (metadata, extensions, mut whole) = request.into_parts();
        self.media.fetch(&mut whole, remote).await?;
        let counted = CountTokensRequest {
            model: whole.model.clone(),
            generate_content_request: Some(whole),
            ..CountTokensRequest::default()
        };
        let counted = self.count(Request::from_parts(metadata, extensions, counted)).await?;
        Ok(counted.total_tokens.try_into().unwrap_or_default())
    }

    pub async fn embed(
        &self,
        request: Request<BatchEmbedContentsRequest>,
    ) -> Result<BatchEmbedContentsResponse, Error> {
        let who = who(request.extensions())?;
        let request = request.into_inner();
        let asked = GenerateContentRequest {
            model: request.model.clone(),
            contents: request.requests.iter().filter_map(|each| each.content.clone()).collect(),
            ..GenerateContentRequest::default()
        };
        self.guard.check(&*self.backend, &who, &request.model).await?;
        let mut spending = self.guard.admit(&who, &asked)?;
        spending.asked();
        let texts = request.requests.len();
        let answer = self.backend.embed(request).await;
        if answer.is_err() {
            spending.refused();
        }
        let answer = answer.map_err(fault)?;
        match answer.embeddings.len() {
            places if places == texts => Ok(answer),
            // Whose is whose, nobody would know.
            places => Err(Error::new(
                Cause::ModelBroken,
                format!("the model gave {places} embeddings for {texts} texts"),
            )),
        }
    }

    /// Those that the caller may ask, by name.
    pub async fn models<T>(&self, request: &Request<T>) -> Result<Vec<Model>, Error> {
        let who = who(request.extensions())?;
        let mut models = self.backend.models().await.map_err(fault)?;
        models.retain(|model| self.guard.allow(&who, &model.name).is_ok());
        Ok(models)
    }

    pub async fn model<T>(&self, request: &Request<T>, name: &str) -> Result<Model, Error> {
        let unknown = || {
            Error::new(
                Cause::ModelNotFound,
                format!("there is no model `{name}`; the list of models tells which there are"),
            )
        };
        let models = self.models(request).await?;
        models.into_iter().find(|model| model.name == name).ok_or_else(unknown)
    }
}

fn estimate(request: &CountTokensRequest) -> CountTokensResponse {
    let alone = request.contents.iter().map(size::length).sum();
    let whole = request.generate_content_request.as_ref().map_or(0, size::of);
    let tokens = size::tokens(alone).saturating_add(whole);
    CountTokensResponse {
        total_tokens: i32::try_from(tokens).unwrap_or(i32::MAX),
        ..CountTokensResponse::default()
    }
}
