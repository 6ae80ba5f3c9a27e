//! A stream of messages as server-sent events. All that is ready goes out in one frame, and nothing waits for
//! more: a burst costs one write, a lone event leaves at once.

use std::convert::Infallible;
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
use crate::domain::error::Wire;
use crate::proto::json;
use crate::proto::schema::Schema;

/// A frame is sent once it has grown this large, even if more is ready.
const FULL: usize = 32 * 1024;

pub(super) fn response<T: Schema>(answer: tonic::Response<BoxStream<T>>) -> Response {
    let (metadata, stream, _) = answer.into_parts();
    let mut response =
        Response::new(tonic::body::Body::new(Events { stream, buffer: Vec::new(), ended: false }));
    let headers = response.headers_mut();
    answer::copy_metadata(metadata.into_headers(), headers);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    // nginx would hold events back otherwise.
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}

struct Events<T> {
    stream: BoxStream<T>,
    buffer: Vec<u8>,
    ended: bool,
}

impl<T: Schema> Events<T> {
    fn push(&mut self, item: Result<T, Status>) {
        if let Err(status) = item.and_then(|message| self.message(&message)) {
            self.error(&status);
        }
    }

    fn message(&mut self, message: &T) -> Result<(), Status> {
        let start = self.buffer.len();
        self.buffer.extend_from_slice(b"data: ");
        if let Err(error) = json::encode(message, &mut self.buffer) {
            self.buffer.truncate(start);
            return Err(answer::unprintable(error));
        }
        self.buffer.extend_from_slice(b"\n\n");
        Ok(())
    }

    /// The last event: nothing can follow an error.
    fn error(&mut self, status: &Status) {
        self.buffer.extend_from_slice(b"event: error\ndata: ");
        self.buffer.extend_from_slice(&answer::error_body(status, Wire::of(status)));
        self.buffer.extend_from_slice(b"\n\n");
        self.ended = true;
    }

    fn frame(&mut self) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let full = mem::take(&mut self.buffer);
        Poll::Ready((!full.is_empty()).then(|| Ok(Frame::data(full.into()))))
    }
}

impl<T: Schema> Body for Events<T> {
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
                Poll::Ready(None) => this.ended = true,
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
