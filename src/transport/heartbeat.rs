//! Keeps idle event streams alive: a comment, which every SSE reader skips, whenever nothing was sent for a
//! while. Proxies and browsers cut streams that stay silent.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::HeaderValue;
use http::header::CONTENT_TYPE;
use http_body::Frame;
use tokio::time::{Instant, Sleep};
use tonic::body::Body;

use super::protocol::Response;

const EVERY: Duration = Duration::from_secs(15);
const BEAT: &[u8] = b":\n\n";

/// Adds heartbeats if the answer is an event stream.
pub(super) fn keep_alive(response: Response) -> Response {
    match response.headers().get(CONTENT_TYPE).map(HeaderValue::as_bytes) {
        Some(b"text/event-stream") => response.map(|inner| Body::new(Beating::new(inner, EVERY))),
        _ => response,
    }
}

pin_project_lite::pin_project! {
    struct Beating {
        #[pin]
        inner: Body,
        #[pin]
        timer: Sleep,
        every: Duration,
    }
}

impl Beating {
    fn new(inner: Body, every: Duration) -> Self {
        Self { inner, timer: tokio::time::sleep(every), every }
    }
}

impl http_body::Body for Beating {
    type Data = Bytes;
    type Error = tonic::Status;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let mut this = self.project();
        let next = this.inner.as_mut().poll_frame(cx);
        if next.is_pending() {
            // Our own frames are whole events, so a comment can stand between any two of them.
            ready!(this.timer.as_mut().poll(cx));
        }
        this.timer.as_mut().reset(Instant::now() + *this.every);
        match next {
            Poll::Ready(frame) => Poll::Ready(frame),
            Poll::Pending => Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(BEAT))))),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::BodyExt;

    #[tokio::test(start_paused = true)]
    async fn a_silent_stream_beats_and_a_busy_one_does_not() {
        let (send, receive) = tokio::sync::mpsc::channel::<Result<Frame<Bytes>, tonic::Status>>(1);
        let inner =
            Body::new(http_body_util::StreamBody::new(tokio_stream::wrappers::ReceiverStream::new(receive)));
        let mut body = Body::new(Beating::new(inner, EVERY));
        send.send(Ok(Frame::data(Bytes::from_static(b"data: 1\n\n")))).await.unwrap();
        let started = Instant::now();
        let mut seen = Vec::new();
        for _ in 0..2 {
            let frame = body.frame().await.unwrap().unwrap();
            seen.push((frame.into_data().unwrap(), started.elapsed().as_secs()));
        }
        drop(send);
        assert_eq!(seen, [(Bytes::from_static(b"data: 1\n\n"), 0), (Bytes::from_static(BEAT), 15)]);
        assert!(body.frame().await.is_none());
    }
}
