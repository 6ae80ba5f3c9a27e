//! The schema of `[model]`: each key optional, each backend already of its kind. Does no I/O and fills in no default;
//! `layers` reads it with the rest of the schema, `model::decide` uses it up.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use toml::Value;

use super::super::values::{Bounded, ModelName, PathText};
use super::values::{BaseUrl, HeaderText, ProxyText, VariableName, Word, check_key};
use crate::domain::secret::Secret;

/// A second to an hour.
pub(super) type Wait = Bounded<1, 3600>;

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
pub(in super::super) struct Model {
    pub(super) name: Option<ModelName>,
    pub(super) rehearsal: Option<PathText>,
    pub(super) record: Option<PathText>,
    pub(super) backends: Vec<Backend>,
    pub(super) routes: Vec<Route>,
    pub(super) fallback: Vec<ModelName>,
    pub(super) patience_seconds: Option<Bounded<0, 86_400>>,
    pub(super) connect_seconds: Option<Wait>,
    pub(super) first_byte_seconds: Option<Wait>,
    pub(super) idle_seconds: Option<Wait>,
    pub(super) total_seconds: Option<Bounded<1, 86_400>>,
    pub(super) proxy: Option<ProxyText>,
}

/// One of `[[model.backends]]`.
#[derive(Debug, Deserialize)]
#[serde(try_from = "BackendFields")]
pub(in super::super) struct Backend {
    pub(super) name: Word,
    pub(super) kind: Kind,
    /// The operator knows that keys can be read on their way.
    pub(super) allow_plain_http: bool,
}

#[derive(Debug)]
pub(super) enum Kind {
    Gemini {
        key: Option<Key>,
        base_url: Option<BaseUrl>,
        api_version: Option<Word>,
        bearer: Option<bool>,
    },
    Vertex {
        key: Option<Key>,
        base_url: Option<BaseUrl>,
        project: Option<Word>,
        location: Option<Word>,
        credentials: Option<PathText>,
    },
    CodeAssist {
        base_url: Option<BaseUrl>,
        api_version: Option<Word>,
        project: Option<Word>,
        credentials: Option<PathText>,
        client: Option<Client>,
    },
    OpenAi {
        key: Option<Key>,
        base_url: BaseUrl,
        headers: BTreeMap<String, HeaderText>,
    },
    Rehearsal,
}

#[derive(Debug)]
pub(super) struct Client {
    pub(super) id: Word,
    pub(super) secret: Key,
}

#[derive(Debug)]
pub(super) enum Key {
    Inline(Secret),
    File(PathText),
    Variable(VariableName),
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum KindName {
    Gemini,
    Vertex,
    CodeAssist,
    #[serde(rename = "openai")]
    OpenAi,
    Rehearsal,
}

#[derive(Debug, Clone, Copy, Deserialize)]
enum KeyHeader {
    #[serde(rename = "x-goog-api-key")]
    Google,
    #[serde(rename = "bearer")]
    Bearer,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table with name and kind")]
struct BackendFields {
    name: Word,
    kind: KindName,
    #[serde(default, deserialize_with = "secret")]
    key: Option<Secret>,
    key_file: Option<PathText>,
    key_env: Option<VariableName>,
    key_header: Option<KeyHeader>,
    base_url: Option<BaseUrl>,
    api_version: Option<Word>,
    project: Option<Word>,
    location: Option<Word>,
    credentials: Option<PathText>,
    client_id: Option<Word>,
    #[serde(default, deserialize_with = "secret")]
    client_secret: Option<Secret>,
    client_secret_file: Option<PathText>,
    headers: Option<BTreeMap<String, HeaderText>>,
    #[serde(default)]
    allow_plain_http: bool,
}

impl TryFrom<BackendFields> for Backend {
    type Error = String;

