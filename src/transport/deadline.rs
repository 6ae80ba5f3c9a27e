//! `grpc-timeout`: a call that a client has given up on is ended here too, streams included.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures::future::{BoxFuture, Either, FutureExt};
use http::HeaderMap;
use http_body::{Body as _, Frame};
use tokio::time::{Instant, Sleep, sleep_until, timeout_at};
use tonic::Status;
use tonic::body::Body;
use tower::Service;

use super::protocol::{Request, Response};
use crate::domain::error::{Cause, Error};

#[derive(Debug, Clone)]
pub(super) struct Deadline<S>(pub(super) S);

impl<S> Service<Request> for Deadline<S>
where
    S: Service<Request, Response = Response, Error = Infallible>,
    S::Future: Send + 'static,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Either<S::Future, BoxFuture<'static, Result<Response, Infallible>>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let header = request.headers().get("grpc-timeout").and_then(|value| value.to_str().ok());
        let Some(at) = header.and_then(parse).and_then(|limit| Instant::now().checked_add(limit)) else {
            return Either::Left(self.0.call(request));
        };
        let answer = timeout_at(at, self.0.call(request));
        Either::Right(
            async move { answer.await.map_or_else(|_| Ok(expired().into_http()), |a| Ok(bound(a?, at))) }
                .boxed(),
        )
    }
}

fn expired() -> Status {
    Error::new(Cause::DeadlineExceeded, "the deadline of the call has passed").into()
}

/// At most eight digits and a unit, as the gRPC protocol writes it. Anything else counts as no deadline.
fn parse(text: &str) -> Option<Duration> {
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    if digits.is_empty() || digits.len() > 8 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let value: u64 = digits.parse().ok()?;
    Some(match unit {
        "H" => Duration::from_secs(value * 3600),
        "M" => Duration::from_secs(value * 60),
        "S" => Duration::from_secs(value),
        "m" => Duration::from_millis(value),
        "u" => Duration::from_micros(value),
        "n" => Duration::from_nanos(value),
        _ => return None,
    })
}

fn bound(response: Response, at: Instant) -> Response {
    response.map(|inner| {
        if inner.is_end_stream() {
            inner
        } else {
            Body::new(Bounded { inner, timer: sleep_until(at), over: false })
        }
    })
}

pin_project_lite::pin_project! {
    struct Bounded {
        #[pin]
        inner: Body,
        #[pin]
        timer: Sleep,
        over: bool,
    }
}

impl http_body::Body for Bounded {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let mut this = self.project();
        if *this.over {
            return Poll::Ready(None);
        }
        // First, or a stream that always has the next item would never be asked to stop.
        if this.timer.as_mut().poll(cx).is_pending() {
            return this.inner.as_mut().poll_frame(cx);
        }
        *this.over = true;
        // Dropping the rest is what ends the handler behind it.
        this.inner.set(Body::empty());
        let mut trailers = HeaderMap::new();
        let written = expired().add_header(&mut trailers);
        Poll::Ready(Some(written.map(|()| Frame::trailers(trailers))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeouts_are_read_as_grpc_writes_them() {
        for (text, expected) in [
            ("1H", Some(Duration::from_secs(3600))),
            ("2M", Some(Duration::from_secs(120))),
            ("3S", Some(Duration::from_secs(3))),
            ("200m", Some(Duration::from_millis(200))),
            ("5u", Some(Duration::from_micros(5))),
            ("99999999n", Some(Duration::from_nanos(99_999_999))),
            ("0S", Some(Duration::ZERO)),
            ("999999999S", None),
            ("-1S", None),
            ("1x", None),
            ("S", None),
            ("", None),
            ("1é", None),
        ] {
            assert_eq!(parse(text), expected, "{text:?}");
        }
    }
}
