//! A stream of messages as server-sent events. All that is ready goes out in one frame, and nothing waits for
//! more: a burst costs one write, a lone event leaves at once.

use std::convert::Infallible;
use std::io::Write;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::Stream;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use http_body::{Body, Frame};
use tonic::Status;
use tonic::codegen::BoxStream;

use super::answer::{self, Response};
use crate::domain::dialect::Cursor;
use crate::domain::error::{Wire, complete};
use crate::proto::json;
use crate::proto::schema::Schema;

/// A frame is sent once it has grown this large, even if more is ready.
const FULL: usize = 32 * 1024;

/// Room for a small event, so that writing one does not grow its frame again and again.
const EVENT: usize = 512;

/// What an event looks like in one dialect. Each is one line of JSON.
pub trait Framing<T>: Send + Unpin + 'static {
    fn item(&mut self, item: &T, out: &mut Vec<u8>) -> Result<(), Status>;

    fn error(&mut self, status: &Status, out: &mut Vec<u8>);

    /// The name of the event that an error is, where the dialect has one.
    const ERROR: Option<&'static str>;

    /// What stands before an event, and what behind it.
    fn before(&mut self, _item: Option<&T>, out: &mut Vec<u8>) {
        out.extend_from_slice(b"data: ");
    }

    fn behind(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"\n\n");
    }

    /// Behind the last one.
    fn end(&mut self, _failed: bool, _out: &mut Vec<u8>) {}

    fn content_type(&self) -> &'static str {
        EVENT_STREAM
    }

    /// What may be sent between any two events and says nothing.
    fn beat(&self) -> Beat {
        Beat(b":\n\n")
    }
}

pub const EVENT_STREAM: &str = "text/event-stream";

/// Rides on a response that should not fall silent, for whoever keeps it alive.
#[derive(Debug, Clone, Copy)]
pub struct Beat(pub &'static [u8]);

/// The message itself, and google.rpc.Status JSON.
pub(super) struct Plain;

impl<T: Schema> Framing<T> for Plain {
    const ERROR: Option<&'static str> = Some("error");

    fn item(&mut self, item: &T, out: &mut Vec<u8>) -> Result<(), Status> {
        json::encode(item, out).map_err(answer::unprintable)
    }

    fn error(&mut self, status: &Status, out: &mut Vec<u8>) {
        let status = complete(status.clone(), "");
        out.extend_from_slice(&answer::error_body(&status, Wire::of(&status)));
    }
}

pub fn events<T: Send + 'static, F: Framing<T>>(
    answer: tonic::Response<BoxStream<T>>,
    framing: F,
) -> Response {
    let (metadata, stream, extensions) = answer.into_parts();
    let cursor = extensions.get::<Cursor>().cloned();
    let (content_type, beat) = (framing.content_type(), framing.beat());
    let body = Events { stream, framing, cursor, buffer: Vec::new(), usual: 0, ended: false };
    let mut response = Response::new(tonic::body::Body::new(body));
    response.extensions_mut().insert(beat);
    let headers = response.headers_mut();
    answer::copy_metadata(metadata.into_headers(), headers);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    // nginx would hold events back otherwise.
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}

struct Events<T, F> {
    stream: BoxStream<T>,
    framing: F,
    /// Where the stream stands, if it can be resumed.
    cursor: Option<Cursor>,
    buffer: Vec<u8>,
    /// How long the last frame was; the next one will be about the same.
    usual: usize,
    ended: bool,
}

impl<T: 'static, F: Framing<T>> Events<T, F> {
    fn push(&mut self, item: Result<T, Status>) {
        if let Err(status) = item.and_then(|item| self.item(&item)) {
            self.error(&status);
        }
    }

    fn item(&mut self, item: &T) -> Result<(), Status> {
        let start = self.buffer.len();
        if self.buffer.capacity() == 0 {
            self.buffer.reserve(self.usual.max(EVENT));
        }
        if let Some(cursor) = &self.cursor {
            // Writing to a Vec cannot fail.
            let _ = writeln!(self.buffer, "id: {}", cursor.get());
        }
        self.framing.before(Some(item), &mut self.buffer);
        if let Err(status) = self.framing.item(item, &mut self.buffer) {
            self.buffer.truncate(start);
            return Err(status);
        }
        self.framing.behind(&mut self.buffer);
        Ok(())
    }

    /// The last event: nothing can follow an error.
    fn error(&mut self, status: &Status) {
        if let Some(name) = F::ERROR {
            let _ = writeln!(self.buffer, "event: {name}");
        }
        self.framing.before(None, &mut self.buffer);
        self.framing.error(status, &mut self.buffer);
        self.framing.behind(&mut self.buffer);
        self.end(true);
    }

    fn end(&mut self, failed: bool) {
        self.framing.end(failed, &mut self.buffer);
        self.ended = true;
    }

    fn frame(&mut self) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let full = mem::take(&mut self.buffer);
        self.usual = full.len();
        Poll::Ready((!full.is_empty()).then(|| Ok(Frame::data(full.into()))))
    }
}

impl<T: 'static, F: Framing<T>> Body for Events<T, F> {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = &mut *self;
        while !this.ended && this.buffer.len() < FULL {
            match Pin::new(&mut this.stream).poll_next(cx) {
                Poll::Ready(Some(item)) => this.push(item),
                Poll::Ready(None) => this.end(false),
                Poll::Pending if this.buffer.is_empty() => return Poll::Pending,
                Poll::Pending => break,
            }
        }
        this.frame()
    }

    fn is_end_stream(&self) -> bool {
        self.ended && self.buffer.is_empty()
    }
}
