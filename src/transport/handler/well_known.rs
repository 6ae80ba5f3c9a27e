//! The public card at its well-known paths: one document for both generations, printed once, with what caches need.

use std::sync::Arc;
use std::time::SystemTime;

use chrono::{DateTime, Utc};
use http::header::{CACHE_CONTROL, ETAG, HeaderName, HeaderValue, IF_NONE_MATCH, LAST_MODIFIED};
use http::{HeaderMap, StatusCode};
use sha2::{Digest, Sha256};

use crate::projection::v03::card::Card;
use crate::proto::a2a::AgentCard;
use crate::proto::json::Unprintable;
use crate::transcode::{self, Body, Response, Route, Rule};

/// The second is where 0.2 looked for it.
static RULES: [Rule; 2] = [rule("/.well-known/agent-card.json"), rule("/.well-known/agent.json")];

const fn rule(template: &'static str) -> Rule {
    Rule { rpc: "", method: "GET", template, body: Body::None, response_body: None }
}

/// The card as it goes out.
struct Printed {
    body: Vec<u8>,
    headers: Vec<(HeaderName, HeaderValue)>,
    etag: String,
}

pub fn routes(card: &AgentCard, since: SystemTime) -> Result<Vec<Route>, Unprintable> {
    let printed = Arc::new(print(card, since)?);
    let route = |rule: &'static Rule| {
        let printed = Arc::clone(&printed);
        Route::plain(rule, move |call| {
            let response = answer(&printed, &call.parts.headers, call.media);
            async move { response }
        })
    };
    Ok(RULES.iter().map(route).collect())
}

fn print(card: &AgentCard, since: SystemTime) -> Result<Printed, Unprintable> {
    let body = serde_json::to_vec(&Card(card));
    let body = body.map_err(|e| Unprintable { message: "AgentCard".to_owned(), problem: e.to_string() })?;
    let hash: String = Sha256::digest(&body).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let etag = format!("\"{hash}\"");
    let modified = DateTime::<Utc>::from(since).format("%a, %d %b %Y %H:%M:%S GMT").to_string();
    let text = |name, value: &str| Some((name, HeaderValue::from_str(value).ok()?));
    let headers =
        [text(CACHE_CONTROL, "public, max-age=60"), text(ETAG, &etag), text(LAST_MODIFIED, &modified)];
    Ok(Printed { body, headers: headers.into_iter().flatten().collect(), etag })
}

fn answer(printed: &Printed, request: &HeaderMap, media: transcode::Media) -> Response {
    let known = request.get(IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    let fresh = known
        .is_some_and(|tags| tags.split(',').any(|tag| tag.trim().trim_start_matches("W/") == printed.etag));
    let mut response = if fresh {
        let mut response = Response::new(tonic::body::Body::empty());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    } else {
        transcode::json(StatusCode::OK, media, printed.body.clone())
    };
    response.headers_mut().extend(printed.headers.iter().cloned());
    response
}
