//! The HTTP+JSON side of the port: finds the route, reads the body within its limit, hands both to the
//! transcoder.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use http::HeaderValue;
use http::header::{ALLOW, CONTENT_LENGTH};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::service::Service;
use tokio::time::timeout;
use tonic::body::Body;

use super::heartbeat;
use super::protocol::{Door, Request, Response};
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
                match read(body, declared, limit).await {
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

async fn read(body: Body, declared: Option<u64>, limit: usize) -> Result<Bytes, Error> {
    let too_large = || Error::new(Cause::BodyTooLarge, format!("the body is larger than {limit} bytes"));
    // A client that says so beforehand need not send it.
    if declared.is_some_and(|length| length > limit as u64) {
        return Err(too_large());
    }
    match timeout(BODY, Limited::new(body, limit).collect()).await {
        Ok(Ok(whole)) => Ok(whole.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large()),
        Ok(Err(_)) => Err(Error::malformed("", "the body broke off")),
        Err(_) => {
            Err(Error::new(Cause::BodyTooSlow, format!("the body did not come within {} s", BODY.as_secs())))
        }
    }
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
        let never = futures::stream::pending::<Result<http_body::Frame<Bytes>, tonic::Status>>();
        let started = tokio::time::Instant::now();
        let error = read(Body::new(http_body_util::StreamBody::new(never)), None, 1024).await.unwrap_err();
        assert_eq!(started.elapsed().as_secs(), BODY.as_secs());
        assert_eq!(error.to_string(), "the body did not come within 60 s");
        let response = Protocol::Http.refuse(error, Media::Json);
        assert_eq!(response.status(), 408);
    }
}
