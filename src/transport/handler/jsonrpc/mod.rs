//! A2A over JSON-RPC, both generations at one address: the method says which one speaks, and `A2A-Version` must not
//! contradict it.

mod commands;
pub(super) mod legacy;
mod native;

use std::sync::Arc;

use http::{HeaderMap, StatusCode};
use tonic::Status;

use crate::domain::dialect::Dialect;
use crate::domain::error::{Cause, Error};
use crate::service::a2a::A2a;
use crate::transcode::jsonrpc::{Envelope, Id};
use crate::transcode::{Body, Call, Media, Response, Route, Rule, copy_metadata, json};

static RULES: [Rule; 2] = [rule("/"), rule("/a2a/rpc")];

const fn rule(template: &'static str) -> Rule {
    Rule { rpc: "", method: "POST", template, body: Body::All, response_body: None }
}

/// Whether JSON-RPC is spoken there, so that a refusal on the way in is one of JSON-RPC too.
pub(in crate::transport) fn is_at(path: &str) -> bool {
    let path = path.strip_suffix('/').unwrap_or(path);
    RULES.iter().any(|rule| rule.template.trim_end_matches('/') == path)
}

/// At the root and below `/a2a`.
pub fn routes(service: &Arc<A2a>) -> Vec<Route> {
    let route = |rule: &'static Rule| {
        let service = Arc::clone(service);
        Route::plain(rule, move |call| answer(Arc::clone(&service), call))
    };
    RULES.iter().map(route).collect()
}

async fn answer(service: Arc<A2a>, call: Call) -> Response {
    match Envelope::parse(&call.body) {
        // A2A has no notifications: a call without an id is a slip, and its sender waits for the answer all the same.
        Ok(envelope) => carry_out(service, call, envelope).await,
        Err((id, error)) => native::refuse(&id, &error.into()),
    }
}

async fn carry_out(service: Arc<A2a>, call: Call, envelope: Envelope) -> Response {
    let Envelope { id, method, params } = envelope;
    let version = version(&call);
    let rpc = Rpc { call, id, params };
    if native::knows(&method) {
        return match check_native(&version) {
            Ok(()) => native::answer(&service, &method, rpc).await,
            Err(error) => native::refuse(&rpc.id, &error.into()),
        };
    }
    if commands::knows(&method) {
        // The extension has no versions of its own; the events are those of whoever asks.
        let dialect = if version.starts_with('1') { Dialect::V10 } else { Dialect::V03 };
        return match check_legacy(&version) {
            Ok(()) => commands::answer(&service, &method, rpc, dialect).await,
            Err(error) => native::refuse(&rpc.id, &error.into()),
        };
    }
    match check_legacy(&version) {
        Ok(()) => legacy::answer(&service, &method, rpc).await,
        Err(error) => native::refuse(&rpc.id, &error.into()),
    }
}

/// One call on its way.
struct Rpc {
    call: Call,
    id: Id,
    params: String,
}

impl Rpc {
    fn request<T>(&self, message: T, dialect: Dialect) -> tonic::Request<T> {
        let mut request = self.call.request(message);
        request.extensions_mut().insert(dialect);
        request
    }
}

/// Without a version a client speaks 0.3, which does not have these methods.
fn check_native(version: &str) -> Result<(), Error> {
    match version {
        "" => Err(unsupported("this method is 1.0's; say so with \"A2A-Version: 1.0\"")),
        // The service looks at the rest.
        _ => Ok(()),
    }
}

fn check_legacy(version: &str) -> Result<(), Error> {
    let major_minor = version.splitn(3, '.').take(2).collect::<Vec<_>>().join(".");
    match major_minor.as_str() {
        "" | "0.3" | "1" | "1.0" => Ok(()),
        _ => Err(unsupported(&format!("A2A-Version {version:?} is not served here; 1.0 and 0.3 are"))),
    }
}

fn unsupported(message: &str) -> Error {
    Error::new(Cause::VersionNotSupported, message).with("supportedVersions", "1.0, 0.3")
}

fn version(call: &Call) -> String {
    let version = call.version();
    version.as_ref().and_then(|value| value.to_str().ok()).unwrap_or_default().trim().to_owned()
}

fn unknown(method: &str) -> Status {
    Error::new(Cause::MethodUnknown, format!("there is no method {method:?}")).into()
}

/// JSON-RPC says everything inside of the envelope, so HTTP always says 200.
fn document(body: Vec<u8>, metadata: HeaderMap) -> Response {
    let mut response = json(StatusCode::OK, Media::Json, body);
    copy_metadata(metadata, response.headers_mut());
    response
}
