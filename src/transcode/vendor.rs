//! Routes of services whose JSON is a vendor's: what generated code makes of their annotations. The path of a unary call
//! and of a stream may be one; then the request says which it wants. Knows no vendor: a [`Dialect`] prints errors, and
//! the items of a stream say how they are framed.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;

use http::StatusCode;
use prost::Name;
use serde::Serialize;
use tonic::Status;
use tonic::codegen::BoxStream;

use super::answer::{Media, Response, copy_metadata, json, move_metadata, unprintable};
use super::call::Call;
use super::route::{Route, Rule};
use super::sse::{Beat, EVENT_STREAM, Framing, events};
use super::{answer, codec};
use crate::domain::error::complete;
use crate::proto::schema::Schema;
use crate::proto::vendor;

/// How a vendor says what went wrong.
pub trait Dialect: fmt::Debug + Send + Sync {
    /// As an answer. `id` is the name of the request, for vendors that print it.
    fn error(&self, status: &Status, id: &str) -> Response;
}

/// An item of a vendor's stream.
pub trait Event: Serialize + Name + Send + 'static {
    /// The name of the event that an error is.
    const ERROR: Option<&'static str>;

    /// By what the query of the call asks for.
    fn frames(_query: &str) -> &'static Frames {
        &Frames::EVENTS
    }

    /// The name of this event, where the dialect has names.
    fn name(&self) -> Option<&str> {
        None
    }

    /// The object that an error is.
    fn error(status: &Status, id: &str, out: &mut Vec<u8>);
}

/// What stands around the items of a stream.
#[derive(Debug, Clone, Copy)]
pub struct Frames {
    pub content_type: &'static str,
    pub first: &'static str,
    pub next: &'static str,
    pub behind: &'static str,
    /// When all went well.
    pub done: &'static str,
    /// In any case, as the last.
    pub end: &'static str,
    pub beat: &'static [u8],
}

impl Frames {
    /// Server-sent events, kept alive by comments.
    pub const EVENTS: Self = Self {
        content_type: EVENT_STREAM,
        first: "data: ",
        next: "data: ",
        behind: "\n\n",
        done: "",
        end: "",
        beat: b":\n\n",
    };
}

impl Route {
    /// One request, one answer, in a vendor's JSON.
    pub fn vendor_unary<S, Q, A, F>(
        rule: &'static Rule,
        service: &Arc<S>,
        read: fn(&Call) -> Result<Q, Status>,
        run: impl Fn(Arc<S>, tonic::Request<Q>) -> F + Copy + Send + Sync + 'static,
    ) -> Self
    where
        S: Send + Sync + 'static,
        Q: Schema,
        A: Serialize + Name,
        F: Future<Output = Result<tonic::Response<A>, Status>> + Send + 'static,
    {
        let service = Arc::clone(service);
        Self::new(rule, move |call: Call| {
            let service = Arc::clone(&service);
            async move {
                match taken(&call, read) {
                    Ok(message) => unary(call, rule, message, |request| run(service, request)).await,
                    Err(status) => refused(&call, rule, status),
                }
            }
        })
    }

    /// One request, a stream of events in a vendor's JSON.
    pub fn vendor_streaming<S, Q, A, F>(
        rule: &'static Rule,
        service: &Arc<S>,
        read: fn(&Call) -> Result<Q, Status>,
        run: impl Fn(Arc<S>, tonic::Request<Q>) -> F + Copy + Send + Sync + 'static,
    ) -> Self
    where
        S: Send + Sync + 'static,
        Q: Schema,
        A: Event,
        F: Future<Output = Result<tonic::Response<BoxStream<A>>, Status>> + Send + 'static,
    {
        let service = Arc::clone(service);
        Self::new(rule, move |call: Call| {
            let service = Arc::clone(&service);
            async move {
                match taken(&call, read) {
                    Ok(message) => streaming(call, rule, message, |request| run(service, request)).await,
                    Err(status) => refused(&call, rule, status),
                }
            }
        })
    }

    /// One of the two, as the request says.
    pub fn vendor_either<S, Q, A, E, F, G>(
        rule: &'static Rule,
        service: &Arc<S>,
        read: fn(&Call) -> Result<Q, Status>,
        streams: fn(&Q) -> bool,
        run: impl Fn(Arc<S>, tonic::Request<Q>) -> F + Copy + Send + Sync + 'static,
        stream: impl Fn(Arc<S>, tonic::Request<Q>) -> G + Copy + Send + Sync + 'static,
    ) -> Self
    where
        S: Send + Sync + 'static,
        Q: Schema,
        A: Serialize + Name + Send,
        E: Event,
        F: Future<Output = Result<tonic::Response<A>, Status>> + Send + 'static,
        G: Future<Output = Result<tonic::Response<BoxStream<E>>, Status>> + Send + 'static,
    {
        let service = Arc::clone(service);
        Self::new(rule, move |call: Call| {
            let service = Arc::clone(&service);
            async move {
                match taken(&call, read) {
                    Ok(message) if streams(&message) => {
                        streaming(call, rule, message, |request| stream(service, request)).await
                    }
                    Ok(message) => unary(call, rule, message, |request| run(service, request)).await,
                    Err(status) => refused(&call, rule, status),
                }
            }
        })
    }
}

