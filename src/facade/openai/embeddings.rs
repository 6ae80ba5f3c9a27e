//! Places of texts among meanings, in OpenAI's words.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

use crate::domain::error::Error;
use crate::proto::gemini::{
    BatchEmbedContentsRequest, BatchEmbedContentsResponse, Content, ContentEmbedding, EmbedContentRequest,
    Part,
};
use crate::proto::openai::embedding_input::Input;
use crate::proto::openai::vector::Vector as Kind;
use crate::proto::openai::{Embedding, EmbeddingRequest, EmbeddingResponse, EmbeddingUsage, Floats, Vector};

/// What a token is in bytes, roughly, where nobody counts.
const TOKEN: usize = 4;
/// OpenAI refuses more.
const MOST: usize = 2048;

/// What turns the answer back.
#[derive(Debug)]
pub struct Places {
    model: String,
    base64: bool,
    /// About how many tokens were asked for.
    tokens: i64,
}

pub fn convert(asked: EmbeddingRequest) -> Result<(BatchEmbedContentsRequest, Places), Error> {
    let base64 = match asked.encoding_format.as_str() {
        "" | "float" => false,
        "base64" => true,
        _ => return Err(Error::field("encoding_format", "must be float or base64")),
    };
    if asked.dimensions.is_some_and(|dimensions| dimensions < 1) {
        return Err(Error::field("dimensions", "must be at least 1"));
    }
    let texts = texts(asked.input.and_then(|input| input.input))?;
    let tokens = texts.iter().map(|text| text.len().div_ceil(TOKEN)).sum::<usize>();
    let request = |text: String| EmbedContentRequest {
        model: asked.model.clone(),
        content: Some(Content { role: String::new(), parts: vec![Part::text(text)] }),
        output_dimensionality: asked.dimensions,
        ..EmbedContentRequest::default()
    };
    let requests = texts.into_iter().map(request).collect();
    let places =
        Places { model: asked.model.clone(), base64, tokens: i64::try_from(tokens).unwrap_or(i64::MAX) };
    Ok((BatchEmbedContentsRequest { model: asked.model, requests }, places))
}

fn texts(input: Option<Input>) -> Result<Vec<String>, Error> {
    let texts = match input {
        Some(Input::Text(text)) => vec![text],
        Some(Input::Texts(texts)) => texts.texts,
        Some(Input::Tokens(tokens)) if tokens.split_whitespace().collect::<String>() == "[]" => Vec::new(),
        Some(Input::Tokens(_)) => {
            let problem = "holds tokens, which mean something else to every model; send the text";
            return Err(Error::field("input", problem));
        }
        None => Vec::new(),
    };
    if texts.is_empty() || texts.len() > MOST {
        return Err(Error::field("input", format!("must be a text, or between 1 and {MOST} of them")));
    }
    match texts.iter().position(String::is_empty) {
        Some(at) => Err(Error::field(format!("input[{at}]"), "is empty; a text must say something")),
        None => Ok(texts),
    }
}

impl Places {
    pub fn answer(self, found: BatchEmbedContentsResponse) -> EmbeddingResponse {
        let tokens = counted(&found.extra).unwrap_or(self.tokens);
        let embedding = |(index, place): (i32, ContentEmbedding)| Embedding {
            object: "embedding".to_owned(),
            index,
            embedding: Some(Vector { vector: Some(self.vector(place.values)) }),
        };
        EmbeddingResponse {
            object: "list".to_owned(),
            data: (0..).zip(found.embeddings).map(embedding).collect(),
            model: self.model.clone(),
            usage: Some(EmbeddingUsage { prompt_tokens: tokens, total_tokens: tokens }),
            ..EmbeddingResponse::default()
        }
    }

    fn vector(&self, values: Vec<f32>) -> Kind {
        match self.base64 {
            true => {
                let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
                Kind::Base64(BASE64_STANDARD.encode(bytes))
            }
            false => Kind::Floats(Floats { values }),
        }
    }
}

/// What the model says that it took, where it says so.
fn counted(extra: &str) -> Option<i64> {
    let extra: Value = serde_json::from_str(extra).ok()?;
    extra.pointer("/usageMetadata/promptTokenCount")?.as_i64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::vendor;

    fn asked(text: &str) -> Result<(BatchEmbedContentsRequest, Places), Error> {
        convert(vendor::decode(text.as_bytes()).unwrap())
    }

    #[test]
    fn vectors_come_back_as_they_were_asked_for() {
        let found = || BatchEmbedContentsResponse {
            embeddings: vec![ContentEmbedding { values: vec![1.0, -0.5] }],
            ..BatchEmbedContentsResponse::default()
        };
        for (format, expected) in [("base64", r#""AACAPwAAAL8=""#), ("float", "[1.0,-0.5]")] {
            let (request, places) = asked(&format!(
                r#"{{"model":"m","input":"hello","encoding_format":"{format}","dimensions":2}}"#
            ))
            .unwrap();
            assert_eq!(request.requests[0].output_dimensionality, Some(2));
            let mut out = Vec::new();
            vendor::encode(&places.answer(found()), &mut out).unwrap();
            let expected = format!(
                r#"{{"object":"list","data":[{{"object":"embedding","index":0,"embedding":{expected}}}],"model":"m","usage":{{"prompt_tokens":2,"total_tokens":2}}}}"#
            );
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }

    #[test]
    fn refusals_name_the_field() {
        for (text, field) in [
            (r#"{"input":[1,2]}"#, "input: holds tokens"),
            (r#"{"input":[[1],[2]]}"#, "input: holds tokens"),
            (r#"{"input":[]}"#, "input: must be a text"),
            (r#"{}"#, "input: must be a text"),
            (r#"{"input":["a",""]}"#, "input[1]: is empty"),
            (r#"{"input":"a","encoding_format":"int8"}"#, "encoding_format: "),
            (r#"{"input":"a","dimensions":0}"#, "dimensions: "),
        ] {
            let said = asked(text).unwrap_err().to_string();
            assert!(said.starts_with(field), "{text}: {said}");
        }
    }
}
