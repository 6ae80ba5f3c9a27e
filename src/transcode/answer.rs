//! Answers of an RPC as HTTP: a message as JSON, a status as google.rpc.Status JSON.

use std::collections::BTreeMap;

use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderName, StatusCode};
use serde::Serialize;
use serde_json::value::RawValue;
use tonic::{Code, Status};

use crate::domain::error::{Wire, code_name, details, retry_delay};
use crate::proto::json;
use crate::proto::schema::Schema;
use crate::proto::wkt::Any;

/// What every handler gives back. The body may still be a stream.
pub type Response = http::Response<tonic::body::Body>;

/// The JSON media type that the client speaks; answers are in kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Media {
    #[default]
    Json,
    A2aJson,
}

impl Media {
    const A2A: &'static str = "application/a2a+json";

    pub fn of(headers: &HeaderMap) -> Self {
        let names_it = |name| headers.get(name).and_then(|v: &HeaderValue| v.to_str().ok());
        let a2a = [CONTENT_TYPE, ACCEPT].into_iter().filter_map(names_it).any(|v| v.contains(Self::A2A));
        if a2a { Self::A2aJson } else { Self::Json }
    }

    fn content_type(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Self::Json => "application/json",
            Self::A2aJson => Self::A2A,
        })
    }
}

/// A JSON document as an answer.
pub fn json(code: StatusCode, media: Media, body: Vec<u8>) -> Response {
    let mut response = Response::new(tonic::body::Body::new(http_body_util::Full::from(body)));
    *response.status_mut() = code;
    response.headers_mut().insert(CONTENT_TYPE, media.content_type());
    response
}

/// The answer of a unary RPC, or the one field of it that the rule asks for.
pub(super) fn unary<T: Schema>(
    answer: tonic::Response<T>,
    member: Option<&'static str>,
    media: Media,
) -> Result<Response, Status> {
    let (metadata, message, _) = answer.into_parts();
    let mut body = Vec::with_capacity(256);
    json::encode(&message, &mut body).map_err(unprintable)?;
    if let Some(name) = member {
        body = pick::<T>(&body, name)?;
    }
    let mut response = json(StatusCode::OK, media, body);
    copy_metadata(metadata.into_headers(), response.headers_mut());
    Ok(response)
}

/// A member at its default is not printed, and still the whole answer.
fn pick<T: Schema>(body: &[u8], name: &str) -> Result<Vec<u8>, Status> {
    let field = T::fields().iter().find(|field| field.name == name);
    let mut tree: BTreeMap<String, Box<RawValue>> = serde_json::from_slice(body).map_err(unprintable)?;
    let member = tree.remove(field.map_or(name, |field| field.printed));
    let default = field.map_or("null", |field| field.default);
    Ok(member.as_deref().map_or(default, RawValue::get).as_bytes().to_vec())
}

pub fn unprintable(error: impl std::error::Error) -> Status {
    tracing::error!(%error, "an answer cannot be written");
    Status::internal("the answer cannot be written as JSON")
}

/// What a service sets as metadata is a header here, but for the words that belong to HTTP or gRPC itself.
pub fn copy_metadata(metadata: HeaderMap, headers: &mut HeaderMap) {
    for (name, value) in &metadata {
        if !is_own(name) {
            headers.append(name, value.clone());
        }
    }
}

/// The same where nothing but single words stand there yet, which win.
pub(super) fn move_metadata(metadata: HeaderMap, headers: &mut HeaderMap) {
    if metadata.keys().any(is_own) {
        return copy_metadata(metadata, headers);
    }
    let own = std::mem::replace(headers, metadata);
    headers.extend(own);
}

fn is_own(name: &HeaderName) -> bool {
    let name = name.as_str();
    name.starts_with("grpc-") || matches!(name, "content-type" | "content-length" | "te")
}

/// A status as an HTTP answer.
pub fn error(status: &Status, media: Media) -> Response {
    let wire = Wire::of(status);
    let code = StatusCode::from_u16(wire.http).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = json(code, media, error_body(status, wire));
    let headers = response.headers_mut();
    copy_metadata(status.metadata().clone().into_headers(), headers);
    if status.code() == Code::Unauthenticated {
        headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"agena\""));
    }
    if let Some(seconds) = retry_seconds(status) {
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// `Retry-After` has whole seconds; rounding down would invite the client too early.
fn retry_seconds(status: &Status) -> Option<u64> {
    let delay = retry_delay(status)?;
    Some(delay.as_secs() + u64::from(delay.subsec_nanos() > 0))
}

/// The object that an error is, for dialects that print it as Google does.
pub fn error_object(status: &Status, out: &mut Vec<u8>) {
    out.extend_from_slice(&error_body(status, Wire::of(status)));
}

#[derive(Serialize)]
struct ErrorBody<'a> {
    error: ErrorObject<'a>,
}

#[derive(Serialize)]
struct ErrorObject<'a> {
    code: u16,
    status: &'static str,
    message: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    details: Vec<Any>,
}

/// `{"error": {...}}`, the same in an answer and in an event.
pub(super) fn error_body(status: &Status, wire: Wire) -> Vec<u8> {
    let details = details(status).map(|d| d.details).unwrap_or_default();
    let object =
        ErrorObject { code: wire.http, status: code_name(status.code()), message: status.message(), details };
    let printed = serde_json::to_vec(&ErrorBody { error: object });
    printed.unwrap_or_else(|_| {
        br#"{"error":{"code":500,"status":"INTERNAL","message":"the error cannot be written"}}"#.to_vec()
    })
}
