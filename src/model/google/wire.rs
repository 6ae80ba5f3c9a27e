//! Requests as Google's servers take them: what a model cannot read is left out, and a conversation that would be refused
//! is mended. Pure.

use prost::Name;
use serde::Serialize;
use serde_json::Value;

use super::{Abilities, history};
use crate::domain::model::{ModelCause, ModelError};
use crate::proto::gemini::{CountTokensRequest, FunctionDeclaration, GenerateContentRequest};
use crate::proto::vendor;

pub(super) use super::history::forget_signatures;

pub(super) fn encoded<T: Serialize + Name>(message: &T) -> Result<Vec<u8>, ModelError> {
    let mut body = Vec::new();
    let unsaid = |problem: crate::proto::json::Unprintable| {
        ModelError::new(ModelCause::Invalid, format!("the request cannot be sent: {problem}"))
    };
    vendor::encode(message, &mut body).map(|()| body).map_err(unsaid)
}

pub(super) fn prepared(mut request: GenerateContentRequest, abilities: &Abilities) -> GenerateContentRequest {
    request.contents = history::mended(request.contents, abilities);
    if !abilities.thinks
        && let Some(config) = &mut request.generation_config
    {
        config.thinking_config = None;
    }
    if !abilities.json_schema {
        let functions = request.tools.iter_mut().flat_map(|tool| &mut tool.function_declarations);
        functions.for_each(plain_schema);
    }
    request
}

/// A whole request names its model here, though it does not where it is sent by itself.
pub(super) fn counted(mut request: CountTokensRequest) -> CountTokensRequest {
    if let Some(whole) = &mut request.generate_content_request {
        let name = Value::from(format!("models/{}", request.model));
        let members = whole.extra.trim_start().strip_prefix('{').unwrap_or("}").trim_start();
        let comma = if members.starts_with('}') { "" } else { "," };
        whole.extra = format!(r#"{{"model":{name}{comma}{members}"#);
    }
    request
}

/// Gemini's own dialect of schemas, which knows neither of these members.
pub(super) fn plain_schema(function: &mut FunctionDeclaration) {
    let schema = std::mem::take(&mut function.parameters_json_schema);
    if let Ok(mut schema) = serde_json::from_str::<Value>(&schema) {
        strip(&mut schema);
        function.parameters = schema.to_string();
    }
}

fn strip(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            members.remove("$schema");
            members.remove("additionalProperties");
            members.values_mut().for_each(strip);
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}

pub(super) fn blames_signatures(error: &ModelError) -> bool {
    let message = error.message.to_ascii_lowercase();
    error.cause == ModelCause::Invalid
        && (message.contains("thought signature") || message.contains("thought_signature"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counted_request_names_its_model() {
        for (extra, expected) in [
            ("", r#"{"model":"models/m"}"#),
            ("{}", r#"{"model":"models/m"}"#),
            (r#"{"a":1}"#, r#"{"model":"models/m","a":1}"#),
        ] {
            let whole = GenerateContentRequest { extra: extra.to_owned(), ..Default::default() };
            let request = CountTokensRequest {
                model: "m".to_owned(),
                generate_content_request: Some(whole),
                ..CountTokensRequest::default()
            };
            assert_eq!(counted(request).generate_content_request.unwrap().extra, expected);
        }
    }

    #[test]
    fn older_models_get_neither_thinking_nor_json_schemas() {
        let read = |text: &str| vendor::decode::<GenerateContentRequest>(text.as_bytes()).unwrap();
        let request = r#"{"contents":[{"role":"user","parts":[{"text":"a"}]}],"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":{"$schema":"s","type":"object","properties":{"x":{"type":"object","additionalProperties":false}}}}]}],"generationConfig":{"temperature":1,"thinkingConfig":{"includeThoughts":true}}}"#;
        let older = prepared(read(request), &Abilities::of("gemini-2.0-flash"));
        assert_eq!(
            String::from_utf8(encoded(&older).unwrap()).unwrap(),
            r#"{"contents":[{"role":"user","parts":[{"text":"a"}]}],"tools":[{"functionDeclarations":[{"name":"f","parameters":{"properties":{"x":{"type":"object"}},"type":"object"}}]}],"generationConfig":{"temperature":1}}"#
        );
        let newer = prepared(read(request), &Abilities::of("gemini-3-pro-preview"));
        assert_eq!(String::from_utf8(encoded(&newer).unwrap()).unwrap(), request);
    }

    #[test]
    fn only_a_refused_signature_is_blamed() {
        for (cause, message, blamed) in [
            (ModelCause::Invalid, "Corrupted thought signature.", true),
            (ModelCause::Invalid, "Function call is missing a thought_signature in part 1", true),
            (ModelCause::Invalid, "bad field", false),
            (ModelCause::Unavailable, "thought signature", false),
        ] {
            assert_eq!(blames_signatures(&ModelError::new(cause, message)), blamed, "{message}");
        }
    }
}
