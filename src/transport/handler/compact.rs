//! `POST /v1/responses/compact`, which some clients try first: said to be missing by a path of its own, since the paths of single
//! responses would say something else of it.

use tonic::Status;

use crate::domain::error::{Cause, Error};
use crate::transcode::vendor::refuse;
use crate::transcode::{Body, Route, Rule};

static RULE: Rule =
    Rule { rpc: "", method: "POST", template: "/v1/responses/compact", body: Body::All, response_body: None };

pub fn routes() -> Vec<Route> {
    vec![Route::plain(&RULE, |call| async move {
        let words = "nothing is compacted here; send a summary of the conversation as `input` instead";
        let status = Status::from(Error::new(Cause::RouteNotFound, words));
        refuse(call.mount().dialect, &status, call.id(), call.media)
    })]
}
