//! Which addresses a webhook may have. Pure: what a URL says is checked when it is given, what its name leads to is
//! checked again when it is dialled.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use http::Uri;

/// Why a URL cannot be a webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadWebhook {
    #[error("is not an http or https URL")]
    NotHttp,
    #[error("must not hold a user name or password")]
    Credentials,
    #[error("names its host neither by name nor by a plain address")]
    Host,
    #[error("leads inside; allow the host with push.allow_hosts if that is meant")]
    Inward,
}

/// The host and port of a URL that may be called, as far as the URL tells.
pub fn check(url: &str, allowed: &[String]) -> Result<(), BadWebhook> {
    let uri: Uri = url.parse().map_err(|_| BadWebhook::NotHttp)?;
    let host = uri.host().filter(|host| !host.is_empty()).ok_or(BadWebhook::NotHttp)?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return Err(BadWebhook::NotHttp);
    }
    if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        return Err(BadWebhook::Credentials);
    }
    if is_allowed(host, allowed) {
        return Ok(());
    }
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    let inward = match address(&host) {
        Some(ip) => is_inward(ip),
        None if is_disguised(&host) => return Err(BadWebhook::Host),
        None => host == "localhost" || host.ends_with(".localhost"),
    };
    if inward { Err(BadWebhook::Inward) } else { Ok(()) }
}

/// `host:port` of a URL, in one spelling.
pub fn authority(url: &str) -> String {
    let uri: Uri = url.parse().unwrap_or_default();
    let port = uri.port_u16().unwrap_or(if uri.scheme_str() == Some("https") { 443 } else { 80 });
    let host = uri.host().unwrap_or_default().trim_end_matches('.').to_ascii_lowercase();
    format!("{host}:{port}")
}

/// Named by the operator: may lead anywhere.
pub fn is_allowed(host: &str, allowed: &[String]) -> bool {
    let host = host.trim_end_matches('.');
    let ip = address(host);
    allowed.iter().any(|name| name.eq_ignore_ascii_case(host) || (ip.is_some() && address(name) == ip))
}

/// An address as a URL or the settings write it, IPv6 with or without brackets.
fn address(host: &str) -> Option<IpAddr> {
    host.trim_matches(['[', ']']).parse().ok()
}

/// What looks like a name here and becomes an address in a browser's reading of URLs, which clients follow:
/// `2130706433`, `0x7f.1` and `127%2e1` all are 127.0.0.1 there.
fn is_disguised(host: &str) -> bool {
    let last = host.rsplit('.').next().unwrap_or_default();
    let number = match last.strip_prefix("0x") {
        Some(hex) => hex.bytes().all(|b| b.is_ascii_hexdigit()),
        None => last.bytes().all(|b| b.is_ascii_digit()),
    };
    number || host.contains(['%', '[', ']'])
}

/// Loopback, private, link-local, shared, multicast and everything else that is not out there.
pub fn is_inward(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => inward_v4(ip),
        IpAddr::V6(ip) => inward_v6(ip),
    }
}

fn inward_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    ip.is_loopback()
        || ip.is_private()
        || ip.is_link_local()
        || ip.is_multicast()
        || ip.is_broadcast()
        || ip.is_documentation()
        || a == 0
        || a >= 240
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && (b == 18 || b == 19))
}

/// Of IPv6 only what was given out for the world counts as out there; an IPv4 address in other clothes is judged as
/// what it is.
fn inward_v6(ip: Ipv6Addr) -> bool {
    if let Some(inner) = ip.to_ipv4_mapped().or_else(|| nat64(ip)) {
        return inward_v4(inner);
    }
    match ip.segments() {
        [0x2002, ..] => inward_v4(six_to_four(ip)),
        // Tunnels, benchmarks and identifiers; then documentation.
        [0x2001, b, ..] if b < 0x200 || b == 0xdb8 => true,
        [0x3fff, b, ..] if b < 0x1000 => true,
        [a, ..] => a & 0xe000 != 0x2000,
    }
}

