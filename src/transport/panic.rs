//! A panic in a handler ends that request, in the client's own protocol, and nothing else.

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::task::{Context, Poll};

use futures::FutureExt;
use futures::future::BoxFuture;
use tower::Service;

use super::protocol::{Door, Request, Response};
use crate::domain::error::{Cause, Error};

#[derive(Debug, Clone)]
pub(super) struct CatchPanic<S>(pub(super) S);

impl<S> Service<Request> for CatchPanic<S>
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
        let door = Door::of(&request);
        let answer = AssertUnwindSafe(self.0.call(request)).catch_unwind();
        Box::pin(async move {
            answer.await.unwrap_or_else(|_| {
                // The panic hook has logged where it happened.
                Ok(door.refuse(Error::new(Cause::Internal, "the server failed at this request")))
            })
        })
    }
}
