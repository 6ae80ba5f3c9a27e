//! What went wrong, as OpenAI's clients read it: in an answer, and as the last event of a stream.

use http::header::RETRY_AFTER;
use http::{HeaderName, HeaderValue, StatusCode};
use tonic::Status;

use crate::domain::error::{Cause, Wire, first_field, retry_delay};
use crate::proto::openai::{ChatCompletionChunk, Error, ErrorResponse};
use crate::proto::vendor;
use crate::transcode::vendor::{Dialect, Event, Frames};
use crate::transcode::{Media, Response, json};

pub static OPENAI: OpenAi = OpenAi;

#[derive(Debug)]
pub struct OpenAi;

impl Dialect for OpenAi {
    fn error(&self, status: &Status, _id: &str) -> Response {
        let wire = Wire::of(status);
        let mut body = Vec::new();
        print(status, wire, &mut body);
        let code = StatusCode::from_u16(wire.http).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = json(code, Media::Json, body);
        if let Some(delay) = retry_delay(status) {
            let headers = response.headers_mut();
            headers.insert(
                RETRY_AFTER,
                HeaderValue::from(delay.as_secs() + u64::from(delay.subsec_nanos() > 0)),
            );
            let millis = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
            headers.insert(HeaderName::from_static("retry-after-ms"), HeaderValue::from(millis));
        }
        response
    }
}

/// `{"error": {...}}`.
fn print(status: &Status, wire: Wire, out: &mut Vec<u8>) {
    let (kind, code) = words(wire);
    let param = first_field(status);
    // It is wrong in one way only.
    let lost = param.as_deref() == Some("previous_response_id");
    let code = code.or(lost.then_some("previous_response_not_found"));
    let error = Error {
        message: status.message().to_owned(),
        r#type: kind.to_owned(),
        param,
        code: code.map(str::to_owned),
        ..Error::default()
    };
    // Texts can always be printed.
    let _ = vendor::encode(&ErrorResponse { error: Some(error), ..ErrorResponse::default() }, out);
}

/// The type and the code, by what the vendor's clients look for.
fn words(wire: Wire) -> (&'static str, Option<&'static str>) {
    match (wire.cause, wire.http) {
        (Cause::ContextTooLong, _) => ("invalid_request_error", Some("context_length_exceeded")),
        (Cause::ModelNotFound, _) => ("invalid_request_error", Some("model_not_found")),
        (Cause::QuotaExhausted, _) => ("insufficient_quota", Some("insufficient_quota")),
        (Cause::Unauthenticated | Cause::ModelKeyRefused, _) => {
            ("invalid_request_error", Some("invalid_api_key"))
        }
        (_, 403) => ("permission_error", None),
        (_, 429) => ("rate_limit_exceeded", Some("rate_limit_exceeded")),
        (_, 400..500) => ("invalid_request_error", None),
        _ => ("server_error", None),
    }
}

impl Event for ChatCompletionChunk {
    const ERROR: Option<&'static str> = None;

    fn frames(_query: &str) -> &'static Frames {
        const FRAMES: Frames = Frames { done: "data: [DONE]\n\n", ..Frames::EVENTS };
        &FRAMES
    }

    fn error(status: &Status, _id: &str, out: &mut Vec<u8>) {
        print(status, Wire::of(status), out);
    }
}
