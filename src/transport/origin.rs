//! The Origin guard: which web pages may talk to this server. CORS headers follow the same list, but they only
//! ask the browser to behave; this refuses.

use std::net::IpAddr;
use std::sync::Arc;

use http::header::{HOST, ORIGIN};
use http::{HeaderValue, Uri};

use super::gate::Gate;
use super::protocol::Request;
use crate::domain::error::{Cause, Error};

/// The pages that may call. A page of this very server always may.
#[derive(Debug, Clone)]
pub struct Origins {
    /// As browsers print them, `https://app.example`.
    pub listed: Arc<[String]>,
    /// Pages of loopback servers, at any port. Safe while a token is asked for: the page has to be given it.
    pub loopback: bool,
}

impl Origins {
    pub(super) fn allows(&self, origin: &HeaderValue) -> bool {
        let Ok(origin) = origin.to_str() else { return false };
        self.listed.iter().any(|listed| listed == origin) || (self.loopback && is_loopback(origin))
    }
}

fn is_loopback(origin: &str) -> bool {
    let Ok(uri) = origin.parse::<Uri>() else { return false };
    let Some(host) = uri.host() else { return false };
    let literal: Option<IpAddr> = host.trim_matches(['[', ']']).parse().ok();
    host.eq_ignore_ascii_case("localhost") || literal.is_some_and(|ip| ip.is_loopback())
}

#[derive(Debug)]
pub(super) struct OriginGuard(pub(super) Origins);

impl Gate for OriginGuard {
    fn admit(&self, request: &mut Request) -> Result<(), Error> {
        // No Origin: not a page, or a plain navigation, which cannot carry our token.
        for origin in request.headers().get_all(ORIGIN) {
            if !is_same(request, origin) && !self.0.allows(origin) {
                let hint = "allow it with server.allowed_origins";
                return Err(Error::new(
                    Cause::OriginNotAllowed,
                    format!("the origin {origin:?} may not call; {hint}"),
                ));
            }
        }
        Ok(())
    }
}

/// The page came from this server: its host and port are the ones that the request went to.
fn is_same(request: &Request, origin: &HeaderValue) -> bool {
    let target = request.uri().authority().map(|a| a.as_str().to_owned());
    let target =
        target.or_else(|| request.headers().get(HOST).and_then(|h| h.to_str().ok()).map(str::to_owned));
    let page = origin
        .to_str()
        .ok()
        .and_then(|text| text.split_once("://"))
        .map(|(_, authority)| authority.to_owned());
    matches!((target, page), (Some(target), Some(page)) if target.eq_ignore_ascii_case(&page))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admits(loopback: bool, origin: &str) -> bool {
        let guard = OriginGuard(Origins { listed: ["https://app.example".to_owned()].into(), loopback });
        let request = http::Request::get("/").header(HOST, "localhost:41242").header(ORIGIN, origin);
        guard.admit(&mut request.body(tonic::body::Body::empty()).unwrap()).is_ok()
    }

    #[test]
    fn listed_and_own_pages_may_call_and_loopback_ones_while_a_token_is_needed() {
        for (origin, with_token, without) in [
            ("https://app.example", true, true),
            ("http://localhost:41242", true, true),
            ("http://localhost:5173", true, false),
            ("http://127.0.0.1:5173", true, false),
            ("http://[::1]:5173", true, false),
            ("https://app.example:8443", false, false),
            ("http://app.example", false, false),
            ("https://evil.example", false, false),
            ("http://localhost.evil.example", false, false),
            ("null", false, false),
            ("", false, false),
        ] {
            assert_eq!((admits(true, origin), admits(false, origin)), (with_token, without), "{origin:?}");
        }
    }
}
