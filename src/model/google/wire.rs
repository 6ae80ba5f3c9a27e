//! Requests as bytes, and what a refusal of one blames. Pure.

use prost::Name;
use serde::Serialize;
use serde_json::Value;

use crate::domain::model::{ModelCause, ModelError};
use crate::proto::gemini::CountTokensRequest;
use crate::proto::vendor;

pub(super) use super::history::{forget_ids, forget_signatures};

pub(super) fn encoded<T: Serialize + Name>(message: &T) -> Result<Vec<u8>, ModelError> {
    // Most have a few words at the least: not to grow from nothing.
    let mut body = Vec::with_capacity(1024);
    let unsaid = |problem: crate::proto::json::Unprintable| {
        ModelError::new(ModelCause::Invalid, format!("the request cannot be sent: {problem}"))
    };
    vendor::encode(message, &mut body).map(|()| body).map_err(unsaid)
}

/// Schemas are the server's to refuse, whatever its model.
pub(super) fn blames_schemas(error: &ModelError) -> bool {
    const WORDS: [&str; 4] = ["schema", "function_declarations", "functiondeclarations", "parameters"];
    let message = error.message.to_ascii_lowercase();
    error.cause == ModelCause::Invalid && WORDS.iter().any(|word| message.contains(word))
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

pub(super) fn blames_signatures(error: &ModelError) -> bool {
    let message = error.message.to_ascii_lowercase();
    error.cause == ModelCause::Invalid
        && (message.contains("thought signature") || message.contains("thought_signature"))
}

/// Some of Google's servers know no ids of calls, whatever the model.
pub(super) fn blames_ids(error: &ModelError) -> bool {
    let says = |words| error.message.contains(words);
    error.cause == ModelCause::Invalid && says("Unknown name \"id\"") && says(".function_")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::gemini::GenerateContentRequest;

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
    fn only_a_refused_id_is_blamed() {
        let said = "Unknown name \"id\" at 'contents[1].parts[0].function_call': Cannot find field.";
        for (cause, message, blamed) in [
            (ModelCause::Invalid, said, true),
            (ModelCause::Invalid, "Unknown name \"id\" at 'tools[0]': Cannot find field.", false),
            (ModelCause::Invalid, "Unknown name \"x\" at 'contents[1].parts[0].function_call'", false),
            (ModelCause::Unavailable, said, false),
        ] {
            assert_eq!(blames_ids(&ModelError::new(cause, message)), blamed, "{message}");
        }
    }

    #[test]
    fn only_a_refused_schema_is_blamed() {
        for (cause, message, blamed) in [
            (
                ModelCause::Invalid,
                "Unknown name \"const\" at 'tools[0].function_declarations[0].parameters'",
                true,
            ),
            (
                ModelCause::Invalid,
                "Unknown name \"parametersJsonSchema\" at 'tools[0]': Cannot find field.",
                true,
            ),
            (ModelCause::Invalid, "Schema.ref 'x' was not found.", true),
            (ModelCause::Invalid, "contents is not specified", false),
            (ModelCause::TooLong, "the schema has too many tokens", false),
        ] {
            assert_eq!(blames_schemas(&ModelError::new(cause, message)), blamed, "{message}");
        }
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
