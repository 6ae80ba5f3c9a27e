//! What a model is asked besides answers: how long a text is, where it lies, and what there is. Pure, and the same every
//! time.

use sha2::{Digest, Sha256};

use super::beat::MODEL;
use super::conversation::{text, tokens};
use crate::domain::model::{ModelCause, ModelError};
use crate::proto::gemini::{
    BatchEmbedContentsRequest, BatchEmbedContentsResponse, ContentEmbedding, CountTokensRequest,
    CountTokensResponse, EmbedContentRequest, Model,
};

/// How many numbers a vector has when nobody says so, and at most.
const SIZE: usize = 768;
const MOST: usize = 3072;

/// The estimate that an answer tells, too.
pub(super) fn count(request: &CountTokensRequest) -> CountTokensResponse {
    let whole = request.generate_content_request.iter();
    let contents = whole.flat_map(|request| request.contents.iter().chain(&request.system_instruction));
    let parts = request.contents.iter().chain(contents).flat_map(|content| &content.parts);
    CountTokensResponse { total_tokens: tokens(parts), ..CountTokensResponse::default() }
}

pub(super) fn embed(request: &BatchEmbedContentsRequest) -> Result<BatchEmbedContentsResponse, ModelError> {
    let one = |(index, request): (usize, &EmbedContentRequest)| {
        let size = size(request).ok_or_else(|| {
            let problem = format!("requests[{index}].outputDimensionality is a number from 1 to {MOST}");
            ModelError::new(ModelCause::Invalid, problem)
        })?;
        let text = request.content.as_ref().map(text).unwrap_or_default();
        Ok(ContentEmbedding { values: vector(&text, size) })
    };
    let embeddings = request.requests.iter().enumerate().map(one).collect::<Result<_, _>>()?;
    Ok(BatchEmbedContentsResponse { embeddings, ..BatchEmbedContentsResponse::default() })
}

fn size(request: &EmbedContentRequest) -> Option<usize> {
    let Some(size) = request.output_dimensionality else { return Some(SIZE) };
    usize::try_from(size).ok().filter(|size| (1..=MOST).contains(size))
}

/// The sum of a direction for each word, at length one: texts that share words lie near each other.
fn vector(text: &str, size: usize) -> Vec<f32> {
    let text = text.to_lowercase();
    let mut words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    if words.is_empty() {
        words.push("");
    }
    let mut sum = vec![0.0_f32; size];
    for word in words {
        sum.iter_mut().zip(direction(word)).for_each(|(sum, number)| *sum += number);
    }
    let length = sum.iter().map(|number| number * number).sum::<f32>().sqrt();
    sum.into_iter().map(|number| number / length).collect()
}

/// Numbers from -1 to 1 without an end, from the hash of the word.
fn direction(word: &str) -> impl Iterator<Item = f32> {
    let block =
        move |number: u32| Sha256::new().chain_update(number.to_be_bytes()).chain_update(word).finalize();
    let bytes = (0..).flat_map(block);
    bytes.map(|byte| (f32::from(byte) - 127.5) / 127.5)
}

pub(super) fn models() -> Vec<Model> {
    let methods =
        ["generateContent", "streamGenerateContent", "countTokens", "embedContent", "batchEmbedContents"];
    vec![Model {
        name: MODEL.to_owned(),
        base_model_id: MODEL.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        display_name: "Rehearsal".to_owned(),
        description: "Follows a script; needs no key and no network.".to_owned(),
        input_token_limit: 1 << 20,
        output_token_limit: 1 << 16,
        supported_generation_methods: methods.map(str::to_owned).to_vec(),
        thinking: Some(true),
        extra: String::new(),
    }]
}
