//! Gives details to the errors that tonic makes by itself, or that a service left bare, in headers and in trailers.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures::future::{BoxFuture, FutureExt};
use http::HeaderMap;
use http_body::{Body as _, Frame, SizeHint};
use tonic::body::Body;
use tonic::{Code, Status};
use tower::Service;

use super::protocol::{Request, Response};
use crate::domain::error::complete;

#[derive(Debug, Clone)]
pub(super) struct Complete<S>(pub(super) S);

impl<S> Service<Request> for Complete<S>
where
    S: Service<Request, Response = Response, Error = Infallible>,
    S::Future: Send + 'static,
{
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let rpc: Arc<str> = request.uri().path().trim_start_matches('/').into();
        let answer = self.0.call(request);
        async move {
            let mut response = answer.await?;
            // An OK stands in trailers; in headers it is an error that a service made of it.
            amend(response.headers_mut(), &rpc, |_| true);
            Ok(response.map(|inner| match inner.is_end_stream() {
                true => inner,
                false => Body::new(Completed { inner, rpc }),
            }))
        }
        .boxed()
    }
}

/// Only where there is a status that lacks them; metadata beside it stays.
fn amend(headers: &mut HeaderMap, rpc: &str, is_error: fn(Code) -> bool) {
    if headers.contains_key(Status::GRPC_STATUS_DETAILS) {
        return;
    }
    let Some(found) = Status::from_header_map(headers).filter(|status| is_error(status.code())) else {
        return;
    };
    let complete = complete(Status::new(found.code(), found.message()), rpc);
    // What cannot be written as headers goes without details, as it came.
    let mut fresh = HeaderMap::new();
    if complete.add_header(&mut fresh).is_ok() {
        headers.extend(fresh);
    }
}

pin_project_lite::pin_project! {
    struct Completed {
        #[pin]
        inner: Body,
        rpc: Arc<str>,
    }
}

impl http_body::Body for Completed {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let this = self.project();
        let mut frame = ready!(this.inner.poll_frame(cx));
        if let Some(Ok(frame)) = &mut frame
            && let Some(trailers) = frame.trailers_mut()
        {
            amend(trailers, this.rpc, |code| code != Code::Ok);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
