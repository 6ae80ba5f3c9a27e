//! `/healthz`, for whoever watches the process. gRPC's own health service answers the same question there.

use http::StatusCode;

use crate::transcode::{Body, Media, Route, Rule, json};

static RULE: Rule =
    Rule { rpc: "", method: "GET", template: "/healthz", body: Body::None, response_body: None };

pub fn routes() -> Vec<Route> {
    vec![Route::plain(&RULE, |_| async {
        json(StatusCode::OK, Media::Json, br#"{"status":"SERVING"}"#.to_vec())
    })]
}
