//! What a model is asked besides an answer, for every dialect: how long a request is, where texts lie, which models there
//! are.

use tonic::Request;

use super::{Drive, fault, principal};
use crate::domain::error::{Cause, Error};
use crate::domain::model::ModelCause;
use crate::facade::Remote;
use crate::proto::gemini::part::Data;
use crate::proto::gemini::{
    BatchEmbedContentsRequest, BatchEmbedContentsResponse, Content, CountTokensRequest, CountTokensResponse,
    GenerateContentRequest, Model,
};

/// What a token is in bytes, roughly, where nobody counts.
const TOKEN: usize = 4;

impl Drive {
    /// How long it is; about how long, where the model does not count.
    pub async fn count(&self, request: Request<CountTokensRequest>) -> Result<CountTokensResponse, Error> {
        let who = principal(&request);
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
        let (metadata, extensions, whole) = request.into_parts();
        let whole = self.media.fetch(whole, remote).await?;
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
        let who = principal(&request);
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
        let who = principal(request);
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
    let whole = request.generate_content_request.as_ref();
    let inner = whole.into_iter().flat_map(|whole| whole.contents.iter().chain(&whole.system_instruction));
    let tools =
        whole.into_iter().flat_map(|whole| &whole.tools).map(prost::Message::encoded_len).sum::<usize>();
    let bytes: usize = request.contents.iter().chain(inner).map(length).sum();
    CountTokensResponse {
        total_tokens: i32::try_from((bytes + tools).div_ceil(TOKEN)).unwrap_or(i32::MAX),
        ..CountTokensResponse::default()
    }
}

/// Pictures count as what models take for one, whatever their bytes.
fn length(content: &Content) -> usize {
    const PICTURE: usize = 258 * TOKEN;
    let part = |part: &crate::proto::gemini::Part| match &part.data {
        Some(Data::Text(text)) => text.len(),
        Some(Data::InlineData(_) | Data::FileData(_)) => PICTURE,
        _ => prost::Message::encoded_len(part),
    };
    content.parts.iter().map(part).sum()
}
