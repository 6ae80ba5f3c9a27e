//! A panic in a handler ends that request, in the client's own protocol, and nothing else.

use std::convert::Infallible;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures::FutureExt;
use futures::future::CatchUnwind;
use hyper::service::Service;

use super::protocol::{Door, Request, Response};
use crate::domain::error::{Cause, Error};

#[derive(Debug, Clone)]
pub(super) struct CatchPanic<S>(pub(super) S);

impl<S> Service<Request> for CatchPanic<S>
where
    S: Service<Request, Response = Response, Error = Infallible>,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Caught<S::Future>;

    fn call(&self, request: Request) -> Self::Future {
        let door = Door::of(&request);
        Caught { answer: AssertUnwindSafe(self.0.call(request)).catch_unwind(), door }
    }
}

pin_project_lite::pin_project! {
    pub(super) struct Caught<F> {
        #[pin]
        answer: CatchUnwind<AssertUnwindSafe<F>>,
        door: Door,
    }
}

impl<F: Future<Output = Result<Response, Infallible>>> Future for Caught<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let answered = ready!(this.answer.poll(cx));
        // The panic hook has logged where it happened.
        let failed = || this.door.refuse(Error::new(Cause::Internal, "the server failed at this request"));
        Poll::Ready(answered.unwrap_or_else(|_| Ok(failed())))
    }
}
