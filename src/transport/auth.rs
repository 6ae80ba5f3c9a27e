//! Authentication: who holds the key that a request brings, wherever its protocol puts it. Afterwards no
//! header carries the key any more, so nothing behind this can log or forward it.

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, Method};
use tracing::Span;

use super::gate::Gate;
use super::handler::console;
use super::protocol::{Protocol, Request};
use crate::domain::error::{Cause, Error};
use crate::domain::principal::Principal;
use crate::domain::secret::{Digest, Secret};

/// Headers that hold nothing but a key: Anthropic's clients send the first, Google's the second.
const KEY_HEADERS: [HeaderName; 2] =
    [HeaderName::from_static("x-api-key"), HeaderName::from_static("x-goog-api-key")];

/// One for each place. Who sends more is guessing, and each costs work before anybody is known.
const MAX_PRESENTED: usize = 4;

/// What anybody may see, besides the console's files: the card, and whether the server lives. Whole paths, because a prefix would also cover
/// routes that begin with a variable.
const PUBLIC_PATHS: [&str; 3] = ["/.well-known/agent-card.json", "/.well-known/agent.json", "/healthz"];

/// The same for gRPC, and the schema, which is public anyway.
const PUBLIC_SERVICES: [&str; 3] = [
    "/grpc.health.v1.Health/",
    "/grpc.reflection.v1.ServerReflection/",
    "/grpc.reflection.v1alpha.ServerReflection/",
];

/// Who may come in.
#[derive(Debug)]
pub enum Access {
    /// Whoever reaches the port is the local user.
    Open,
    Keys(Keys),
}

/// The keys and their owners.
#[derive(Debug, Default)]
pub struct Keys(Vec<(Principal, Secret)>);

impl Keys {
    pub fn new(keys: Vec<(Principal, Secret)>) -> Self {
        Self(keys)
    }

    /// Who brings one of them; nobody, where anybody may look.
    fn admit(&self, request: &Request) -> Result<Option<Principal>, Error> {
        let presented = presented(request);
        match presented.iter().find_map(|key| self.owner(key)) {
            Some(owner) => Ok(Some(owner.clone())),
            None if is_public(request) => Ok(None),
            None => Err(refused(problem(presented.is_empty(), has_no_scheme(request.headers())))),
        }
    }

    /// Compares with every key, whichever fits, so that the time tells nothing.
    fn owner(&self, candidate: &str) -> Option<&Principal> {
        let candidate = Digest::of(candidate);
        self.0
            .iter()
            .fold(None, |found, (owner, key)| if key.matches(&candidate) { Some(owner) } else { found })
    }
}

impl Gate for Access {
    fn admit(&self, request: &mut Request) -> Result<(), Error> {
        let who = match self {
            Self::Open => Ok(Some(Principal::local())),
            Self::Keys(keys) => keys.admit(request),
        };
        strip(request.headers_mut());
        let Some(principal) = who? else { return Ok(()) };
        Span::current().record("principal", principal.name());
        request.extensions_mut().insert(principal);
        Ok(())
    }
}

/// A path is public only in the protocol that serves it: the other one may have something else there.
fn is_public(request: &Request) -> bool {
    let path = request.uri().path();
    match Protocol::of(request) {
        Protocol::Http => {
            matches!(*request.method(), Method::GET | Method::HEAD)
                && (PUBLIC_PATHS.contains(&path) || console::is_file(path))
        }
        Protocol::Grpc | Protocol::GrpcWeb => PUBLIC_SERVICES.iter().any(|service| path.starts_with(service)),
    }
}

/// All keys that the request brings. Some clients send the same key in two places, some an empty one in one.
fn presented(request: &Request) -> Vec<String> {
    let headers = request.headers();
    let text =
        |name: HeaderName| headers.get_all(name).iter().filter_map(|v| v.to_str().ok()).map(str::to_owned);
    let bearer = text(AUTHORIZATION).filter_map(|v| {
        let (scheme, key) = v.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| key.trim().to_owned())
    });
    let query = request.uri().query().unwrap_or_default();
    let parameters = form_urlencoded::parse(query.as_bytes());
    let in_query = parameters.filter(|(name, _)| name == "key").map(|(_, value)| value.into_owned());
    bearer
        .chain(KEY_HEADERS.into_iter().flat_map(text))
        .chain(in_query)
        .filter(|key| !key.is_empty())
        .take(MAX_PRESENTED)
        .collect()
}

fn strip(headers: &mut HeaderMap) {
    headers.remove(AUTHORIZATION);
    for name in KEY_HEADERS {
        headers.remove(name);
    }
}

/// `Authorization: TOKEN`, as many a first try has it.
fn has_no_scheme(headers: &HeaderMap) -> bool {
    let given = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default().trim();
    !given.is_empty() && !given.contains(' ')
}

fn problem(nothing_presented: bool, bare: bool) -> &'static str {
    match (nothing_presented, bare) {
        (true, true) => "the Authorization header has no scheme",
        (true, false) => "this needs a key",
        (false, _) => "the key is not known here",
    }
}

fn refused(problem: &str) -> Error {
    let hint = "send \"Authorization: Bearer TOKEN\"; `agena token` prints the token";
    Error::new(Cause::Unauthenticated, format!("{problem}; {hint}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn public(method: &str, path: &str, content_type: &str) -> bool {
        let request = http::Request::builder().method(method).uri(path).header("content-type", content_type);
        is_public(&request.body(tonic::body::Body::empty()).unwrap())
    }

    #[test]
    fn public_is_a_whole_path_in_its_own_protocol() {
        for (method, path, content_type, expected) in [
            ("GET", "/.well-known/agent-card.json", "", true),
            ("HEAD", "/.well-known/agent.json?x=1", "", true),
            ("GET", "/", "", true),
            ("GET", "/?key=wrong", "", true),
            ("POST", "/", "application/json", false),
            ("GET", "/assets/other.js", "", false),
            ("GET", "/healthz", "application/json", true),
            ("POST", "/healthz", "application/json", false),
            ("POST", "/.well-known/agent-card.json", "application/json", false),
            ("POST", "/.well-known/probe:echo", "application/json", false),
            ("GET", "/.well-known/agent-card.json/tasks", "", false),
            ("GET", "/healthz/", "", false),
            ("POST", "/grpc.health.v1.Health/Check", "application/grpc", true),
            (
                "POST",
                "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
                "application/grpc-web",
                true,
            ),
            ("POST", "/grpc.health.v1.Health/Check", "application/json", false),
            ("GET", "/grpc.health.v1.Health/tasks", "", false),
            ("POST", "/grpc.reflection.v2.Other/Do", "application/grpc", false),
            ("POST", "/healthz", "application/grpc", false),
        ] {
            assert_eq!(public(method, path, content_type), expected, "{method} {path} {content_type}");
        }
    }
}