fn taken<Q: Schema>(call: &Call, read: fn(&Call) -> Result<Q, Status>) -> Result<Q, Status> {
    read(call).and_then(codec::checked)
}

fn refused(call: &Call, rule: &Rule, status: Status) -> Response {
    refuse(call.mount().dialect, &complete(status, rule.rpc), call.id(), call.media)
}

/// In the words of the dialect, where there is one.
pub fn refuse(dialect: Option<&dyn Dialect>, status: &Status, id: &str, media: Media) -> Response {
    match dialect {
        Some(dialect) => {
            let mut response = dialect.error(status, id);
            copy_metadata(status.metadata().clone().into_headers(), response.headers_mut());
            response
        }
        None => answer::error(status, media),
    }
}

async fn unary<Q, A, F>(
    call: Call,
    rule: &Rule,
    message: Q,
    run: impl FnOnce(tonic::Request<Q>) -> F,
) -> Response
where
    A: Serialize + Name,
    F: Future<Output = Result<tonic::Response<A>, Status>>,
{
    let (dialect, id, media) = (call.mount().dialect, call.id().to_owned(), call.media);
    let answered = run(call.into_request(message)).await.and_then(printed);
    answered.unwrap_or_else(|status| refuse(dialect, &complete(status, rule.rpc), &id, media))
}

fn printed<A: Serialize + Name>(answer: tonic::Response<A>) -> Result<Response, Status> {
    let (metadata, message, _) = answer.into_parts();
    let mut body = Vec::with_capacity(1024);
    vendor::encode(&message, &mut body).map_err(unprintable)?;
    let mut response = json(StatusCode::OK, Media::Json, body);
    move_metadata(metadata.into_headers(), response.headers_mut());
    Ok(response)
}

async fn streaming<Q, A, F>(
    call: Call,
    rule: &'static Rule,
    message: Q,
    run: impl FnOnce(tonic::Request<Q>) -> F,
) -> Response
where
    A: Event,
    F: Future<Output = Result<tonic::Response<BoxStream<A>>, Status>>,
{
    let (dialect, id, media) = (call.mount().dialect, call.id().to_owned(), call.media);
    let frames = A::frames(call.parts.uri.query().unwrap_or_default());
    match run(call.into_request(message)).await {
        Ok(answer) => {
            events(answer, Framed::<A> { frames, id, rpc: rule.rpc, begun: false, items: PhantomData })
        }
        Err(status) => refuse(dialect, &complete(status, rule.rpc), &id, media),
    }
}

/// A vendor's way of writing a stream.
struct Framed<A> {
    frames: &'static Frames,
    id: String,
    rpc: &'static str,
    begun: bool,
    items: PhantomData<fn() -> A>,
}

impl<A: Event> Framing<A> for Framed<A> {
    const ERROR: Option<&'static str> = A::ERROR;

    fn item(&mut self, item: &A, out: &mut Vec<u8>) -> Result<(), Status> {
        vendor::encode(item, out).map_err(unprintable)
    }

    fn error(&mut self, status: &Status, out: &mut Vec<u8>) {
        A::error(&complete(status.clone(), self.rpc), &self.id, out);
    }

    fn before(&mut self, item: Option<&A>, out: &mut Vec<u8>) {
        if let Some(name) = item.and_then(Event::name) {
            out.extend_from_slice(b"event: ");
            out.extend_from_slice(name.as_bytes());
            out.push(b'\n');
        }
        let first = !std::mem::replace(&mut self.begun, true);
        out.extend_from_slice(if first { self.frames.first } else { self.frames.next }.as_bytes());
    }

    fn behind(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.frames.behind.as_bytes());
    }

    fn end(&mut self, failed: bool, out: &mut Vec<u8>) {
        if !self.begun {
            out.extend_from_slice(if self.frames.end.is_empty() { "" } else { self.frames.first }.as_bytes());
        }
        out.extend_from_slice(if failed { "" } else { self.frames.done }.as_bytes());
        out.extend_from_slice(self.frames.end.as_bytes());
    }

    fn content_type(&self) -> &'static str {
        self.frames.content_type
    }

    fn beat(&self) -> Beat {
        Beat(self.frames.beat)
    }
}
