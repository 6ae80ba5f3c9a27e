//! The types of single values of `[model]`. Does no I/O and knows no other value; the raw schema is made of them. What
//! may hold a password is not quoted back.

use http::Uri;
use http::uri::Scheme;
use serde::Deserialize;

use super::super::values::visible;
use super::super::web::{Host, host_and_port};
use crate::domain::secret::Secret;

/// The URL below which an API lies, without a slash at its end.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub(in super::super) struct BaseUrl {
    text: String,
    host: Host,
    encrypted: bool,
}

impl BaseUrl {
    fn read(text: &str) -> Option<Self> {
        // `Uri` drops a fragment without a word.
        let uri: Uri = Some(text).filter(|text| !text.contains('#'))?.parse().ok()?;
        let encrypted = *uri.scheme()? == Scheme::HTTPS;
        let (host, _) = host_and_port(uri.authority()?)?;
        let web = encrypted || *uri.scheme()? == Scheme::HTTP;
        let text = text.trim_end_matches('/').to_owned();
        (web && uri.query().is_none()).then_some(Self { text, host, encrypted })
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    pub(super) fn host(&self) -> &Host {
        &self.host
    }

    /// Whether a key on its way there could be read by others.
    pub(super) fn is_exposed(&self) -> bool {
        !self.encrypted && !self.host.is_near()
    }
}

impl TryFrom<String> for BaseUrl {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::read(&text).ok_or_else(|| {
            "this is not a base URL; write http(s)://host[:port][/path] without user, query and fragment"
                .to_owned()
        })
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub(in super::super) enum ProxyText {
    None,
    Url(Secret),
}

impl TryFrom<String> for ProxyText {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text == "none" {
            return Ok(Self::None);
        }
        let known = |uri: &Uri| matches!(uri.scheme_str(), Some("http" | "https" | "socks5" | "socks5h"));
        match text.parse::<Uri>().ok().filter(|uri| known(uri) && uri.host().is_some_and(|h| !h.is_empty())) {
            Some(_) => Ok(Self::Url(Secret::new(text))),
            None => {
                Err("this is not a proxy; write http://, https:// or socks5://host:port, or none".to_owned())
            }
        }
    }
}

/// A name of something, as it stands in a path or a header: letters, digits and a few signs.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(in super::super) struct Word(pub(super) String);

impl TryFrom<String> for Word {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b':');
        if (1..=128).contains(&text.len()) && text.bytes().all(allowed) {
            Ok(Self(text))
        } else {
            Err(format!(
                "`{text}` is not a name; use 1 to 128 letters, digits, dots, colons, underscores or hyphens"
            ))
        }
    }
}

/// The name of a variable. It is not quoted back either, because it may be a key in the wrong place.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub(in super::super) struct VariableName(pub(super) String);

impl TryFrom<String> for VariableName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let begins = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
        match begins && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            true => Ok(Self(text)),
            false => Err("this is not the name of a variable; write for example MY_KEY".to_owned()),
        }
    }
}

/// The value of a header, which may be a key.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub(in super::super) struct HeaderText(pub(super) Secret);

impl TryFrom<String> for HeaderText {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()) {
            true => Ok(Self(Secret::new(text))),
            false => Err("a header may only hold visible ASCII characters and spaces".to_owned()),
        }
    }
}

/// How the other side wants to be addressed is its own affair, so a key may be short.
pub(super) fn check_key(text: &str) -> Result<Secret, String> {
    match text.trim() {
        "" => Err("the key is empty; put the key there or leave the setting out".to_owned()),
        key => visible(key).map(|()| Secret::new(key)),
    }
}
