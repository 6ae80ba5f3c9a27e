//! Which protocol a request speaks, and how a refusal looks in it.

use http::HeaderValue;
use http::header::CONTENT_TYPE;
use tonic::Status;
use tonic::body::Body;

use crate::domain::error::Error;
use crate::transcode::{self, Media};

pub type Request = http::Request<Body>;
pub type Response = http::Response<Body>;

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

/// Refuses a request in its own protocol and media type.
pub(super) fn refuse<B>(request: &http::Request<B>, error: Error) -> Response {
    Protocol::of(request).refuse(error, Media::of(request.headers()))
}
