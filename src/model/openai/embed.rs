//! Embeddings there and back. Pure.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use crate::proto::gemini::part::Data;
use crate::proto::gemini::{
    BatchEmbedContentsRequest, BatchEmbedContentsResponse, Content, ContentEmbedding, EmbedContentRequest,
};
use crate::proto::openai::embedding_input::Input;
use crate::proto::openai::{
    Embedding, EmbeddingInput, EmbeddingRequest, EmbeddingResponse, Texts, Vector, vector,
};
use crate::proto::vendor::decode;

/// The request, and the paths of what it does not say.
pub fn request(request: BatchEmbedContentsRequest) -> (EmbeddingRequest, Vec<String>) {
    let mut dropped = Vec::new();
    let dimensions = request.requests.first().and_then(|first| first.output_dimensionality);
    let mut texts = Vec::new();
    for (index, one) in request.requests.into_iter().enumerate() {
        let unsaid = [
            (!one.task_type.is_empty(), "taskType"),
            (!one.title.is_empty(), "title"),
            (one.output_dimensionality != dimensions, "outputDimensionality"),
        ];
        let unsaid = unsaid.iter().filter(|(is_said, _)| *is_said);
        dropped.extend(unsaid.map(|(_, name)| format!("requests[{index}].{name}")));
        texts.push(text(one, index, &mut dropped));
    }
    let input = EmbeddingInput { input: Some(Input::Texts(Texts { texts })) };
    let request = EmbeddingRequest {
        model: request.model,
        input: Some(input),
        encoding_format: "float".to_owned(),
        dimensions,
        ..EmbeddingRequest::default()
    };
    (request, dropped)
}

fn text(one: EmbedContentRequest, index: usize, dropped: &mut Vec<String>) -> String {
    let Content { parts, .. } = one.content.unwrap_or_default();
    let mut texts = Vec::new();
    for (at, part) in parts.into_iter().enumerate() {
        match part.data {
            Some(Data::Text(text)) => texts.push(text),
            _ => dropped.push(format!("requests[{index}].content.parts[{at}]")),
        }
    }
    texts.join("\n")
}

pub fn count(request: &EmbeddingRequest) -> usize {
    match request.input.as_ref().and_then(|input| input.input.as_ref()) {
        Some(Input::Texts(texts)) => texts.texts.len(),
        _ => 0,
    }
}

/// One vector for each text, in their order.
pub fn response(body: &[u8], count: usize) -> Result<BatchEmbedContentsResponse, String> {
    let mut response: EmbeddingResponse = decode(body).map_err(|bad| bad.to_string())?;
    if response.data.len() != count {
        return Err(format!("there are {} vectors for {count} texts", response.data.len()));
    }
    response.data.sort_by_key(|embedding| embedding.index);
    let embeddings = response.data.into_iter().map(values).collect::<Option<_>>();
    let embeddings = embeddings.ok_or("a vector is no list of numbers")?;
    Ok(BatchEmbedContentsResponse { embeddings, ..BatchEmbedContentsResponse::default() })
}

/// Some send base64 though they were asked for numbers.
fn values(embedding: Embedding) -> Option<ContentEmbedding> {
    let Vector { vector } = embedding.embedding?;
    let values = match vector? {
        vector::Vector::Floats(floats) => floats.values,
        vector::Vector::Base64(text) => {
            let bytes = BASE64_STANDARD.decode(text).ok()?;
            let (numbers, []) = bytes.as_chunks::<4>() else { return None };
            numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
        }
    };
    Some(ContentEmbedding { values })
}
