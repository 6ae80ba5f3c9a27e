//! Gemini's API over HTTP: bytes pass through where the model speaks it too; else the generated routes answer.

mod passed;

use std::sync::Arc;

use http::StatusCode;
use tonic::body::Body;

use self::passed::Passed;
use crate::domain::error::Error;
use crate::domain::model::{Relay, Relayed, Verb};
use crate::proto::gemini::{generative_service_http, model_service_http};
use crate::service::gemini::Gemini;
use crate::service::who;
use crate::transcode::vendor::refuse;
use crate::transcode::{Call, Response, Route};

/// What stands behind the colon.
const VERBS: [(&str, Verb); 5] = [
    ("generateContent", Verb::Generate),
    ("streamGenerateContent", Verb::Stream),
    ("countTokens", Verb::Count),
    ("embedContent", Verb::Embed),
    ("batchEmbedContents", Verb::BatchEmbed),
];

pub fn routes(service: &Arc<Gemini>) -> Vec<Route> {
    let generated = generative_service_http::routes(service);
    let passing = generated.into_iter().map(|route| match verb(&route) {
        Some(verb) => through(service, verb, route),
        None => route,
    });
    passing.chain(model_service_http::routes(service)).collect()
}

fn verb(route: &Route) -> Option<Verb> {
    let (_, name) = route.rule().template.rsplit_once(':')?;
    VERBS.iter().find(|(known, _)| *known == name).map(|(_, verb)| *verb)
}

fn through(service: &Arc<Gemini>, verb: Verb, route: Route) -> Route {
    let service = Arc::clone(service);
    Route::plain(route.rule(), move |call| {
        let (service, route) = (Arc::clone(&service), route.clone());
        async move {
            match relayed(&service, verb, &call).await {
                Some(Ok(answer)) => response(answer),
                Some(Err(error)) => refuse(call.mount().dialect, &error.into(), call.id(), call.media),
                None => route.handle(call).await,
            }
        }
    })
}

async fn relayed(service: &Gemini, verb: Verb, call: &Call) -> Option<Result<Relayed, Error>> {
    // What is no text is refused on the other way.
    let model = call.variable(0).ok()?;
    let who = match who(&call.parts.extensions) {
        Ok(who) => who,
        Err(error) => return Some(Err(error)),
    };
    let events = wants_events(call.parts.uri.query());
    service.relay(&who, Relay { model, verb, events, body: call.body.clone() }).await
}

fn wants_events(query: Option<&str>) -> bool {
    query.unwrap_or_default().split('&').any(|pair| pair == "alt=sse")
}

/// No heartbeats: between the bytes of others nobody knows whether an event has ended.
fn response(answer: Relayed) -> Response {
    let Relayed { status, headers, length, body } = answer;
    let mut response = Response::new(Body::new(Passed::new(body, length)));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
    *response.headers_mut() = headers;
    response
}
