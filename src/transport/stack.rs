//! The rim in one screen: what a request goes through before a service sees it.

use std::convert::Infallible;
use std::future::ready;
use std::net::SocketAddr;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::{BoxFuture, Either};
use http::StatusCode;
use http::header::{ALLOW, HeaderValue};
use hyper::service::{Service, service_fn};
use tonic::service::Routes;
use tonic_web::GrpcWebLayer;
use tower::{ServiceBuilder, ServiceExt};

use super::access_log::AccessLog;
use super::auth::Access;
use super::complete::Complete;
use super::content_type::JsonOnly;
use super::cors::ForPages;
use super::deadline::Deadline;
use super::front::Front;
use super::gate::GateLayer;
use super::host::HostGuard;
use super::origin::{OriginGuard, Origins};
use super::panic::CatchPanic;
use super::protocol::{Protocol, Request, Response, not_really_grpc};
use crate::domain::error::Error;
use crate::transcode::{Media, Router};

/// The whole server as one service, which all connections share: a request copies nothing of it.
pub type Stack =
    Arc<dyn Service<Request, Response = Response, Error = Infallible, Future = Answer> + Send + Sync>;

type Answer = BoxFuture<'static, Result<Response, Infallible>>;

/// What the rim has to know.
#[derive(Debug)]
pub struct Rim {
    pub bound: SocketAddr,
    pub hosts: Vec<String>,
    pub origins: Origins,
    pub access: Access,
    pub body_limit: usize,
}

pub fn stack(rim: Rim, router: Arc<Router>, grpc: Routes) -> Stack {
    let service = ServiceBuilder::new()
        // Outermost, so that every answer has an id and every refusal a line in the log.
        .layer_fn(AccessLog)
        // Whatever fails behind this, the client gets an answer in its own protocol.
        .layer_fn(CatchPanic)
        // Before CORS: a foreign name gets nothing at all, not even a preflight.
        .layer(GateLayer::new(HostGuard::new(rim.bound, &rim.hosts)))
        // Answers preflights, which carry no key, and marks the answers that pages may read.
        .layer(ForPages::new(rim.origins.clone()))
        // CORS asks browsers to behave; this makes sure.
        .layer(GateLayer::new(OriginGuard(rim.origins)))
        // A form post needs no preflight. Stopped before its body is read.
        .layer(GateLayer::new(JsonOnly))
        // Last of the checks: from here on there is a principal, but for public paths, and no key in any header.
        .layer(GateLayer::new(rim.access))
        .service(split(Front::new(router, rim.body_limit), grpc));
    // Nothing here may spawn: the front wakes the task of the connection, which it takes for its own.
    Arc::new(service_fn(move |request| service.call(request).boxed()))
}

/// gRPC and gRPC-Web go to tonic, all else to the routes.
fn split(
    front: Front,
    grpc: Routes,
) -> impl Service<Request, Response = Response, Error = Infallible, Future: Send> + Send + Sync + 'static {
    let grpc = ServiceBuilder::new()
        // Outside of the deadline, so that an expired call ends in trailers that browsers can read.
        .layer(GrpcWebLayer::new())
        .layer_fn(Deadline)
        .layer_fn(Complete)
        .service(grpc.prepare());
    service_fn(move |request: Request| match (Protocol::of(&request), not_really_grpc(&request)) {
        (_, Some(error)) => Either::Left(ready(Ok(refuse_plainly(&request, error)))),
        (Protocol::Http, None) => Either::Right(Either::Left(front.call(request))),
        (Protocol::Grpc | Protocol::GrpcWeb, None) => {
            Either::Right(Either::Right(grpc.clone().oneshot(request)))
        }
    })
}

fn refuse_plainly(request: &Request, error: Error) -> Response {
    let mut response = Protocol::Http.refuse(error, Media::of(request.headers()));
    if response.status() == StatusCode::METHOD_NOT_ALLOWED {
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
    }
    response
}
