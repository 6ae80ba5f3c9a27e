//! The types of single values, each refusing what it must not be. Does no I/O and knows no key, layer or other
//! value; the raw schema is made of them and settings keep the checked ones.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer};
use tracing_subscriber::EnvFilter;

use crate::domain::secret::Secret;

/// A whole number from `MIN` to `MAX`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounded<const MIN: u32, const MAX: u32>(u32);

impl<const MIN: u32, const MAX: u32> Bounded<MIN, MAX> {
    pub(super) fn get(self) -> u32 {
        self.0
    }
}

impl<'de, const MIN: u32, const MAX: u32> Deserialize<'de> for Bounded<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_i64(BoundedVisitor)
    }
}

/// Only to say "a number" where the visitor for `i64` says "i64".
struct BoundedVisitor<const MIN: u32, const MAX: u32>;

impl<const MIN: u32, const MAX: u32> Visitor<'_> for BoundedVisitor<MIN, MAX> {
    type Value = Bounded<MIN, MAX>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a number from {MIN} to {MAX}")
    }

    fn visit_i64<E: de::Error>(self, given: i64) -> Result<Self::Value, E> {
        match u32::try_from(given) {
            Ok(number) if (MIN..=MAX).contains(&number) => Ok(Bounded(number)),
            _ => Err(E::custom(format!("{given} is out of range; use a number from {MIN} to {MAX}"))),
        }
    }
}

/// An address to listen on: `IP:PORT`, or `localhost:PORT` for IPv4 loopback.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Listen(pub(super) SocketAddr);

impl TryFrom<String> for Listen {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let parsed = match text.strip_prefix("localhost:") {
            Some(port) => port.parse().ok().map(|port: u16| SocketAddr::from((Ipv4Addr::LOCALHOST, port))),
            None => text.parse().ok(),
        };
        parsed.map(Self).ok_or_else(|| {
            format!("`{text}` is not an address; write IP:PORT, for example 127.0.0.1:41242 or [::1]:41242")
        })
    }
}

/// A path that is not empty. `~` is a shell's notion; taking it as a name would quietly make a directory `~`.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct PathText(pub(super) PathBuf);

impl TryFrom<String> for PathText {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text.is_empty() {
            Err("the path is empty; write a path or leave the setting out".to_owned())
        } else if text == "~" || text.starts_with("~/") {
            Err(format!("`~` is not expanded in `{text}`; write the path in full"))
        } else {
            Ok(Self(text.into()))
        }
    }
}

/// The name of a model. Which there are is not known here.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct ModelName(pub(super) String);

impl TryFrom<String> for ModelName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text.is_empty() || text.contains(|c: char| c.is_whitespace() || c.is_control()) {
            Err(format!("`{text}` is not the name of a model; write for example gemini-3.8-flash"))
        } else {
            Ok(Self(text))
        }
    }
}

/// A logging filter, as `tracing_subscriber::EnvFilter` reads it.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Filter(pub(super) String);

impl TryFrom<String> for Filter {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match EnvFilter::try_new(&text) {
            Ok(_) => Ok(Self(text)),
            Err(_) => {
                Err(format!("`{text}` is not a log filter; write for example info or info,agena=debug"))
            }
        }
    }
}

/// The name by which a key appears in logs and as its holder's identity.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct KeyName(pub(super) String);

/// The name of the generated token, which no configured key may take.
pub const LOCAL_KEY: &str = "local";

impl TryFrom<String> for KeyName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
        if text == LOCAL_KEY {
            Err(format!("the name `{LOCAL_KEY}` is reserved for the generated token; choose another"))
        } else if !(1..=64).contains(&text.len()) || !text.bytes().all(allowed) {
            Err(format!(
                "`{text}` is not a key name; use 1 to 64 letters, digits, dots, underscores or hyphens"
            ))
        } else {
            Ok(Self(text))
        }
    }
}

impl fmt::Display for KeyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A tenant, as it stands in a path below `/a2a`.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Tenant(pub(super) String);

/// What stands below `/a2a` already.
const RESERVED: [&str; 5] = ["tasks", "v1", "rpc", "message", "extendedAgentCard"];

impl TryFrom<String> for Tenant {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
        let begins = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
        if RESERVED.iter().any(|name| name.eq_ignore_ascii_case(&text)) {
            Err(format!("the name `{text}` is reserved, because it is a path; choose another"))
        } else if !begins || text.len() > 64 || !text.bytes().all(allowed) {
            Err(format!(
                "`{text}` is not a tenant; use 1 to 64 letters, digits, dots, underscores or hyphens, a letter or \
                 digit first"
            ))
        } else {
            Ok(Self(text))
        }
    }
}

/// A key that can be guessed, or that no HTTP header can carry, is no key. The text is never quoted back.
pub(super) fn check_key(text: String) -> Result<Secret, String> {
    const LEAST: usize = 16;
    visible(&text)?;
    match text.len() < LEAST {
        true => Err(format!("the key is too short; use at least {LEAST} characters")),
        false => Ok(Secret::new(text)),
    }
}

pub(super) fn visible(key: &str) -> Result<(), String> {
    match key.bytes().all(|byte| byte.is_ascii_graphic()) {
        true => Ok(()),
        false => Err("the key may only hold visible ASCII characters, without spaces".to_owned()),
    }
}
