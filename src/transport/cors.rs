//! CORS: what browsers are told of the pages that the Origin guard lets in.

use std::time::Duration;

use http::{HeaderName, Method};
use tower_http::cors::{AllowHeaders, AllowOrigin, CorsLayer};

use super::origin::Origins;

/// What a page may read of an answer: gRPC-Web clients find the status of a call there.
const EXPOSED: [&str; 6] = [
    "grpc-status",
    "grpc-message",
    "grpc-status-details-bin",
    "x-request-id",
    "retry-after",
    "a2a-extensions",
];

pub(super) fn layer(origins: Origins) -> CorsLayer {
    CorsLayer::new()
        .allow_origin(AllowOrigin::predicate(move |origin, _| origins.allows(origin)))
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE])
        // gRPC clients send any metadata they like; the guard on the origin is what protects.
        .allow_headers(AllowHeaders::mirror_request())
        .expose_headers(EXPOSED.map(HeaderName::from_static))
        .max_age(Duration::from_hours(1))
}
