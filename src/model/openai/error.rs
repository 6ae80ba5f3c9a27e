//! What an answer that is an error means: by status, by the words of OpenAI, vLLM, llama.cpp and Ollama, and by headers.
//! Pure. The backend and the stream call it. No text of a server is repeated where that could hold a key.

use std::time::Duration;

use chrono::DateTime;
use http::header::{DATE, RETRY_AFTER};
use http::{HeaderMap, StatusCode};
use serde_json::Value;

use crate::domain::model::{ModelCause, ModelError, brief};
use crate::proto::openai::{Error, ErrorResponse};
use crate::proto::vendor::decode;

/// Who is asked, in words for messages.
#[derive(Debug, Clone)]
pub struct Who {
    /// For example `the model server at localhost:11434`.
    pub name: String,
    /// What it is asked with and where that is set, for example `the key from OPENAI_API_KEY`.
    pub credentials: String,
}

/// Codes and types that say it, whatever the status is.
const WORDS: &[(&str, ModelCause)] = &[
    ("context_length_exceeded", ModelCause::TooLong),
    ("exceed_context_size_error", ModelCause::TooLong),
    ("string_above_max_length", ModelCause::TooLong),
    ("insufficient_quota", ModelCause::Exhausted),
    ("billing_hard_limit_reached", ModelCause::Exhausted),
    ("insufficient_balance", ModelCause::Exhausted),
    ("invalid_api_key", ModelCause::Denied),
    ("authentication_error", ModelCause::Denied),
    ("permission_error", ModelCause::Forbidden),
    ("model_not_found", ModelCause::NotFound),
    ("not_found_error", ModelCause::NotFound),
    ("rate_limit_exceeded", ModelCause::Limited),
    ("rate_limit_error", ModelCause::Limited),
    ("overloaded_error", ModelCause::Unavailable),
    ("server_error", ModelCause::Unavailable),
    ("unavailable_error", ModelCause::Unavailable),
    ("invalid_request_error", ModelCause::Invalid),
    ("BadRequestError", ModelCause::Invalid),
    ("NotFoundError", ModelCause::NotFound),
    ("InternalServerError", ModelCause::Unavailable),
];

/// What servers write that have no code for it, in lower case.
const WORDINGS: &[(&str, ModelCause)] = &[
    // OpenAI and vLLM.
    ("maximum context length", ModelCause::TooLong),
    ("longer than the maximum model length", ModelCause::TooLong),
    ("reduce the length of", ModelCause::TooLong),
    ("max_tokens must be at least 1, got -", ModelCause::TooLong),
    // llama.cpp.
    ("exceeds the available context size", ModelCause::TooLong),
    ("exceed context window", ModelCause::TooLong),
    ("too large to process", ModelCause::TooLong),
    // Ollama and others.
    ("exceeds the context length", ModelCause::TooLong),
    ("exceeds maximum context", ModelCause::TooLong),
    ("exceeds context length", ModelCause::TooLong),
    ("prompt is too long", ModelCause::TooLong),
    ("prompt too long", ModelCause::TooLong),
    ("input is too long", ModelCause::TooLong),
    ("exceeded your current quota", ModelCause::Exhausted),
    ("insufficient balance", ModelCause::Exhausted),
    ("insufficient credits", ModelCause::Exhausted),
    ("does not support", ModelCause::Unsupported),
];

/// An answer with a status that is not a success.
pub fn refused(status: StatusCode, headers: &HeaderMap, body: &[u8], who: &Who) -> ModelError {
    let said = read(body);
    let cause = cause(Some(status), &said);
    let message = message(cause, Some(status), &said, who);
    ModelError { retry_after: retry_after(headers), ..ModelError::new(cause, message) }
}

/// An error in the place of an answer: a frame of a stream, or the body of a success. Nothing if it is none.
pub fn told(body: &[u8], who: &Who) -> Option<ModelError> {
    let said = error_of(body)?;
    let is_error = |status: &StatusCode| status.is_client_error() || status.is_server_error();
    let status = said.code.as_deref().and_then(|code| code.parse().ok()).filter(is_error);
    let cause = cause(status, &said);
    Some(ModelError::new(cause, message(cause, status, &said, who)))
}

/// `{"error": ...}`, or the same in a list, or as older servers print it: `{"object": "error", ...}`.
fn error_of(body: &[u8]) -> Option<Error> {
    let body = body.trim_ascii();
    if let Ok(mut list) = decode::<Vec<ErrorResponse>>(body) {
        return if list.is_empty() { None } else { list.swap_remove(0).error };
    }
    let whole: ErrorResponse = decode(body).ok()?;
    if whole.error.is_some() {
        return whole.error;
    }
    let bare: Error = decode(body).ok()?;
    let object: Value = serde_json::from_str(&bare.extra).unwrap_or_default();
    (object.get("object").is_some_and(|object| object == "error") && !bare.message.is_empty()).then_some(bare)
}

