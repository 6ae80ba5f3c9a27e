//! What went wrong, as Gemini's clients read it, and how their streams look: server-sent events if they ask for them, else
//! one array.

use tonic::Status;

use crate::proto::gemini::GenerateContentResponse;
use crate::transcode::vendor::{Dialect, Event, Frames};
use crate::transcode::{Media, Response, error, error_object};

pub static GEMINI: Gemini = Gemini;

#[derive(Debug)]
pub struct Gemini;

impl Dialect for Gemini {
    /// Google's errors are google.rpc's.
    fn error(&self, status: &Status, _id: &str) -> Response {
        error(status, Media::Json)
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

    fn error(status: &Status, _id: &str, out: &mut Vec<u8>) {
        error_object(status, out);
    }
}
