//! CORS: what browsers are told of the pages that the Origin guard lets in.

use std::time::Duration;

use http::{HeaderName, Method};
use tower_http::cors::{AllowHeaders, AllowOrigin, CorsLayer};

use super::origin::Origins;

/// What a page may read of an answer: gRPC-Web clients find the status of a call there, clients of vendors what became of
/// their request and where they stand.
const EXPOSED: [&str; 22] = [
    "grpc-status",
    "grpc-message",
    "grpc-status-details-bin",
    "x-request-id",
    "request-id",
    "retry-after",
    "retry-after-ms",
    "a2a-extensions",
    "x-agena-conversion",
    "x-agena-upstream",
    "x-ratelimit-limit-requests",
    "x-ratelimit-remaining-requests",
    "x-ratelimit-reset-requests",
    "x-ratelimit-limit-tokens",
    "x-ratelimit-remaining-tokens",
    "x-ratelimit-reset-tokens",
    "anthropic-ratelimit-requests-limit",
    "anthropic-ratelimit-requests-remaining",
    "anthropic-ratelimit-requests-reset",
    "anthropic-ratelimit-tokens-limit",
    "anthropic-ratelimit-tokens-remaining",
    "anthropic-ratelimit-tokens-reset",
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
