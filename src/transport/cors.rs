//! CORS: what browsers are told of the pages that the Origin guard lets in.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use futures::future::{BoxFuture, Either, FutureExt, MapOk, TryFutureExt};
use http::header::{HeaderValue, ORIGIN, VARY};
use http::{HeaderName, Method};
use hyper::service::Service;
use tower::{Layer, ServiceExt, service_fn};
use tower_http::cors::{AllowHeaders, AllowOrigin, CorsLayer};

use super::origin::Origins;
use super::protocol::{Request, Response};

/// What a page may read of an answer: gRPC-Web clients find the status of a call there, clients of vendors what became of
/// their request and where they stand.
const EXPOSED: [&str; 22] = [
    "grpc-status",
    "grpc-message",
    "grpc-status-details-bin",
    "x-request-id",
    "request-id",
    "retry-after",
    "retry-after-ms",
    "a2a-extensions",
    "x-agena-conversion",
    "x-agena-upstream",
    "x-ratelimit-limit-requests",
    "x-ratelimit-remaining-requests",
    "x-ratelimit-reset-requests",
    "x-ratelimit-limit-tokens",
    "x-ratelimit-remaining-tokens",
    "x-ratelimit-reset-tokens",
    "anthropic-ratelimit-requests-limit",
    "anthropic-ratelimit-requests-remaining",
    "anthropic-ratelimit-requests-reset",
    "anthropic-ratelimit-tokens-limit",
    "anthropic-ratelimit-tokens-remaining",
    "anthropic-ratelimit-tokens-reset",
];

fn headers(origins: Origins) -> CorsLayer {
    CorsLayer::new()
        .allow_origin(AllowOrigin::predicate(move |origin, _| origins.allows(origin)))
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE])
        // gRPC clients send any metadata they like; the guard on the origin is what protects.
        .allow_headers(AllowHeaders::mirror_request())
        .expose_headers(EXPOSED.map(HeaderName::from_static))
        .max_age(Duration::from_hours(1))
}

/// Only pages are told: a program does not ask, and half a kilobyte of headers would cost it more than its answer.
#[derive(Debug, Clone)]
pub(super) struct ForPages(CorsLayer);

impl ForPages {
    pub(super) fn new(origins: Origins) -> Self {
        Self(headers(origins))
    }
}

impl<S> Layer<S> for ForPages {
    type Service = PageOrProgram<S>;

    fn layer(&self, inner: S) -> Self::Service {
        PageOrProgram { cors: self.0.clone(), inner: Arc::new(inner) }
    }
}

#[derive(Debug)]
pub(super) struct PageOrProgram<S> {
    cors: CorsLayer,
    inner: Arc<S>,
}

impl<S> Service<Request> for PageOrProgram<S>
where
    S: Service<Request, Response = Response, Error = Infallible> + Send + Sync + 'static,
    S::Future: Send,
{
    type Response = Response;
    type Error = Infallible;
    type Future =
        Either<BoxFuture<'static, Result<Response, Infallible>>, MapOk<S::Future, fn(Response) -> Response>>;

    fn call(&self, request: Request) -> Self::Future {
        if request.headers().contains_key(ORIGIN) || request.method() == Method::OPTIONS {
            let inner = Arc::clone(&self.inner);
            let page = self.cors.layer(service_fn(move |request| inner.call(request)));
            return Either::Left(page.oneshot(request).boxed());
        }
        Either::Right(self.inner.call(request).map_ok(varying))
    }
}

/// What a cache keeps of it is not for pages.
fn varying(mut response: Response) -> Response {
    response.headers_mut().append(VARY, HeaderValue::from_static("origin"));
    response
}
