//! Keeps idle streams alive: what their readers skip (most often a comment), whenever nothing was sent for a while.
//! Proxies and browsers cut streams that stay silent.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::Frame;
use tokio::time::{Instant, Sleep};
use tonic::body::Body;

use super::protocol::Response;
use crate::transcode::Beat;

const EVERY: Duration = Duration::from_secs(15);

/// Adds heartbeats if the answer is a stream that has some.
pub(super) fn keep_alive(response: Response) -> Response {
    match response.extensions().get::<Beat>().copied() {
        Some(beat) => response.map(|inner| Body::new(Beating::new(inner, EVERY, beat))),
        None => response,
    }
}

pin_project_lite::pin_project! {
    struct Beating {
        #[pin]
        inner: Body,
        #[pin]
        timer: Sleep,
        every: Duration,
        // When something was sent last.
        sent: Instant,
        beat: Beat,
    }
}

impl Beating {
    fn new(inner: Body, every: Duration, beat: Beat) -> Self {
        Self { inner, timer: tokio::time::sleep(every), every, sent: Instant::now(), beat }
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
            let due = *this.sent + *this.every;
            if this.timer.deadline() < due {
                // Set again only when it rings: events come by the thousand.
                ready!(this.timer.as_mut().poll(cx));
                this.timer.as_mut().reset(due);
            }
            ready!(this.timer.as_mut().poll(cx));
        }
        *this.sent = Instant::now();
        match next {
            Poll::Ready(frame) => Poll::Ready(frame),
            // Our own frames are whole events, so it can stand between any two of them.
            Poll::Pending => Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(this.beat.0))))),
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
        let mut body = Body::new(Beating::new(inner, EVERY, Beat(b":\n\n")));
        send.send(Ok(Frame::data(Bytes::from_static(b"data: 1\n\n")))).await.unwrap();
        let started = Instant::now();
        let mut seen = Vec::new();
        for _ in 0..2 {
            let frame = body.frame().await.unwrap().unwrap();
            seen.push((frame.into_data().unwrap(), started.elapsed().as_secs()));
        }
        drop(send);
        assert_eq!(seen, [(Bytes::from_static(b"data: 1\n\n"), 0), (Bytes::from_static(b":\n\n"), 15)]);
        assert!(body.frame().await.is_none());
    }
}
