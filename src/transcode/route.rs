//! A route: what a `google.api.http` rule says, and the service call behind it. Generated code makes these;
//! the few paths that no annotation can express are made by hand, with `Route::plain`.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use futures::future::BoxFuture;
use tonic::Status;
use tonic::codegen::BoxStream;

use super::answer::{self, Media, Response};
use super::call::Call;
use super::{codec, sse};
use crate::domain::error::complete;
use crate::proto::schema::Schema;

/// One binding of an RPC, as its annotation says it.
#[derive(Debug)]
pub struct Rule {
    /// `package.Service/Method`, or nothing for a route without an RPC.
    pub rpc: &'static str,
    pub method: &'static str,
    pub template: &'static str,
    pub body: Body,
    /// Only this field of the response is the answer.
    pub response_body: Option<&'static str>,
}

/// Which part of the request message the body holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    None,
    All,
    Field(&'static str),
}

type Handler = Arc<dyn Fn(Call) -> BoxFuture<'static, Response> + Send + Sync>;

/// A rule and what to do for it.
#[derive(Clone)]
pub struct Route {
    pub(super) rule: &'static Rule,
    handler: Handler,
}

impl fmt::Debug for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rule.fmt(f)
    }
}

impl Route {
    /// One request, one answer.
    pub fn unary<S, Q, A, F>(
        rule: &'static Rule,
        service: &Arc<S>,
        read: fn(&Call) -> Result<Q, Status>,
        run: impl Fn(Arc<S>, tonic::Request<Q>) -> F + Copy + Send + Sync + 'static,
    ) -> Self
    where
        S: Send + Sync + 'static,
        Q: Schema,
        A: Schema,
        F: Future<Output = Result<tonic::Response<A>, Status>> + Send + 'static,
    {
        Self::rpc(rule, service, read, run, |answer, rule, media| {
            answer::unary(answer, rule.response_body, media)
        })
    }

    /// One request, a stream of server-sent events.
    pub fn streaming<S, Q, A, F>(
        rule: &'static Rule,
        service: &Arc<S>,
        read: fn(&Call) -> Result<Q, Status>,
        run: impl Fn(Arc<S>, tonic::Request<Q>) -> F + Copy + Send + Sync + 'static,
    ) -> Self
    where
        S: Send + Sync + 'static,
        Q: Schema,
        A: Schema,
        F: Future<Output = Result<tonic::Response<BoxStream<A>>, Status>> + Send + 'static,
    {
        Self::rpc(rule, service, read, run, |answer, _, _| Ok(sse::events(answer, sse::Plain)))
    }

    /// Reads and checks the message, calls the service, prints what it says.
    fn rpc<S, Q, A, F>(
        rule: &'static Rule,
        service: &Arc<S>,
        read: fn(&Call) -> Result<Q, Status>,
        run: impl Fn(Arc<S>, tonic::Request<Q>) -> F + Copy + Send + Sync + 'static,
        print: fn(tonic::Response<A>, &Rule, Media) -> Result<Response, Status>,
    ) -> Self
    where
        S: Send + Sync + 'static,
        Q: Schema,
        A: 'static,
        F: Future<Output = Result<tonic::Response<A>, Status>> + Send + 'static,
    {
        let service = Arc::clone(service);
        Self::new(rule, move |call: Call| {
            let service = Arc::clone(&service);
            async move {
                let media = call.media;
                let request = read(&call).and_then(codec::checked).map(|message| call.into_request(message));
                let answered = match request {
                    Ok(request) => run(service, request).await,
                    Err(status) => Err(status),
                };
                answered
                    .and_then(|answer| print(answer, rule, media))
                    .unwrap_or_else(|status| answer::error(&complete(status, rule.rpc), media))
            }
        })
    }

    /// A route without an RPC, answered by hand.
    pub fn plain<F>(rule: &'static Rule, run: impl Fn(Call) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Response> + Send + 'static,
    {
        Self::new(rule, run)
    }

    pub(super) fn new<F>(rule: &'static Rule, run: impl Fn(Call) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Response> + Send + 'static,
    {
        Self { rule, handler: Arc::new(move |call| Box::pin(run(call))) }
    }

    /// The same handler at another place.
    pub fn also(&self, rule: &'static Rule) -> Self {
        Self { rule, handler: Arc::clone(&self.handler) }
    }

    pub fn rule(&self) -> &'static Rule {
        self.rule
    }

    pub fn handle(&self, call: Call) -> BoxFuture<'static, Response> {
        (self.handler)(call)
    }
}