    fn try_from(mut fields: BackendFields) -> Result<Self, String> {
        let (name, allow_plain_http) = (fields.name.clone(), fields.allow_plain_http);
        let kind = fields.kind()?;
        match fields.left_over() {
            None => Ok(Self { name, kind, allow_plain_http }),
            Some(key) => Err(format!("{key} means nothing to a backend of this kind; take it out")),
        }
    }
}

impl BackendFields {
    /// Takes what the kind knows.
    fn kind(&mut self) -> Result<Kind, String> {
        Ok(match self.kind {
            KindName::Gemini => Kind::Gemini {
                key: self.key()?,
                base_url: self.base_url.take(),
                api_version: self.api_version.take(),
                bearer: self.key_header.take().map(|header| matches!(header, KeyHeader::Bearer)),
            },
            KindName::Vertex => Kind::Vertex {
                key: self.key()?,
                base_url: self.base_url.take(),
                project: self.project.take(),
                location: self.location.take(),
                credentials: self.credentials.take(),
            },
            KindName::CodeAssist => Kind::CodeAssist {
                base_url: self.base_url.take(),
                api_version: self.api_version.take(),
                project: self.project.take(),
                credentials: self.credentials.take(),
                client: self.client()?,
            },
            KindName::OpenAi => Kind::OpenAi {
                key: self.key()?,
                base_url: self.base_url.take().ok_or(
                    "base_url is missing; add where the server is, for example http://127.0.0.1:11434/v1",
                )?,
                headers: self.headers()?,
            },
            KindName::Rehearsal => Kind::Rehearsal,
        })
    }

    fn key(&mut self) -> Result<Option<Key>, String> {
        let given = [
            self.key.take().map(Key::Inline),
            self.key_file.take().map(Key::File),
            self.key_env.take().map(Key::Variable),
        ];
        let mut given = given.into_iter().flatten();
        match (given.next(), given.next()) {
            (key, None) => Ok(key),
            _ => Err("key, key_file and key_env say the same thing; keep one of them".to_owned()),
        }
    }

    fn client(&mut self) -> Result<Option<Client>, String> {
        let secret = match (self.client_secret.take(), self.client_secret_file.take()) {
            (Some(_), Some(_)) => {
                return Err(
                    "client_secret and client_secret_file say the same thing; keep one of them".to_owned()
                );
            }
            (secret, file) => secret.map(Key::Inline).or(file.map(Key::File)),
        };
        match (self.client_id.take(), secret) {
            (None, None) => Ok(None),
            (Some(id), Some(secret)) => Ok(Some(Client { id, secret })),
            _ => Err("client_id and client_secret belong together; set both, or neither".to_owned()),
        }
    }

    fn headers(&mut self) -> Result<BTreeMap<String, HeaderText>, String> {
        let headers = self.headers.take().unwrap_or_default();
        let bad = headers.keys().find(|name| http::HeaderName::from_bytes(name.as_bytes()).is_err());
        match bad {
            Some(name) => {
                Err(format!("`{name}` in headers is not the name of a header; write for example x-team"))
            }
            None => Ok(headers),
        }
    }

    /// What the kind did not take.
    fn left_over(&self) -> Option<&'static str> {
        let fields = [
            ("key", self.key.is_some()),
            ("key_file", self.key_file.is_some()),
            ("key_env", self.key_env.is_some()),
            ("key_header", self.key_header.is_some()),
            ("base_url", self.base_url.is_some()),
            ("api_version", self.api_version.is_some()),
            ("project", self.project.is_some()),
            ("location", self.location.is_some()),
            ("credentials", self.credentials.is_some()),
            ("client_id", self.client_id.is_some()),
            ("client_secret", self.client_secret.is_some()),
            ("client_secret_file", self.client_secret_file.is_some()),
            ("headers", self.headers.is_some()),
        ];
        fields.iter().find(|(_, left)| *left).map(|(name, _)| *name)
    }
}

/// Goes through `Value`, because the usual complaint about a wrong type quotes the value.
fn secret<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Secret>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::String(key) => check_key(&key).map(Some).map_err(serde::de::Error::custom),
        _ => Err(serde::de::Error::custom("the key must be a string; put it in quotes")),
    }
}

/// One of `[[model.routes]]`, with one target or with arms.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table with model, and backend, to or arms")]
pub(in super::super) struct Route {
    pub(super) model: ModelName,
    pub(super) backend: Option<Word>,
    pub(super) to: Option<ModelName>,
    pub(super) arms: Option<Vec<Arm>>,
    #[serde(default)]
    pub(super) fallback: Vec<Target>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table with name, weight, backend and to")]
pub(super) struct Arm {
    pub(super) name: Word,
    pub(super) weight: Option<Bounded<0, 1_000_000>>,
    pub(super) backend: Option<Word>,
    pub(super) to: Option<ModelName>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table with backend and to")]
pub(super) struct Target {
    pub(super) backend: Option<Word>,
    pub(super) to: Option<ModelName>,
}
