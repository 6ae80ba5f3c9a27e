//! What went wrong, as Anthropic's clients read it: in an answer, and as the last event of a stream.

use http::header::RETRY_AFTER;
use http::{HeaderName, HeaderValue, StatusCode};
use tonic::Status;

use crate::domain::error::{Cause, Wire, retry_delay};
use crate::proto::anthropic::{Error, ErrorResponse, MessageStreamEvent};
use crate::proto::vendor;
use crate::transcode::vendor::{Dialect, Event, Frames};
use crate::transcode::{Media, Response, json};

pub static ANTHROPIC: Anthropic = Anthropic;

const REQUEST_ID: HeaderName = HeaderName::from_static("request-id");

#[derive(Debug)]
pub struct Anthropic;

impl Dialect for Anthropic {
    fn error(&self, status: &Status, id: &str) -> Response {
        let wire = Wire::of(status);
        let mut body = Vec::new();
        print(status, wire, id, &mut body);
        let code = StatusCode::from_u16(words(wire).0).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = json(code, Media::Json, body);
        let headers = response.headers_mut();
        if let Some(delay) = retry_delay(status) {
            let seconds = delay.as_secs() + u64::from(delay.subsec_nanos() > 0);
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        if let Ok(id) = HeaderValue::from_str(id) {
            headers.insert(REQUEST_ID, id);
        }
        response
    }
}

/// `{"type": "error", "error": {...}, "request_id": "..."}`.
fn print(status: &Status, wire: Wire, id: &str, out: &mut Vec<u8>) {
    let error = Error { r#type: words(wire).1.to_owned(), message: message(status, wire) };
    let body = ErrorResponse { r#type: "error".to_owned(), error: Some(error), request_id: id.to_owned() };
    // Texts can always be printed.
    let _ = vendor::encode(&body, out);
}

/// The status and the type, by what the vendor's clients look for.
fn words(wire: Wire) -> (u16, &'static str) {
    match wire.http {
        401 => (401, "authentication_error"),
        403 => (403, "permission_error"),
        404 => (404, "not_found_error"),
        408 => (408, "timeout_error"),
        413 => (413, "request_too_large"),
        429 => (429, "rate_limit_error"),
        status @ 400..=499 => (status, "invalid_request_error"),
        503 => (529, "overloaded_error"),
        504 => (504, "timeout_error"),
        501 => (501, "api_error"),
        _ => (500, "api_error"),
    }
}

/// Clients shorten the conversation when they read these words.
const TOO_LONG: &str = "prompt is too long";

fn message(status: &Status, wire: Wire) -> String {
    let told = status.message();
    if wire.cause != Cause::ContextTooLong {
        return told.to_owned();
    }
    match numbers(told).as_slice() {
        [is, most] if is > most => format!("{TOO_LONG}: {is} tokens > {most} maximum"),
        _ => format!("{TOO_LONG}: {told}"),
    }
}

/// All that are large enough to be lengths of a prompt.
fn numbers(text: &str) -> Vec<u64> {
    const SMALLEST: u64 = 1000;
    let all = text.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok());
    all.filter(|number| *number >= SMALLEST).collect()
}

/// Names stand before the events; silence is broken by one that means nothing.
impl Event for MessageStreamEvent {
    const ERROR: Option<&'static str> = Some("error");

    fn frames(_query: &str) -> &'static Frames {
        const FRAMES: Frames =
            Frames { beat: b"event: ping\ndata: {\"type\":\"ping\"}\n\n", ..Frames::EVENTS };
        &FRAMES
    }

    fn name(&self) -> Option<&str> {
        self.kind()
    }

    fn error(status: &Status, id: &str, out: &mut Vec<u8>) {
        print(status, Wire::of(status), id, out);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::domain::error::Error as Fault;

    #[test]
    fn every_cause_is_told_as_the_vendor_tells_it() {
        for (cause, told, status, kind, message) in [
            (Cause::InvalidArgument, "x: is wrong", 400, "invalid_request_error", "x: is wrong"),
            (Cause::Unauthenticated, "no key", 401, "authentication_error", "no key"),
            (Cause::ModelKeyRefused, "no key", 401, "authentication_error", "no key"),
            (Cause::ModelNotAllowed, "not you", 403, "permission_error", "not you"),
            (Cause::ModelNotFound, "which", 404, "not_found_error", "which"),
            (Cause::BodyTooLarge, "large", 413, "request_too_large", "large"),
            (Cause::RateLimited, "slowly", 429, "rate_limit_error", "slowly"),
            (Cause::ModelUnavailable, "down", 529, "overloaded_error", "down"),
            (Cause::DeadlineExceeded, "late", 504, "timeout_error", "late"),
            (Cause::ModelBroken, "cut", 500, "api_error", "cut"),
            (
                Cause::ContextTooLong,
                "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).",
                400,
                "invalid_request_error",
                "prompt is too long: 1048577 tokens > 1048576 maximum",
            ),
            (Cause::ContextTooLong, "too much", 400, "invalid_request_error", "prompt is too long: too much"),
        ] {
            let status_ = Status::from(Fault::new(cause, told));
            let response = ANTHROPIC.error(&status_, "req_1");
            let mut printed = Vec::new();
            <MessageStreamEvent as Event>::error(&status_, "req_1", &mut printed);
            assert_eq!(
                (response.status().as_u16(), response.headers()["request-id"].as_bytes()),
                (status, &b"req_1"[..])
            );
            let expected = format!(
                r#"{{"type":"error","error":{{"type":"{kind}","message":"{message}"}},"request_id":"req_1"}}"#
            );
            assert_eq!(String::from_utf8(printed).unwrap(), expected);
        }
        let later = Fault::new(Cause::RateLimited, "x").retry_after(Duration::from_millis(1500));
        assert_eq!(ANTHROPIC.error(&later.into(), "").headers()["retry-after"], "2");
    }
}
