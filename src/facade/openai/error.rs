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
        let headers = response.headers_mut();
        if wire.cause == Cause::QuotaExhausted {
            // Else the vendor's libraries ask again, as with every 429.
            headers.insert(HeaderName::from_static("x-should-retry"), HeaderValue::from_static("false"));
        }
        if let Some(delay) = retry_delay(status) {
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::domain::error;

    #[test]
    fn every_cause_has_the_words_that_clients_look_for() {
        for (cause, http, kind, code) in [
            (Cause::InvalidArgument, 400, "invalid_request_error", None),
            (Cause::ModelCannot, 400, "invalid_request_error", None),
            (Cause::ContextTooLong, 400, "invalid_request_error", Some("context_length_exceeded")),
            (Cause::Unauthenticated, 401, "invalid_request_error", Some("invalid_api_key")),
            (Cause::ModelNotAllowed, 403, "permission_error", None),
            (Cause::ModelNotFound, 404, "invalid_request_error", Some("model_not_found")),
            (Cause::RouteNotFound, 404, "invalid_request_error", None),
            (Cause::RateLimited, 429, "rate_limit_exceeded", Some("rate_limit_exceeded")),
            (Cause::QuotaExhausted, 429, "insufficient_quota", Some("insufficient_quota")),
            (Cause::Internal, 500, "server_error", None),
            (Cause::ModelBroken, 502, "server_error", None),
            (Cause::ModelUnavailable, 503, "server_error", None),
            (Cause::DeadlineExceeded, 504, "server_error", None),
        ] {
            let wire = cause.wire();
            assert_eq!((wire.http, words(wire)), (http, (kind, code)), "{cause:?}");
        }
    }

    #[test]
    fn clients_are_told_when_to_ask_again() {
        let header = |response: &Response, name: &str| {
            response.headers().get(name).map(|value| value.to_str().unwrap().to_owned())
        };
        let limited =
            error::Error::new(Cause::RateLimited, "slow down").retry_after(Duration::from_millis(1500));
        let limited = OPENAI.error(&limited.into(), "");
        let told = ["retry-after", "retry-after-ms", "x-should-retry"].map(|name| header(&limited, name));
        assert_eq!(told, [Some("2".to_owned()), Some("1500".to_owned()), None]);
        let spent = OPENAI.error(&error::Error::new(Cause::QuotaExhausted, "no more").into(), "");
        assert_eq!(header(&spent, "x-should-retry").as_deref(), Some("false"));
    }
}
