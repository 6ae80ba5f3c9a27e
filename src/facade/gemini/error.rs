//! What went wrong, as Gemini's clients read it, and how their streams look: server-sent events if they ask for them, else
//! one array. What a script staged is shown as what it stands for, so that this server can be the faulty one of another.

use http::StatusCode;
use http_body_util::Full;
use serde_json::Value;
use tonic::Status;
use tonic::body::Body;

use crate::domain::error::details;
use crate::proto::gemini::GenerateContentResponse;
use crate::proto::rpc::ErrorInfo;
use crate::proto::wkt::Any;
use crate::transcode::vendor::{Dialect, Event, Frames};
use crate::transcode::{Media, Response, error, error_object};

pub static GEMINI: Gemini = Gemini;

/// No JSON, and no event.
const GARBAGE: &[u8] = b"<<<\x00 this is no answer \xff {\"candidates\":[";

#[derive(Debug)]
pub struct Gemini;

/// What a script wants to be seen.
#[derive(Debug, PartialEq, Eq)]
enum Staged {
    Status(StatusCode),
    Reset,
    Garbage,
}

impl Staged {
    fn of(status: &Status) -> Option<Self> {
        let info = details(status)?.details.iter().find_map(Any::unpack::<ErrorInfo>)?;
        if let Some(number) = info.metadata.get("stagedStatus") {
            return StatusCode::from_bytes(number.as_bytes()).ok().map(Self::Status);
        }
        match info.metadata.get("staged").map(String::as_str) {
            Some("reset") => Some(Self::Reset),
            Some("garbage") => Some(Self::Garbage),
            _ => None,
        }
    }
}

impl Dialect for Gemini {
    /// Google's errors are google.rpc's.
    fn error(&self, status: &Status, _id: &str) -> Response {
        match Staged::of(status) {
            None => error(status, Media::Json),
            Some(Staged::Status(code)) => {
                let mut response = error(status, Media::Json);
                *response.status_mut() = code;
                *response.body_mut() = Body::new(Full::from(numbered(status, code)));
                response
            }
            // A body that fails takes its connection along.
            Some(Staged::Reset) => Response::new(Body::new(Broken)),
            Some(Staged::Garbage) => Response::new(Body::new(Full::from(GARBAGE))),
        }
    }
}

/// Google's object with this number in it.
fn numbered(status: &Status, code: StatusCode) -> Vec<u8> {
    let mut printed = Vec::new();
    error_object(status, &mut printed);
    let Ok(mut object) = serde_json::from_slice::<Value>(&printed) else { return printed };
    if let Some(number) = object.pointer_mut("/error/code") {
        *number = code.as_u16().into();
    }
    object.to_string().into_bytes()
}

/// Breaks off before its first byte.
struct Broken;

impl http_body::Body for Broken {
    type Data = bytes::Bytes;
    type Error = Status;

    fn poll_frame(
        self: std::pin::Pin<&mut Self>,
        _cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<Self::Data>, Status>>> {
        std::task::Poll::Ready(Some(Err(Status::unavailable("staged"))))
    }
}

/// Its clients know no comments and no names: only a bare line passes between two events.
const EVENTS: Frames = Frames { beat: b"\n", ..Frames::EVENTS };

const ARRAY: Frames = Frames {
    content_type: "application/json",
    first: "[",
    next: ",\r\n",
    behind: "",
    done: "",
    end: "]",
    beat: b"\n",
};

impl Event for GenerateContentResponse {
    const ERROR: Option<&'static str> = None;

    fn frames(query: &str) -> &'static Frames {
        if query.split('&').any(|pair| pair == "alt=sse") { &EVENTS } else { &ARRAY }
    }

    /// Behind the first event the connection stands, and what breaks it is told as an error.
    fn error(status: &Status, _id: &str, out: &mut Vec<u8>) {
        match Staged::of(status) {
            Some(Staged::Garbage) => out.extend_from_slice(GARBAGE),
            Some(Staged::Status(code)) => out.extend_from_slice(&numbered(status, code)),
            Some(Staged::Reset) | None => error_object(status, out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::error::{Cause, Error};

    #[test]
    fn what_was_staged_is_what_is_seen() {
        let error = || Error::new(Cause::ModelUnavailable, "no");
        for (given, expected) in [
            (error(), 503),
            (error().with("stagedStatus", "529"), 529),
            (error().with("staged", "reset"), 200),
            (error().with("staged", "garbage"), 200),
        ] {
            let status = Status::from(given);
            assert_eq!(GEMINI.error(&status, "").status().as_u16(), expected);
        }
        let status = Status::from(error().with("stagedStatus", "529"));
        let printed: Value =
            serde_json::from_slice(&numbered(&status, StatusCode::from_u16(529).unwrap())).unwrap();
        assert_eq!((&printed["error"]["code"], &printed["error"]["message"]), (&529.into(), &"no".into()));
    }
}
