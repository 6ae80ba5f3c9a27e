//! What goes around a request and comes off an answer. Pure.

use std::collections::BTreeMap;

use serde_json::value::{RawValue, to_raw_value};

use crate::domain::model::{ModelCause, ModelError};
use crate::proto::codeassist::{self, CountedContents};
use crate::proto::gemini::part::Data;
use crate::proto::gemini::{
    Content, CountTokensRequest, GenerateContentRequest, GenerateContentResponse, Part,
};
use crate::proto::json::BadJson;
use crate::proto::vendor;

/// Who asks.
pub(super) struct Letter<'a> {
    pub project: &'a str,
    pub prompt: &'a str,
    pub session: &'a str,
}

impl Letter<'_> {
    pub(super) fn around(&self, request: &GenerateContentRequest) -> codeassist::GenerateContentRequest {
        let mut request = request.clone();
        request.contents.iter_mut().for_each(without_thoughts);
        request.extra = with_session(&request.extra, self.session);
        codeassist::GenerateContentRequest {
            model: request.model.clone(),
            project: self.project.to_owned(),
            user_prompt_id: self.prompt.to_owned(),
            request: Some(request),
        }
    }
}

/// A project, tools or settings beside the contents are refused.
pub(super) fn counted(request: &CountTokensRequest) -> codeassist::CountTokensRequest {
    let whole = request.generate_content_request.as_ref().map(|whole| &whole.contents);
    let mut contents = whole.unwrap_or(&request.contents).clone();
    contents.iter_mut().for_each(without_thoughts);
    let counted = CountedContents { model: request.model.clone(), contents };
    codeassist::CountTokensRequest { request: Some(counted) }
}

/// A thought is a text like others there; the server takes no part for one.
fn without_thoughts(content: &mut Content) {
    for part in content.parts.iter_mut().filter(|part| part.thought) {
        part.thought = false;
        if part.data.is_none() && part.extra.is_empty() {
            *part = Part { data: Some(Data::Text(String::new())), ..std::mem::take(part) };
        }
    }
}

fn with_session(extra: &str, session: &str) -> String {
    let mut members: BTreeMap<String, Box<RawValue>> = serde_json::from_str(extra).unwrap_or_default();
    if let Ok(session) = to_raw_value(session) {
        members.insert("session_id".to_owned(), session);
    }
    serde_json::to_string(&members).unwrap_or_default()
}

/// An envelope may be empty, for example when it tells only what is left of some credit.
pub(super) fn opened(body: &[u8]) -> Result<GenerateContentResponse, BadJson> {
    let envelope: codeassist::GenerateContentResponse = vendor::decode(body)?;
    if envelope.response.is_none() && envelope.trace_id.is_empty() {
        return Err(BadJson { field: "response".to_owned(), problem: "is missing".to_owned() });
    }
    let mut response = envelope.response.unwrap_or_default();
    if response.response_id.is_empty() {
        response.response_id = envelope.trace_id;
    }
    Ok(response)
}

pub(super) fn lacks(what: &str) -> ModelError {
    ModelError::new(ModelCause::Unsupported, format!("{} {what}", super::NAME))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::google::wire::encoded;

    fn text<T: serde::Serialize + prost::Name>(message: &T) -> String {
        String::from_utf8(encoded(message).unwrap()).unwrap()
    }

    #[test]
    fn a_request_is_wrapped_and_its_thoughts_are_text() {
        let letter = Letter { project: "p", prompt: "u", session: "s" };
        for (given, inner) in [
            (r#"{"contents":[]}"#, r#"{"session_id":"s"}"#),
            (r#"{"labels":{"a":"b"},"x":1.50}"#, r#"{"labels":{"a":"b"},"session_id":"s","x":1.50}"#),
            (
                r#"{"contents":[{"role":"model","parts":[{"text":"t","thought":true,"thoughtSignature":"z"},{"thought":true,"thoughtSignature":"y"},{"functionCall":{"name":"f","args":{}},"thought":true}]}]}"#,
                r#"{"contents":[{"role":"model","parts":[{"text":"t","thoughtSignature":"z"},{"text":"","thoughtSignature":"y"},{"functionCall":{"name":"f","args":{}}}]}],"session_id":"s"}"#,
            ),
        ] {
            let mut request: GenerateContentRequest = vendor::decode(given.as_bytes()).unwrap();
            request.model = "m".to_owned();
            let expected = format!(r#"{{"model":"m","project":"p","user_prompt_id":"u","request":{inner}}}"#);
            assert_eq!(text(&letter.around(&request)), expected);
        }
    }

    #[test]
    fn only_contents_are_counted() {
        for given in [
            r#"{"model":"m","contents":[{"parts":[{"text":"a"}]}],"generationConfig":{}}"#,
            r#"{"model":"m","generateContentRequest":{"contents":[{"parts":[{"text":"a"}]}],"tools":[{"googleSearch":{}}]}}"#,
        ] {
            let request: CountTokensRequest = vendor::decode(given.as_bytes()).unwrap();
            let expected = r#"{"request":{"model":"models/m","contents":[{"parts":[{"text":"a"}]}]}}"#;
            assert_eq!(text(&counted(&request)), expected);
        }
    }

    #[test]
    fn an_answer_is_unwrapped() {
        for (given, expected) in [
            (
                r#"{"response":{"candidates":[{"finishReason":"STOP"}],"x":1},"traceId":"t"}"#,
                r#"{"candidates":[{"finishReason":"STOP"}],"responseId":"t","x":1}"#,
            ),
            (r#"{"response":{"responseId":"r"},"traceId":"t"}"#, r#"{"responseId":"r"}"#),
            (r#"{"traceId":"t","remainingCredits":[]}"#, r#"{"responseId":"t"}"#),
        ] {
            assert_eq!(text(&opened(given.as_bytes()).unwrap()), expected);
        }
        assert_eq!(opened(br#"{"error":{}}"#).unwrap_err().to_string(), "response: is missing");
    }
}