fn six_to_four(ip: Ipv6Addr) -> Ipv4Addr {
    let [_, a, b, ..] = ip.segments();
    Ipv4Addr::from((u32::from(a) << 16) | u32::from(b))
}

fn nat64(ip: Ipv6Addr) -> Option<Ipv4Addr> {
    let [a, b, c, d, e, f, g, h] = ip.segments();
    ([a, b, c, d, e, f] == [0x64, 0xff9b, 0, 0, 0, 0])
        .then(|| Ipv4Addr::from((u32::from(g) << 16) | u32::from(h)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_authority_has_one_spelling() {
        for (url, expected) in [
            ("https://Example.COM./a?b", "example.com:443"),
            ("https://example.com:443/", "example.com:443"),
            ("http://example.com", "example.com:80"),
            ("http://[::1]:9/", "[::1]:9"),
        ] {
            assert_eq!(authority(url), expected, "{url}");
        }
    }

    #[test]
    fn only_what_is_out_there_or_allowed_may_be_called() {
        let allowed = ["hooks.internal", "127.0.0.2", "[::2]"].map(str::to_owned);
        for (url, expected) in [
            ("https://example.com/hook", Ok(())),
            ("http://93.184.216.34/", Ok(())),
            ("http://hooks.internal:9000/x", Ok(())),
            ("http://127.0.0.2/", Ok(())),
            ("http://127.0.0.1/", Err(BadWebhook::Inward)),
            ("http://localhost:80/", Err(BadWebhook::Inward)),
            ("http://LOCALHOST./", Err(BadWebhook::Inward)),
            ("http://a.localhost/", Err(BadWebhook::Inward)),
            ("http://10.1.2.3/", Err(BadWebhook::Inward)),
            ("http://169.254.169.254/latest", Err(BadWebhook::Inward)),
            ("http://100.64.0.1/", Err(BadWebhook::Inward)),
            ("http://0.0.0.0/", Err(BadWebhook::Inward)),
            ("http://[::1]/", Err(BadWebhook::Inward)),
            ("http://[::ffff:127.0.0.1]/", Err(BadWebhook::Inward)),
            ("http://[2002:7f00:1::]/", Err(BadWebhook::Inward)),
            ("http://[64:ff9b::a00:1]/", Err(BadWebhook::Inward)),
            ("http://[fd00::1]/", Err(BadWebhook::Inward)),
            ("http://[fe80::1]/", Err(BadWebhook::Inward)),
            ("http://[fec0::1]/", Err(BadWebhook::Inward)),
            ("http://[::127.0.0.1]/", Err(BadWebhook::Inward)),
            ("http://[64:ff9b:1::a00:1]/", Err(BadWebhook::Inward)),
            ("http://[2001:0:7f00:1::]/", Err(BadWebhook::Inward)),
            ("http://[2606:4700::1111]/", Ok(())),
            ("http://[64:ff9b::5db8:d822]/", Ok(())),
            ("http://[0:0::2]/", Ok(())),
            ("http://[::3]/", Err(BadWebhook::Inward)),
            ("http://2130706433/", Err(BadWebhook::Host)),
            ("http://0x7f.1/", Err(BadWebhook::Host)),
            ("http://127.1/", Err(BadWebhook::Host)),
            ("http://0177.0.0.1./", Err(BadWebhook::Host)),
            ("http://1.0x7f000001/", Err(BadWebhook::Host)),
            ("http://example.com0/", Ok(())),
            ("http://user:pass@example.com/", Err(BadWebhook::Credentials)),
            ("ftp://example.com/", Err(BadWebhook::NotHttp)),
            ("/relative", Err(BadWebhook::NotHttp)),
            ("", Err(BadWebhook::NotHttp)),
        ] {
            assert_eq!(check(url, &allowed), expected, "{url}");
        }
    }
}
