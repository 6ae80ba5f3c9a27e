//! A check of the rim: looks at a request before anything is decoded and lets it pass or refuses it. Each kind
//! of check is one pure `Gate` in a file of its own; the stack says in which order they stand.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::sync::Arc;

use futures::future::Either;
use hyper::service::Service;
use tower::Layer;

use super::protocol::{Request, Response, refuse};
use crate::domain::error::Error;

pub(super) trait Gate: Send + Sync + 'static {
    /// May add to the request what it found out.
    fn admit(&self, request: &mut Request) -> Result<(), Error>;
}

pub(super) struct GateLayer<G>(Arc<G>);

impl<G> GateLayer<G> {
    pub(super) fn new(gate: G) -> Self {
        Self(Arc::new(gate))
    }
}

impl<S, G> Layer<S> for GateLayer<G> {
    type Service = Gated<S, G>;

    fn layer(&self, inner: S) -> Gated<S, G> {
        Gated { inner, gate: Arc::clone(&self.0) }
    }
}

pub(super) struct Gated<S, G> {
    inner: S,
    gate: Arc<G>,
}

impl<S, G> Service<Request> for Gated<S, G>
where
    S: Service<Request, Response = Response, Error = Infallible>,
    G: Gate,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Either<Ready<Result<Response, Infallible>>, S::Future>;

    fn call(&self, mut request: Request) -> Self::Future {
        match self.gate.admit(&mut request) {
            Ok(()) => Either::Right(self.inner.call(request)),
            Err(error) => Either::Left(ready(Ok(refuse(&request, error)))),
        }
    }
}
