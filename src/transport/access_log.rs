//! Gives every request its id and writes one line about it when its answer has ended. Paths are logged without
//! their query, since some clients put keys there; headers are not logged at all.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use http_body::{Body as _, Frame, SizeHint};
use hyper::service::Service;
use tonic::body::Body;
use tracing::instrument::Instrumented;
use tracing::{Instrument, Span, field};

use super::protocol::{Protocol, Request, Response};
use crate::domain::request_id::RequestId;

const HEADER: HeaderName = HeaderName::from_static("x-request-id");
const GRPC_STATUS: HeaderName = HeaderName::from_static("grpc-status");

/// As nginx calls it; no client ever sees it.
const CLIENT_LEFT: u16 = 499;

#[derive(Debug, Clone)]
pub(super) struct AccessLog<S>(pub(super) S);

impl<S> Service<Request> for AccessLog<S>
where
    S: Service<Request, Response = Response, Error = Infallible>,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Logging<S::Future>;

    fn call(&self, mut request: Request) -> Self::Future {
        let started = Instant::now();
        let id = request_id(request.headers());
        let span = span(&request, &id);
        let echo = HeaderValue::from_str(id.as_str()).ok();
        request.extensions_mut().insert(id);
        let answer = span.in_scope(|| self.0.call(request)).instrument(span.clone());
        // Before the answer: a client that leaves without one has a line too.
        let line = Line { span, started, status: CLIENT_LEFT, grpc: None, ended: false };
        Logging { answer, echo, line: Some(line) }
    }
}

pin_project_lite::pin_project! {
    pub(super) struct Logging<F> {
        #[pin]
        answer: Instrumented<F>,
        echo: Option<HeaderValue>,
        line: Option<Line>,
    }
}

impl<F: Future<Output = Result<Response, Infallible>>> Future for Logging<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let mut response = ready!(this.answer.poll(cx))?;
        if let Some(mut echo) = this.echo.take() {
            // No two are equal: HTTP/2 need not keep them at both ends to compress the next one.
            echo.set_sensitive(true);
            response.headers_mut().insert(HEADER, echo);
        }
        Poll::Ready(Ok(match this.line.take() {
            Some(line) => line.attach(response),
            None => response,
        }))
    }
}

/// What the client or a proxy calls it, if that is fit to print.
fn request_id(headers: &HeaderMap) -> RequestId {
    let given = headers.get(HEADER).and_then(|value| RequestId::parse(value.to_str().ok()?));
    given.unwrap_or_else(|| RequestId::unique(uuid::Uuid::now_v7().as_u128()))
}

fn span(request: &Request, id: &RequestId) -> Span {
    tracing::info_span!(
        "request",
        id = id.as_str(),
        protocol = Protocol::of(request).name(),
        method = request.method().as_str(),
        path = request.uri().path(),
        principal = field::Empty,
    )
}

/// The line to be, written when it is dropped: the answer has gone out, or the client has gone away.
struct Line {
    span: Span,
    started: Instant,
    status: u16,
    grpc: Option<String>,
    ended: bool,
}

impl Line {
    fn attach(mut self, response: Response) -> Response {
        self.status = response.status().as_u16();
        self.note(response.headers());
        self.ended = response.body().is_end_stream();
        response.map(|inner| Body::new(Logged { inner, line: self }))
    }

    fn note(&mut self, headers: &HeaderMap) {
        if let Some(code) = headers.get(GRPC_STATUS).and_then(|value| value.to_str().ok()) {
            self.grpc = Some(code.to_owned());
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        let micros = u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX);
        let (status, grpc) = (self.status, self.grpc.as_deref().map(field::display));
        let end = if self.ended { "whole" } else { "cut" };
        self.span.in_scope(|| tracing::info!(target: "agena::access", status, grpc, micros, end));
    }
}

pin_project_lite::pin_project! {
    struct Logged {
        #[pin]
        inner: Body,
        line: Line,
    }
}

impl http_body::Body for Logged {
    type Data = Bytes;
    type Error = tonic::Status;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, tonic::Status>>> {
        let mut this = self.project();
        let polled = this.inner.as_mut().poll_frame(cx);
        if let Poll::Ready(Some(Ok(frame))) = &polled {
            frame.trailers_ref().into_iter().for_each(|trailers| this.line.note(trailers));
        }
        // After the last frame nobody asks again.
        let last = matches!(&polled, Poll::Ready(Some(Ok(frame))) if frame.is_trailers());
        this.line.ended |= last || matches!(polled, Poll::Ready(None)) || this.inner.is_end_stream();
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use futures::FutureExt;

    use super::*;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl std::io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_client_that_leaves_before_the_answer_has_a_line() {
        let lines = Lines::default();
        let writer = lines.clone();
        let subscriber = tracing_subscriber::fmt().json().with_writer(move || writer.clone()).finish();
        tracing::subscriber::with_default(subscriber, || {
            let never = hyper::service::service_fn(|_: Request| {
                std::future::pending::<Result<Response, Infallible>>()
            });
            let request = http::Request::get("/slow").body(Body::empty()).unwrap();
            let mut answer = Box::pin(AccessLog(never).call(request));
            assert!(answer.as_mut().now_or_never().is_none());
            assert!(lines.0.lock().unwrap().is_empty(), "the client is still there");
            drop(answer);
        });
        let line: serde_json::Value = serde_json::from_slice(&lines.0.lock().unwrap()).unwrap();
        assert_eq!(
            (line["fields"]["status"].as_u64(), line["fields"]["end"].as_str()),
            (Some(499), Some("cut"))
        );
        assert_eq!(line["span"]["path"], "/slow");
    }
}