/// Whatever it is, as an error.
fn read(body: &[u8]) -> Error {
    let of = |message: String| Error { message, ..Error::default() };
    if let Some(error) = error_of(body) {
        return error;
    }
    let text = String::from_utf8_lossy(body.trim_ascii());
    if text.starts_with('<') {
        return of("it is a web page; is that the address of the API?".to_owned());
    }
    match serde_json::from_str::<Value>(&text) {
        Ok(json) => of(detail(&json).unwrap_or_else(|| json.to_string())),
        Err(_) => of(text.into_owned()),
    }
}

/// What web frameworks print: `message`, or `detail` as a text or as a list of problems.
fn detail(json: &Value) -> Option<String> {
    let said = json.get("message").or_else(|| json.get("detail"))?;
    let problem = |item: &Value| item.get("msg").and_then(Value::as_str).map(str::to_owned);
    match said {
        Value::String(text) => Some(text.clone()),
        Value::Array(items) => Some(items.iter().filter_map(problem).collect::<Vec<_>>().join("; ")),
        _ => None,
    }
}

fn cause(status: Option<StatusCode>, said: &Error) -> ModelCause {
    let words = [said.code.as_deref().unwrap_or_default(), said.r#type.as_str()];
    let by_word = |word: &&str| WORDS.iter().find(|(known, _)| known == word).map(|(_, cause)| *cause);
    let by_word = words.iter().find_map(by_word);
    let by_wording = || {
        let text = said.message.to_lowercase();
        WORDINGS.iter().find(|(wording, _)| text.contains(wording)).map(|(_, cause)| *cause)
    };
    match status.map(|status| status.as_u16()) {
        // The word is often only the name of the status; what is written says more.
        Some(400 | 413 | 422 | 500) | None => {
            let exact =
                by_word.filter(|cause| !matches!(cause, ModelCause::Invalid | ModelCause::Unavailable));
            exact
                .or_else(by_wording)
                .or(by_word.filter(|_| status.is_none()))
                .unwrap_or_else(|| by_status(status))
        }
        Some(429) => by_word
            .or_else(by_wording)
            .filter(|cause| *cause == ModelCause::Exhausted)
            .unwrap_or(ModelCause::Limited),
        Some(403) if by_word == Some(ModelCause::NotFound) => ModelCause::NotFound,
        Some(_) => by_status(status),
    }
}

fn by_status(status: Option<StatusCode>) -> ModelCause {
    match status.map(|status| status.as_u16()) {
        Some(401 | 407) => ModelCause::Denied,
        Some(403) => ModelCause::Forbidden,
        Some(402) => ModelCause::Exhausted,
        // A redirect is not followed: the key would go with it.
        Some(300..=399 | 404 | 405 | 410) => ModelCause::NotFound,
        Some(408 | 409 | 425) => ModelCause::Unavailable,
        Some(413) => ModelCause::TooLong,
        Some(429) => ModelCause::Limited,
        Some(500) => ModelCause::Failed,
        Some(501) => ModelCause::Unsupported,
        Some(400..=499) => ModelCause::Invalid,
        _ => ModelCause::Unavailable,
    }
}

fn message(cause: ModelCause, status: Option<StatusCode>, said: &Error, who: &Who) -> String {
    let Who { name, credentials } = who;
    let forbidden = status == Some(StatusCode::FORBIDDEN);
    let status = status.map(|status| format!(" ({})", status.as_u16())).unwrap_or_default();
    let text = shown(&said.message);
    let text = if text.is_empty() { String::new() } else { format!(": {text}") };
    match cause {
        ModelCause::Denied | ModelCause::Forbidden => {
            // Beside a wrong key stands the key itself, more or less.
            let text = if forbidden { text } else { String::new() };
            format!("{name} refused {credentials}{status}: it is wrong, or may not do this{text}")
        }
        ModelCause::TooLong => format!("the conversation is too long for {name}{status}{text}"),
        ModelCause::NotFound => format!("{name} has no such model or address{status}{text}"),
        ModelCause::Unsupported => format!("the model cannot do that, says {name}{status}{text}"),
        ModelCause::Limited => format!("{name} has had too many requests{status}{text}"),
        ModelCause::Exhausted => format!("the quota at {name} is used up{status}{text}"),
        ModelCause::Unavailable => format!("{name} is not available{status}{text}"),
        ModelCause::Failed => format!("{name} failed{status}{text}"),
        ModelCause::Invalid | ModelCause::Broken => format!("{name} refused the request{status}{text}"),
    }
}

/// On one line, not too long, and without what looks like a key.
fn shown(text: &str) -> String {
    let word = |word| if str::contains(word, "sk-") && word.len() > 12 { "***" } else { word };
    brief(text.split_whitespace().map(word))
}

/// In milliseconds, in seconds, or until a date, which is told from the server's own.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let seconds =
        |text: &str| text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let date = |text: &str| DateTime::parse_from_rfc2822(text).ok();
    let millis = text("retry-after-ms").and_then(seconds).map(|millis| millis / 1000);
    millis.or_else(|| text(RETRY_AFTER.as_str()).and_then(seconds)).or_else(|| {
        let until = date(text(RETRY_AFTER.as_str())?)? - date(text(DATE.as_str())?)?;
        until.to_std().ok()
    })
}

#[cfg(test)]
mod tests;
