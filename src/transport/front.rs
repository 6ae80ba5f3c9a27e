//! The HTTP+JSON side of the port: finds the route, reads the body within its limit, hands both to the
//! transcoder.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures::FutureExt;
use futures::future::BoxFuture;
use http::header::{ALLOW, CONTENT_LENGTH};
use http::{HeaderValue, Version};
use http_body::{Body as _, Frame};
use http_body_util::{LengthLimitError, Limited};
use hyper::service::Service;
use tokio::time::timeout;
use tonic::body::Body;

use super::heartbeat;
use super::protocol::{Door, Request, Response};
use crate::domain::ears::deaf;
use crate::domain::error::{Cause, Error};
use crate::transcode::{Call, Found, Router};

/// A body that takes longer is held back on purpose, or its client is gone.
const BODY: Duration = Duration::from_mins(1);

#[derive(Debug, Clone)]
pub(super) struct Front {
    router: Arc<Router>,
    body_limit: usize,
}

impl Front {
    pub(super) fn new(router: Arc<Router>, body_limit: usize) -> Self {
        Self { router, body_limit }
    }

    async fn answer(self, request: Request) -> Response {
        let door = Door::of(&request);
        let (parts, body) = request.into_parts();
        let refuse = |error| door.refuse(error);
        match self.router.find(parts.method.as_str(), parts.uri.path()) {
            Found::Nothing => refuse(self.nothing_at(parts.uri.path())),
            Found::OtherMethods(methods) => refuse_method(&parts, &methods, &door),
            Found::Route { route, variables, mount } => {
                let declared = parts.headers.get(CONTENT_LENGTH).and_then(|v| v.to_str().ok()?.parse().ok());
                let limit = mount.body_limit.unwrap_or(self.body_limit);
                // In HTTP/2 one task drives the connection and others the requests.
                let alone = parts.version < Version::HTTP_2;
                match read(body, alone, declared, limit).await {
                    Err(error) => refuse(error),
                    Ok(body) => heartbeat::keep_alive(
                        route.handle(Call::new(route.rule(), variables, mount, parts, body)).await,
                    ),
                }
            }
        }
    }

    fn nothing_at(&self, path: &str) -> Error {
        let place = self.router.place_of(path.trim_start_matches('/'));
        let hint = place.map_or_else(String::new, |(method, template)| {
            format!(" for JSON; call {method} {template}, or send application/grpc or application/grpc-web")
        });
        Error::new(Cause::RouteNotFound, format!("nothing is at {path}{hint}"))
    }
}

/// `alone` says that the connection is driven by whoever reads.
async fn read(body: Body, alone: bool, declared: Option<u64>, limit: usize) -> Result<Bytes, Error> {
    let too_large = || Error::new(Cause::BodyTooLarge, format!("the body is larger than {limit} bytes"));
    // A client that says so beforehand need not send it.
    if declared.is_some_and(|length| length > limit as u64) {
        return Err(too_large());
    }
    let length = declared.and_then(|length| usize::try_from(length).ok()).unwrap_or_default();
    match timeout(BODY, whole(Limited::new(body, limit), alone, length)).await {
        Ok(Ok(whole)) => Ok(whole),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large()),
        Ok(Err(_)) => Err(Error::malformed("", "the body broke off")),
        Err(_) => {
            Err(Error::new(Cause::BodyTooSlow, format!("the body did not come within {} s", BODY.as_secs())))
        }
    }
}

/// `length` is what it is said to have, which is within its limit.
async fn whole(mut body: Limited<Body>, alone: bool, length: usize) -> Result<Bytes, Broken> {
    let (mut first, mut more) = (Bytes::new(), BytesMut::new());
    while let Some(frame) = poll_fn(|context| poll_frame(&mut body, alone, context)).await {
        match frame?.into_data() {
            // Most often it is the only one, and need not be copied.
            Ok(data) if first.is_empty() => first = data,
            Ok(data) => {
                if more.is_empty() {
                    more.reserve(length.max(first.len() + data.len()));
                    more.extend_from_slice(&first);
                }
                more.extend_from_slice(&data);
            }
            Err(_trailers) => {}
        }
        if body.is_end_stream() {
            break;
        }
    }
    Ok(if more.is_empty() { first } else { more.freeze() })
}

type Broken = Box<dyn std::error::Error + Send + Sync>;

/// The connection is told that there is room for more, which it need not hear where no more comes. Whoever is woken drives it too.
fn poll_frame(
    body: &mut Limited<Body>,
    alone: bool,
    context: &mut Context<'_>,
) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
    if !alone {
        return Pin::new(body).poll_frame(context);
    }
    let (frame, missed) = deaf(|| Pin::new(&mut *body).poll_frame(context));
    if missed && !body.is_end_stream() {
        context.waker().wake_by_ref();
    }
    frame
}

fn refuse_method(parts: &http::request::Parts, methods: &[&str], door: &Door) -> Response {
    let allowed = methods.join(", ");
    let message = format!("{} takes {allowed}, not {}", parts.uri.path(), parts.method);
    let error = Error::new(Cause::MethodNotAllowed, message);
    let mut response = door.refuse(error);
    if let Ok(value) = HeaderValue::from_str(&allowed) {
        response.headers_mut().insert(ALLOW, value);
    }
    response
}

impl Service<Request> for Front {
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn call(&self, request: Request) -> Self::Future {
        self.clone().answer(request).map(Ok).boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::super::protocol::Protocol;
    use super::*;
    use crate::transcode::Media;

    #[tokio::test(start_paused = true)]
    async fn a_body_that_does_not_come_is_given_up() {
        let never = futures::stream::pending::<Result<Frame<Bytes>, tonic::Status>>();
        let started = tokio::time::Instant::now();
        let error =
            read(Body::new(http_body_util::StreamBody::new(never)), true, None, 1024).await.unwrap_err();
        assert_eq!(started.elapsed().as_secs(), BODY.as_secs());
        assert_eq!(error.to_string(), "the body did not come within 60 s");
        let response = Protocol::Http.refuse(error, Media::Json);
        assert_eq!(response.status(), 408);
    }
}
