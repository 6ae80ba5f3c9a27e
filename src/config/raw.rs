//! The schema of the file, and so of every layer: each key optional, each value already of its type. Does no
//! I/O, fills in no default and knows no rule that spans two keys; `layers` reads it, `decide` uses it up.

use serde::{Deserialize, Deserializer};
use toml::Value;

use super::model::raw::Model;
use super::settings::{ApprovalMode, Durability, LogFormat, Rule, Sandbox, UnknownModels};
use super::values::{Bounded, Filter, KeyName, Listen, ModelName, PathText, Tenant, check_key};
use super::web::{Host, PublicUrl, WebOrigin};
use crate::domain::secret::Secret;

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
pub(super) struct Raw {
    pub(super) data_dir: Option<PathText>,
    pub(super) workspace: Option<PathText>,
    pub(super) server: Server,
    pub(super) limits: Limits,
    pub(super) tls: Tls,
    pub(super) auth: Auth,
    pub(super) log: Log,
    pub(super) store: Store,
    pub(super) agent: Agent,
    pub(super) a2a: A2a,
    pub(super) push: Push,
    pub(super) facade: Facade,
    pub(super) model: Model,
    pub(super) mcp: super::mcp::Raw,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
pub(super) struct Server {
    pub(super) listen: Option<Listen>,
    pub(super) public_url: Option<PublicUrl>,
    pub(super) allowed_hosts: Vec<Host>,
    pub(super) allowed_origins: Vec<WebOrigin>,
    pub(super) max_connections: Option<Bounded<1, 1_000_000>>,
    pub(super) drain_seconds: Option<Bounded<0, 3600>>,
    pub(super) reflection: Option<bool>,
    pub(super) console: Option<bool>,
}

/// One kibibyte to one gibibyte.
pub(super) type Size = Bounded<1024, 1_073_741_824>;

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
pub(super) struct Limits {
    pub(super) body_bytes: Option<Size>,
    pub(super) message_bytes: Option<Size>,
    /// Not below 8192, the least buffer that the HTTP/1 parser accepts.
    pub(super) header_bytes: Option<Bounded<8192, 1_048_576>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
pub(super) struct Tls {
    pub(super) cert: Option<PathText>,
    pub(super) key: Option<PathText>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
pub(super) struct Auth {
    pub(super) mode: Option<Mode>,
    pub(super) keys: Vec<Key>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Mode {
    Token,
    None,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
pub(super) struct Log {
    pub(super) format: Option<LogFormat>,
    pub(super) filter: Option<Filter>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
pub(super) struct Store {
    pub(super) durability: Option<Durability>,
    /// 0 keeps everything.
    pub(super) retention_days: Option<Bounded<0, 36_500>>,
}

/// 0 for ever, and a week at the most.
pub(super) type Patience = Bounded<0, 604_800>;

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
pub(super) struct Agent {
    pub(super) root: Option<PathText>,
    pub(super) approval_mode: Option<ApprovalMode>,
    pub(super) allow_yolo: Option<bool>,
    pub(super) sandbox: Option<Sandbox>,
    pub(super) writable: Vec<PathText>,
    pub(super) trusted: Vec<PathText>,
    pub(super) rules: Vec<Rule>,
    pub(super) max_answers: Option<Bounded<1, 10_000>>,
    pub(super) context_tokens: Option<Bounded<4096, 100_000_000>>,
    pub(super) shell_silence_seconds: Option<Patience>,
    pub(super) shell_wall_seconds: Option<Patience>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
pub(super) struct A2a {
    pub(super) streaming: Option<bool>,
    pub(super) push_notifications: Option<bool>,
    pub(super) extended_card: Option<bool>,
    pub(super) repeat_seconds: Option<Bounded<0, 86_400>>,
    pub(super) development_tool_required: Option<bool>,
    pub(super) extensions: Vec<Extension>,
    pub(super) tenants: Vec<Tenant>,
}

/// One of `[[a2a.extensions]]`: announced in the card beside our own.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table with uri")]
pub(super) struct Extension {
    pub(super) uri: String,
    #[serde(default)]
    pub(super) description: String,
    #[serde(default)]
    pub(super) required: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
pub(super) struct Push {
    pub(super) allow_hosts: Vec<Host>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
pub(super) struct Facade {
    pub(super) strict: Option<bool>,
    pub(super) body_bytes: Option<Size>,
    pub(super) fetch_media: Option<bool>,
    pub(super) media_hosts: Vec<Host>,
    pub(super) unknown_models: Option<UnknownModels>,
    pub(super) keep_days: Option<Bounded<1, 3650>>,
}

/// One of `[[auth.keys]]`.
#[derive(Debug, Deserialize)]
#[serde(try_from = "KeyFields")]
pub(super) struct Key {
    pub(super) name: KeyName,
    pub(super) origin: KeyOrigin,
    pub(super) models: Vec<ModelName>,
    pub(super) requests_per_minute: Option<PerMinute>,
    pub(super) tokens_per_minute: Option<PerMinute>,
}

pub(super) type PerMinute = Bounded<1, 1_000_000_000>;

#[derive(Debug)]
pub(super) enum KeyOrigin {
    Inline(Secret),
    File(PathText),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table with name, and key or key_file")]
struct KeyFields {
    name: KeyName,
    #[serde(default, deserialize_with = "inline_key")]
    key: Option<Secret>,
    key_file: Option<PathText>,
    #[serde(default)]
    models: Vec<ModelName>,
    requests_per_minute: Option<PerMinute>,
    tokens_per_minute: Option<PerMinute>,
}

impl TryFrom<KeyFields> for Key {
    type Error = String;

    fn try_from(fields: KeyFields) -> Result<Self, String> {
        let KeyFields { name, key, key_file, models, requests_per_minute, tokens_per_minute } = fields;
        let origin = match (key, key_file) {
            (Some(key), None) => KeyOrigin::Inline(key),
            (None, Some(path)) => KeyOrigin::File(path),
            (Some(_), Some(_)) => {
                return Err(format!("`{name}` has both key and key_file; keep one of them"));
            }
            (None, None) => return Err(format!("`{name}` has neither key nor key_file; add one of them")),
        };
        Ok(Self { name, origin, models, requests_per_minute, tokens_per_minute })
    }
}

/// Goes through `Value`, because the usual complaint about a wrong type quotes the value.
fn inline_key<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Secret>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::String(key) => check_key(key).map(Some).map_err(serde::de::Error::custom),
        _ => Err(serde::de::Error::custom("the key must be a string; put it in quotes")),
    }
}
