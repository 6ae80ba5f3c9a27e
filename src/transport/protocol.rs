//! Which protocol a request speaks, and how a refusal looks in it.

use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method, Version};
use tonic::Status;
use tonic::body::Body;

use super::handler::jsonrpc as jsonrpc_handler;
use crate::domain::error::{Cause, Error};
use crate::domain::request_id::RequestId;
use crate::facade::Vendor;
use crate::transcode::{self, Media, jsonrpc};

pub type Request = http::Request<Body>;
pub type Response = http::Response<Body>;

/// What tonic-web reads.
const WEB_TYPES: [&str; 4] = [
    "application/grpc-web",
    "application/grpc-web+proto",
    "application/grpc-web-text",
    "application/grpc-web-text+proto",
];

/// Decided by the content type alone: a path belongs to gRPC only if the client says that it speaks gRPC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Protocol {
    Grpc,
    GrpcWeb,
    Http,
}

impl Protocol {
    pub(super) fn of<B>(request: &http::Request<B>) -> Self {
        let content_type = request.headers().get(CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
        if content_type.starts_with(b"application/grpc-web") {
            Self::GrpcWeb
        } else if content_type.starts_with(b"application/grpc") {
            Self::Grpc
        } else {
            Self::Http
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Grpc => "grpc",
            Self::GrpcWeb => "grpc-web",
            Self::Http => "http",
        }
    }

    /// An error in the shape that this client can read.
    pub(super) fn refuse(self, error: Error, media: Media) -> Response {
        let status = Status::from(error);
        match self {
            Self::Http => transcode::error(&status, media),
            Self::Grpc => status.into_http(),
            Self::GrpcWeb => {
                let mut response = status.into_http();
                let web = HeaderValue::from_static("application/grpc-web+proto");
                response.headers_mut().insert(CONTENT_TYPE, web);
                response
            }
        }
    }
}

/// What is wrong with a request that says it is gRPC and cannot be. Its client most likely is none, so whoever
/// refuses it does so in plain JSON.
pub(super) fn not_really_grpc<B>(request: &http::Request<B>) -> Option<Error> {
    let protocol = Protocol::of(request);
    let content_type = request.headers().get(CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
    let refuse = |cause, problem: String| Some(Error::new(cause, problem));
    match protocol {
        Protocol::Http => None,
        _ if request.method() != Method::POST => refuse(
            Cause::MethodNotAllowed,
            format!("a call of {content_type} is a POST, not a {}", request.method()),
        ),
        Protocol::Grpc if request.version() < Version::HTTP_2 => refuse(
            Cause::InvalidRequest,
            format!("gRPC needs HTTP/2, and this is {:?}; use HTTP/2, or gRPC-Web", request.version()),
        ),
        Protocol::GrpcWeb if !WEB_TYPES.contains(&content_type) => refuse(
            Cause::MediaTypeNotSupported,
            format!("the content type {content_type:?} is not served; send {}", WEB_TYPES.join(" or ")),
        ),
        Protocol::Grpc | Protocol::GrpcWeb => None,
    }
}

/// Refuses a request in its own protocol and media type.
pub(super) fn refuse<B>(request: &http::Request<B>, error: Error) -> Response {
    Door::of(request).refuse(error)
}

/// Where a request came in, and so what its client can read.
#[derive(Debug, Clone)]
pub(super) struct Door {
    words: Words,
    media: Media,
    id: Option<RequestId>,
}

#[derive(Debug, Clone, Copy)]
enum Words {
    Of(Protocol),
    JsonRpc,
    Vendor(Vendor),
}

impl Door {
    pub(super) fn of<B>(request: &http::Request<B>) -> Self {
        let (path, protocol) = (request.uri().path(), Protocol::of(request));
        let vendor = || Vendor::at(path, request.headers(), request.uri().query().unwrap_or_default());
        let words = match protocol {
            Protocol::Http if request.method() == Method::POST && jsonrpc_handler::is_at(path) => {
                Words::JsonRpc
            }
            Protocol::Http => vendor().map_or(Words::Of(protocol), Words::Vendor),
            Protocol::Grpc | Protocol::GrpcWeb => Words::Of(protocol),
        };
        Self { words, media: Media::of(request.headers()), id: request.extensions().get().cloned() }
    }

    pub(super) fn refuse(&self, error: Error) -> Response {
        let id = self.id.as_ref().map_or("", RequestId::as_str);
        match self.words {
            Words::Of(protocol) => protocol.refuse(error, self.media),
            Words::JsonRpc => refuse_rpc(error),
            Words::Vendor(vendor) => {
                transcode::vendor::refuse(Some(vendor.dialect()), &error.into(), id, self.media)
            }
        }
    }
}

/// In the envelope, with the HTTP status and headers that say the same to whoever stands between. The body was not
/// read, so the id of the call is not known.
fn refuse_rpc(error: Error) -> Response {
    let status = Status::from(error);
    let mut body = Vec::new();
    jsonrpc::error(&jsonrpc::Id::null(), &mut body, &jsonrpc::object(&status));
    transcode::error(&status, Media::Json).map(|_| Body::new(http_body_util::Full::from(body)))
}
