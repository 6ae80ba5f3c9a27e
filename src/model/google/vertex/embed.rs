//! Embeddings on Vertex: most models are asked for predictions, newer ones for one content at a time. Pure.

use crate::domain::model::{ModelCause, ModelError};
use crate::model::google::wire::encoded;
use crate::proto::gemini::part::Data;
use crate::proto::gemini::{
    BatchEmbedContentsRequest, BatchEmbedContentsResponse, Content, EmbedContentRequest,
};
use crate::proto::json::BadJson;
use crate::proto::vendor;
use crate::proto::vertex::{self, EmbeddingsResponse, Instance, Parameters, PredictRequest};

/// The first of its family still predicts, but one text at a time.
const FIRST: &str = "gemini-embedding-001";
/// What the servers take.
const MOST: usize = 250;

/// As Google's own library tells them apart.
fn embeds(model: &str) -> bool {
    model.contains("gemini") && model != FIRST || model.contains("maas")
}

pub(super) fn at_once(model: &str) -> usize {
    if embeds(model) || model == FIRST { 1 } else { MOST }
}

/// The verb and the body.
pub(super) fn question(request: &BatchEmbedContentsRequest) -> Result<(&'static str, Vec<u8>), ModelError> {
    match request.requests.as_slice() {
        [] => Err(ModelError::new(ModelCause::Invalid, "there is no text to embed")),
        [one] if embeds(&request.model) => Ok(("embedContent", encoded(&content(one))?)),
        texts => Ok(("predict", encoded(&prediction(texts)?)?)),
    }
}

fn content(request: &EmbedContentRequest) -> vertex::EmbedContentRequest {
    let config = vertex::EmbedContentConfig {
        task_type: request.task_type.clone(),
        title: request.title.clone(),
        output_dimensionality: request.output_dimensionality,
    };
    let embed_content_config = (config != vertex::EmbedContentConfig::default()).then_some(config);
    vertex::EmbedContentRequest { content: request.content.clone(), embed_content_config }
}

fn prediction(requests: &[EmbedContentRequest]) -> Result<PredictRequest, ModelError> {
    let size = requests.first().and_then(|request| request.output_dimensionality);
    if requests.iter().any(|request| request.output_dimensionality != size) {
        return Err(ModelError::new(
            ModelCause::Invalid,
            "all texts must have the same outputDimensionality",
        ));
    }
    let parameters = size.map(|size| Parameters { output_dimensionality: Some(size) });
    Ok(PredictRequest { instances: requests.iter().map(instance).collect::<Result<_, _>>()?, parameters })
}

fn instance(request: &EmbedContentRequest) -> Result<Instance, ModelError> {
    Ok(Instance {
        content: text(request.content.as_ref())
            .ok_or_else(|| ModelError::unsupported(&request.model, "embeds nothing but text"))?,
        task_type: request.task_type.clone(),
        title: request.title.clone(),
    })
}

fn text(content: Option<&Content>) -> Option<String> {
    let parts = content.map_or(&[][..], |content| &content.parts);
    let texts: Option<Vec<&str>> = parts
        .iter()
        .map(|part| match &part.data {
            Some(Data::Text(text)) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    texts.map(|texts| texts.concat())
}

pub(super) fn read(body: &[u8]) -> Result<BatchEmbedContentsResponse, BadJson> {
    let answer: EmbeddingsResponse = vendor::decode(body)?;
    let missing = |field: &str| BadJson { field: field.to_owned(), problem: "is missing".to_owned() };
    let predictions = answer.predictions.into_iter().map(|prediction| prediction.embeddings);
    let embeddings: Option<Vec<_>> = predictions.chain(answer.embedding.map(Some)).collect();
    let embeddings = embeddings.ok_or_else(|| missing("predictions.embeddings"))?;
    if embeddings.is_empty() {
        return Err(missing("predictions"));
    }
    Ok(BatchEmbedContentsResponse { embeddings, ..Default::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(model: &str, requests: &str) -> Result<String, ModelError> {
        let text = format!(r#"{{"model":"{model}","requests":[{requests}]}}"#);
        let (verb, body) = question(&vendor::decode(text.as_bytes()).unwrap())?;
        Ok(format!("{verb} {}", String::from_utf8(body).unwrap()))
    }

    #[test]
    fn older_models_predict_and_newer_ones_embed() {
        let plain = r#"{"content":{"parts":[{"text":"a"},{"text":"b"}]}}"#;
        let full = r#"{"content":{"parts":[{"text":"c"}]},"taskType":"RETRIEVAL_DOCUMENT","title":"t","outputDimensionality":64}"#;
        for (model, requests, expected) in [
            (
                "text-embedding-005",
                format!("{plain},{plain}"),
                r#"predict {"instances":[{"content":"ab"},{"content":"ab"}]}"#,
            ),
            (
                "gemini-embedding-001",
                full.to_owned(),
                r#"predict {"instances":[{"content":"c","task_type":"RETRIEVAL_DOCUMENT","title":"t"}],"parameters":{"outputDimensionality":64}}"#,
            ),
            (
                "gemini-embedding-2",
                plain.to_owned(),
                r#"embedContent {"content":{"parts":[{"text":"a"},{"text":"b"}]}}"#,
            ),
            (
                "gemini-embedding-2",
                full.to_owned(),
                r#"embedContent {"content":{"parts":[{"text":"c"}]},"embedContentConfig":{"taskType":"RETRIEVAL_DOCUMENT","title":"t","outputDimensionality":64}}"#,
            ),
        ] {
            assert_eq!(asked(model, &requests).unwrap(), expected);
        }
        let sizes = ["text-embedding-005", "gemini-embedding-001", "gemini-embedding-2"].map(at_once);
        assert_eq!(sizes, [250, 1, 1]);
    }

    #[test]
    fn what_cannot_be_embedded_is_refused() {
        let text = r#"{"content":{"parts":[{"text":"a"}]}}"#;
        let small = r#"{"content":{"parts":[{"text":"a"}]},"outputDimensionality":64}"#;
        let image = r#"{"content":{"parts":[{"inlineData":{"mimeType":"image/png","data":"AA=="}}]}}"#;
        for (requests, cause) in [
            (String::new(), ModelCause::Invalid),
            (format!("{text},{small}"), ModelCause::Invalid),
            (image.to_owned(), ModelCause::Unsupported),
        ] {
            assert_eq!(asked("text-embedding-005", &requests).unwrap_err().cause, cause, "{requests}");
        }
    }

    #[test]
    fn both_answers_are_read() {
        for (body, expected) in [
            (
                r#"{"predictions":[{"embeddings":{"values":[1,2],"statistics":{"token_count":1}}},{"embeddings":{"values":[3]}}]}"#,
                vec![vec![1.0, 2.0], vec![3.0]],
            ),
            (r#"{"embedding":{"values":[0.5]},"usageMetadata":{}}"#, vec![vec![0.5]]),
        ] {
            let read: Vec<Vec<f32>> = read(body.as_bytes())
                .unwrap()
                .embeddings
                .into_iter()
                .map(|embedding| embedding.values)
                .collect();
            assert_eq!(read, expected);
        }
        for (body, said) in [
            ("{}", "predictions: is missing"),
            (r#"{"predictions":[{}]}"#, "predictions.embeddings: is missing"),
        ] {
            assert_eq!(read(body.as_bytes()).unwrap_err().to_string(), said);
        }
    }
}
