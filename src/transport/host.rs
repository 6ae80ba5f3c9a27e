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
    /// What the operator allows besides.
    allowed: Vec<Host>,
    /// As nearly all clients spell what is allowed, so that hardly any has to be read.
    usual: Vec<String>,
}

/// An address has many spellings, so it is compared as what it is.
#[derive(Debug, PartialEq, Eq)]
enum Host {
    Address(IpAddr),
    /// In lower case, without a dot at its end.
    Name(String),
}

impl Host {
    fn read(text: &str) -> Self {
        match text.trim_matches(['[', ']']).parse::<IpAddr>() {
            Ok(address) => Self::Address(address.to_canonical()),
            Err(_) => Self::Name(text.trim_end_matches('.').to_ascii_lowercase()),
        }
    }
}

impl HostGuard {
    pub(super) fn new(bound: SocketAddr, allowed: &[String]) -> Self {
        let guard =
            Self { bound, allowed: allowed.iter().map(|text| Host::read(text)).collect(), usual: vec![] };
        let usual = spelled(bound, allowed).filter(|text| guard.allows_text(text)).collect();
        Self { usual, ..guard }
    }

    fn allows_text(&self, text: &str) -> bool {
        let authority: Option<Authority> = text.parse().ok();
        authority.as_ref().and_then(plain_host).is_some_and(|host| self.allows(&Host::read(host)))
    }

    fn is_usual(&self, request: &Request) -> bool {
        let mut named = request.headers().get_all(HOST).iter();
        let (Some(host), None, None) = (named.next(), named.next(), request.uri().authority()) else {
            return false;
        };
        self.usual.iter().any(|usual| usual.as_bytes() == host.as_bytes())
    }

    fn allows(&self, host: &Host) -> bool {
        let bound = self.bound.ip().to_canonical();
        let own = match host {
            // The unspecified one is for binding, nobody can be called it.
            Host::Address(ip) if ip.is_unspecified() => return false,
            // An address cannot be rebound.
            Host::Address(ip) => ip.is_loopback() || bound.is_unspecified() || *ip == bound,
            Host::Name(name) => name == "localhost",
        };
        own || self.allowed.contains(host)
    }
}

impl Gate for HostGuard {
    fn admit(&self, request: &mut Request) -> Result<(), Error> {
        if self.is_usual(request) {
            return Ok(());
        }
        let authorities = authorities(request)?;
        for authority in &authorities {
            let host = Host::read(plain_host(authority).ok_or_else(not_a_host)?);
            if !self.allows(&host) {
                let name = authority.as_str();
                let problem =
                    format!("the host {name:?} is not served here; allow it with server.allowed_hosts");
                return Err(Error::new(Cause::HostNotAllowed, problem));
            }
        }
        match authorities.is_empty() {
            true => Err(Error::new(Cause::HostNotAllowed, "the request names no host; send a Host header")),
            false => Ok(()),
        }
    }
}

/// Names and addresses with the port of this server, and alone. Not all of them have to be allowed.
fn spelled(bound: SocketAddr, allowed: &[String]) -> impl Iterator<Item = String> {
    let own = ["localhost".to_owned(), "127.0.0.1".to_owned(), "[::1]".to_owned(), bound.ip().to_string()];
    let names = own.into_iter().chain(allowed.iter().cloned());
    names.flat_map(move |name| [format!("{name}:{}", bound.port()), name])
}

fn not_a_host() -> Error {
    Error::new(Cause::HostNotAllowed, "the Host header is not a host; send host or host:port")
}

/// From the target (HTTP/2, or HTTP/1.1 in absolute form) and from the header. Every one has to be allowed.
fn authorities(request: &Request) -> Result<Vec<Authority>, Error> {
    let mut found: Vec<Authority> = request.uri().authority().cloned().into_iter().collect();
    for value in request.headers().get_all(HOST) {
        found.push(value.to_str().ok().and_then(|text| text.parse().ok()).ok_or_else(not_a_host)?);
    }
    Ok(found)
}

/// `Authority` also takes a user and a port that is no number. Who reads such a Host may see another name in it.
fn plain_host(authority: &Authority) -> Option<&str> {
    let host = authority.host();
    match authority.as_str().strip_prefix(host)? {
        "" => Some(host),
        port => port.strip_prefix(':')?.parse::<u16>().ok().map(|_| host),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admits(bound: &str, host: &str) -> bool {
        let guard = HostGuard::new(
            bound.parse().unwrap(),
            &["agent.example", "192.0.2.1", "[2001:DB8::1]"].map(str::to_owned),
        );
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
            ("127.0.0.1:1", "192.0.2.1:80", true),
            ("127.0.0.1:1", "192.0.2.2", false),
            ("127.0.0.1:1", "[2001:db8:0::1]:80", true),
            ("127.0.0.1:1", "[::ffff:192.0.2.1]", true),
            ("127.0.0.1:1", "[2001:db8::2]", false),
            ("127.0.0.1:1", "evil.example@localhost", false),
            ("127.0.0.1:1", "localhost@evil.example", false),
            ("127.0.0.1:1", "localhost:x", false),
            ("127.0.0.1:1", "localhost:65536", false),
            ("127.0.0.1:1", "localhost:", false),
        ] {
            assert_eq!(admits(bound, host), passes, "{host:?} at {bound}");
        }
    }

    #[test]
    fn every_host_that_a_request_names_must_pass() {
        let guard = HostGuard::new("127.0.0.1:1".parse().unwrap(), &[]);
        let twice = http::Request::get("http://evil.example/").header(HOST, "localhost");
        assert!(guard.admit(&mut twice.body(tonic::body::Body::empty()).unwrap()).is_err());
        let none = http::Request::get("/").body(tonic::body::Body::empty());
        assert!(guard.admit(&mut none.unwrap()).is_err());
    }
}
