//! `/metrics`, for Prometheus. It needs a key like everything else: what is counted tells who asks what.

use std::sync::Arc;

use http::header::CONTENT_TYPE;
use http::{HeaderValue, StatusCode};

use crate::telemetry::metrics::Metrics;
use crate::transcode::{Body, Media, Route, Rule, json};

static RULE: Rule =
    Rule { rpc: "", method: "GET", template: "/metrics", body: Body::None, response_body: None };

pub fn routes(metrics: &Arc<Metrics>) -> Vec<Route> {
    let metrics = Arc::clone(metrics);
    vec![Route::plain(&RULE, move |_| {
        let mut answer = json(StatusCode::OK, Media::Json, metrics.print().into_bytes());
        answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(Metrics::CONTENT_TYPE));
        async { answer }
    })]
}
