//! Authentication: who holds the key that a request brings, wherever its protocol puts it. Afterwards no
//! header carries the key any more, so nothing behind this can log or forward it.

use http::HeaderMap;
use http::header::AUTHORIZATION;
use tracing::Span;

use super::gate::Gate;
use super::protocol::Request;
use crate::domain::error::{Cause, Error};
use crate::domain::principal::Principal;
use crate::domain::secret::Secret;

/// Headers that hold nothing but a key: Anthropic's clients send the first, Google's the second.
const KEY_HEADERS: [&str; 2] = ["x-api-key", "x-goog-api-key"];

/// What anybody may see: the card, whether the server lives, and the schema, which is public anyway.
const PUBLIC: [&str; 3] = ["/.well-known/", "/grpc.health.v1.Health/", "/grpc.reflection."];

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

    /// Compares with every key, whichever fits, so that the time tells nothing.
    fn owner(&self, candidate: &str) -> Option<&Principal> {
        self.0
            .iter()
            .fold(None, |found, (owner, key)| if key.matches(candidate) { Some(owner) } else { found })
    }
}

impl Gate for Access {
    fn admit(&self, request: &mut Request) -> Result<(), Error> {
        let presented = presented(request);
        strip(request.headers_mut());
        let principal = match self {
            Self::Open => Principal::local(),
            Self::Keys(keys) => match presented.iter().find_map(|key| keys.owner(key)) {
                Some(owner) => owner.clone(),
                None if is_public(request.uri().path()) => return Ok(()),
                None => return Err(refused(presented.is_empty())),
            },
        };
        Span::current().record("principal", principal.name());
        request.extensions_mut().insert(principal);
        Ok(())
    }
}

fn is_public(path: &str) -> bool {
    path == "/healthz" || PUBLIC.iter().any(|prefix| path.starts_with(prefix))
}

/// All keys that the request brings. Some clients send the same key in two places, some an empty one in one.
fn presented(request: &Request) -> Vec<String> {
    let headers = request.headers();
    let text = |name: &str| headers.get_all(name).iter().filter_map(|v| v.to_str().ok()).map(str::to_owned);
    let bearer = text(AUTHORIZATION.as_str()).filter_map(|v| {
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
        .collect()
}

fn strip(headers: &mut HeaderMap) {
    headers.remove(AUTHORIZATION);
    for name in KEY_HEADERS {
        headers.remove(name);
    }
}

fn refused(nothing_presented: bool) -> Error {
    let problem = if nothing_presented { "this needs a key" } else { "the key is not known here" };
    let hint = "send \"Authorization: Bearer TOKEN\"; `agena token` prints the token";
    Error::new(Cause::Unauthenticated, format!("{problem}; {hint}"))
}
