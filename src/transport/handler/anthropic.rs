//! Anthropic's API over HTTP: the generated routes, with the header that the vendor demands and the one that it sends.

use std::sync::Arc;

use http::{HeaderName, HeaderValue};

use crate::domain::error::Error;
use crate::proto::anthropic::{messages_service_http, models_service_http};
use crate::service::anthropic::{Anthropic, VERSION};
use crate::transcode::vendor::refuse;
use crate::transcode::{Call, Response, Route};

const REQUEST_ID: HeaderName = HeaderName::from_static("request-id");

pub fn routes(service: &Arc<Anthropic>) -> Vec<Route> {
    let generated =
        messages_service_http::routes(service).into_iter().chain(models_service_http::routes(service));
    generated.map(versioned).collect()
}

fn versioned(route: Route) -> Route {
    Route::plain(route.rule(), move |call| {
        let route = route.clone();
        async move {
            let id = HeaderValue::from_str(call.id());
            let mut response = match missing(&call) {
                Some(error) => refuse(call.mount().dialect, &error.into(), call.id(), call.media),
                None => route.handle(call).await,
            };
            named(&mut response, id.ok());
            response
        }
    })
}

/// What a version changes would else be a guess.
fn missing(call: &Call) -> Option<Error> {
    let none = !call.parts.headers.contains_key(VERSION);
    none.then(|| Error::field(VERSION, "header is required, for example 2023-06-01"))
}

/// Clients put it into what they log.
fn named(response: &mut Response, id: Option<HeaderValue>) {
    if let Some(id) = id.filter(|id| !id.is_empty()) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
}
