//! Names from the web: host names, origins and the public URL, checked and in one spelling. Does no I/O and
//! resolves no name; the raw schema reads them, and the server's guards get them as text.

use std::net::{IpAddr, Ipv6Addr};

use http::Uri;
use http::uri::{Authority, Scheme};
use serde::Deserialize;

/// A host name or address without scheme and port, in lower case; IPv6 in brackets, as a `Host` header has it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Host(String);

impl Host {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn read(text: &str) -> Option<Self> {
        let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        if let Ok(address) = bare.unwrap_or(text).parse::<Ipv6Addr>() {
            return Some(Self(format!("[{address}]")));
        }
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        let label = |label: &str| (1..=63).contains(&label.len()) && label.bytes().all(allowed);
        let fits = text.len() <= 253 && text.split('.').all(label);
        fits.then(|| Self(text.to_ascii_lowercase()))
    }

    /// Whether it is this machine or stands in the same house, as far as its name can tell.
    pub(super) fn is_near(&self) -> bool {
        let bare = self.0.trim_matches(['[', ']']);
        match bare.parse::<IpAddr>().map(|address| address.to_canonical()) {
            Ok(IpAddr::V4(v4)) => v4.is_loopback() || v4.is_private() || v4.is_link_local(),
            Ok(IpAddr::V6(v6)) => v6.is_loopback() || v6.is_unique_local() || v6.is_unicast_link_local(),
            Err(_) => {
                // A name of one label is known only there.
                !bare.contains('.')
                    || [".localhost", ".local", ".internal"].iter().any(|end| bare.ends_with(end))
            }
        }
    }
}

impl TryFrom<String> for Host {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::read(&text).ok_or_else(|| {
            format!(
                "`{text}` is not a host name; write it without scheme, port or path, for example app.example"
            )
        })
    }
}

/// The hosts a request may name besides loopback.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hosts(pub(super) Vec<Host>);

impl Hosts {
    pub fn iter(&self) -> impl Iterator<Item = &Host> {
        self.0.iter()
    }
}

/// An origin as a browser sends it: `scheme://host[:port]`, in lower case, without the scheme's own port.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct WebOrigin(String);

impl WebOrigin {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn read(text: &str) -> Option<Self> {
        let (scheme, authority) = text.split_once("://")?;
        let scheme = scheme.to_ascii_lowercase();
        // A browser's extension has an origin too, so the scheme need not be http or https.
        let named = scheme.starts_with(|first: char| first.is_ascii_lowercase())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.'));
        let (host, port) = host_and_port(&authority.parse().ok()?)?;
        let port = match (scheme.as_str(), port) {
            (_, None) | ("http", Some(80)) | ("https", Some(443)) => String::new(),
            (_, Some(port)) => format!(":{port}"),
        };
        named.then(|| Self(format!("{scheme}://{}{port}", host.as_str())))
    }
}

impl TryFrom<String> for WebOrigin {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::read(&text).ok_or_else(|| {
            format!("`{text}` is not an origin; write scheme://host[:port] without a path, for example https://app.example")
        })
    }
}

/// The origins whose pages may call this server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origins(pub(super) Vec<WebOrigin>);

impl Origins {
    pub fn iter(&self) -> impl Iterator<Item = &WebOrigin> {
        self.0.iter()
    }
}

/// The URL by which clients reach this server, without a slash at its end.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct PublicUrl {
    text: String,
    host: Host,
    origin: WebOrigin,
}

impl PublicUrl {
    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub fn host(&self) -> &Host {
        &self.host
    }

    /// Of the pages that are served below it.
    pub fn origin(&self) -> &WebOrigin {
        &self.origin
    }

    fn read(text: &str) -> Option<Self> {
        // `Uri` drops a fragment without a word.
        let uri: Uri = Some(text).filter(|text| !text.contains('#'))?.parse().ok()?;
        let web = uri.scheme().is_some_and(|scheme| *scheme == Scheme::HTTP || *scheme == Scheme::HTTPS);
        let (host, _) = host_and_port(uri.authority()?)?;
        let origin = WebOrigin::read(&format!("{}://{}", uri.scheme_str()?, uri.authority()?))?;
        let text = text.trim_end_matches('/').to_owned();
        (web && uri.query().is_none()).then_some(Self { text, host, origin })
    }
}

impl TryFrom<String> for PublicUrl {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::read(&text).ok_or_else(|| {
            format!("`{text}` is not a public URL; write http(s)://host[:port][/path] without a query, for example https://agent.example")
        })
    }
}

/// `Authority` also takes a user and a port that is no number; neither belongs to a name of ours.
pub(super) fn host_and_port(authority: &Authority) -> Option<(Host, Option<u16>)> {
    let host = Host::read(authority.host())?;
    match authority.as_str().strip_prefix(authority.host())? {
        "" => Some((host, None)),
        port => Some((host, Some(port.strip_prefix(':')?.parse().ok()?))),
    }
}
