//! The Host guard. A page that rebinds its own name to this machine still sends its own name as Host, and is
//! stopped here before anything else happens.

use std::net::{IpAddr, SocketAddr};

use http::header::HOST;
use http::uri::Authority;

use super::gate::Gate;
use super::protocol::Request;
use crate::domain::error::{Cause, Error};

#[derive(Debug)]
pub(super) struct HostGuard {
    bound: SocketAddr,
    /// Lower-case names that the operator allows besides.
    names: Vec<String>,
}

impl HostGuard {
    pub(super) fn new(bound: SocketAddr, names: Vec<String>) -> Self {
        Self { bound, names }
    }

    fn allows(&self, authority: &Authority) -> bool {
        let host = authority.host().trim_end_matches('.').to_ascii_lowercase();
        let literal: Option<IpAddr> = host.trim_matches(['[', ']']).parse().ok();
        match literal {
            // An address cannot be rebound. The unspecified one is for binding, nobody can be called it.
            Some(ip) if ip.is_unspecified() => false,
            Some(ip) => ip.is_loopback() || self.bound.ip().is_unspecified() || ip == self.bound.ip(),
            None => host == "localhost" || self.names.contains(&host),
        }
    }
}

impl Gate for HostGuard {
    fn admit(&self, request: &mut Request) -> Result<(), Error> {
        let authorities = authorities(request)?;
        match authorities.iter().find(|authority| !self.allows(authority)) {
            Some(foreign) => Err(Error::new(
                Cause::HostNotAllowed,
                format!(
                    "the host {:?} is not served here; allow it with server.allowed_hosts",
                    foreign.as_str()
                ),
            )),
            None if authorities.is_empty() => {
                Err(Error::new(Cause::HostNotAllowed, "the request names no host"))
            }
            None => Ok(()),
        }
    }
}

/// From the target (HTTP/2, or HTTP/1.1 in absolute form) and from the header. Every one has to be allowed.
fn authorities(request: &Request) -> Result<Vec<Authority>, Error> {
    let bad = || Error::new(Cause::HostNotAllowed, "the Host header is not a host");
    let mut found: Vec<Authority> = request.uri().authority().cloned().into_iter().collect();
    for value in request.headers().get_all(HOST) {
        found.push(value.to_str().ok().and_then(|text| text.parse().ok()).ok_or_else(bad)?);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admits(bound: &str, host: &str) -> bool {
        let guard = HostGuard::new(bound.parse().unwrap(), vec!["agent.example".to_owned()]);
        let request = http::Request::get("/").header(HOST, host).body(tonic::body::Body::empty());
        guard.admit(&mut request.unwrap()).is_ok()
    }

    #[test]
    fn only_names_and_addresses_of_this_server_pass() {
        for (bound, host, passes) in [
            ("127.0.0.1:1", "localhost:1", true),
            ("127.0.0.1:1", "LOCALHOST", true),
            ("127.0.0.1:1", "localhost.", true),
            ("127.0.0.1:1", "127.0.0.1:1", true),
            ("127.0.0.1:1", "[::1]:1", true),
            ("127.0.0.1:1", "agent.example", true),
            ("127.0.0.1:1", "Agent.Example:443", true),
            ("127.0.0.1:1", "evil.example", false),
            ("127.0.0.1:1", "localhost.evil.example", false),
            ("127.0.0.1:1", "10.0.0.7", false),
            ("127.0.0.1:1", "0.0.0.0:1", false),
            ("10.0.0.7:1", "10.0.0.7:1", true),
            ("10.0.0.7:1", "10.0.0.8:1", false),
            ("0.0.0.0:1", "10.0.0.8:1", true),
            ("0.0.0.0:1", "0.0.0.0:1", false),
            ("0.0.0.0:1", "evil.example", false),
            ("127.0.0.1:1", "", false),
            ("127.0.0.1:1", "a b", false),
        ] {
            assert_eq!(admits(bound, host), passes, "{host:?} at {bound}");
        }
    }

    #[test]
    fn every_host_that_a_request_names_must_pass() {
        let guard = HostGuard::new("127.0.0.1:1".parse().unwrap(), Vec::new());
        let twice = http::Request::get("http://evil.example/").header(HOST, "localhost");
        assert!(guard.admit(&mut twice.body(tonic::body::Body::empty()).unwrap()).is_err());
        let none = http::Request::get("/").body(tonic::body::Body::empty());
        assert!(guard.admit(&mut none.unwrap()).is_err());
    }
}
