//! The variables of Google's own tools: what they say by themselves makes backends, and what a backend of the file
//! leaves out is taken from them. Reads a variable only where it is needed; `model::decide` asks.

use std::path::PathBuf;

use super::super::World;
use super::super::decide::absolute;
use super::super::env;
use super::super::error::{ConfigError, Source};
use super::super::values::PathText;
use super::error::BadModel;
use super::settings::{BackendKind, KeyFrom, NamedBackend, VertexAccess};
use super::values::{BaseUrl, Word, check_key};
use crate::domain::secret::Secret;

/// Where the Gemini API is, if no gateway stands before it.
pub const GEMINI_URL: &str = "https://generativelanguage.googleapis.com";
pub(super) const GEMINI_VERSION: &str = "v1beta";
pub(super) const CODE_ASSIST_URL: &str = "https://cloudcode-pa.googleapis.com";
pub(super) const CODE_ASSIST_VERSION: &str = "v1internal";
pub(super) const LOCATION: &str = "global";

const GEMINI_KEY: &str = "GEMINI_API_KEY";
const GOOGLE_KEY: &str = "GOOGLE_API_KEY";
const GEMINI_BASE_URL: &str = "GOOGLE_GEMINI_BASE_URL";
const GEMINI_API_VERSION: &str = "GOOGLE_GENAI_API_VERSION";
const KEY_MECHANISM: &str = "GEMINI_API_KEY_AUTH_MECHANISM";
const USE_CODE_ASSIST: &str = "USE_CCPA";
const CODE_ASSIST_ENDPOINT: &str = "CODE_ASSIST_ENDPOINT";
const CODE_ASSIST_API_VERSION: &str = "CODE_ASSIST_API_VERSION";
const USE_VERTEX: &str = "GOOGLE_GENAI_USE_VERTEXAI";
const VERTEX_BASE_URL: &str = "GOOGLE_VERTEX_BASE_URL";
const PROJECT: &str = "GOOGLE_CLOUD_PROJECT";
const VERTEX_LOCATION: &str = "GOOGLE_CLOUD_LOCATION";
const CREDENTIALS: &str = "GOOGLE_APPLICATION_CREDENTIALS";

/// All that are read, for the help to be held against.
#[cfg(test)]
pub(in super::super) const VARIABLES: [&str; 13] = [
    GEMINI_KEY,
    GOOGLE_KEY,
    GEMINI_BASE_URL,
    GEMINI_API_VERSION,
    KEY_MECHANISM,
    USE_CODE_ASSIST,
    CODE_ASSIST_ENDPOINT,
    CODE_ASSIST_API_VERSION,
    USE_VERTEX,
    VERTEX_BASE_URL,
    PROJECT,
    VERTEX_LOCATION,
    CREDENTIALS,
];

type Found<T> = Result<Option<T>, ConfigError>;

/// A key and where it was found.
pub(super) type FoundKey = (Secret, KeyFrom);

pub(super) struct Google<'a>(pub(super) &'a World<'a>);

impl Google<'_> {
    /// Those that stand for themselves, except the ones whose name is `taken`. Who turns a way in on means it more
    /// than who has a key lying about.
    pub(super) fn backends(&self, taken: &[NamedBackend]) -> Result<Vec<NamedBackend>, ConfigError> {
        let ways: [(&str, &dyn Fn() -> Found<NamedBackend>); 3] = [
            ("code_assist", &|| self.code_assist()),
            ("vertex", &|| self.vertex()),
            ("gemini", &|| self.gemini()),
        ];
        let free = ways.into_iter().filter(|(name, _)| taken.iter().all(|backend| backend.name != *name));
        free.filter_map(|(_, find)| find().transpose()).collect()
    }

    fn gemini(&self) -> Found<NamedBackend> {
        let (key, base_url) = (self.gemini_key()?, self.base_url(GEMINI_BASE_URL)?);
        if key.is_none() && base_url.is_none() {
            return Ok(None);
        }
        if key.is_some() {
            keep_private(GEMINI_BASE_URL, base_url.as_ref())?;
        }
        let (key, key_from) = key.unzip();
        let kind = BackendKind::Gemini {
            base_url: base_url.map_or_else(|| GEMINI_URL.to_owned(), |url| url.as_str().to_owned()),
            api_version: self.word(GEMINI_API_VERSION)?.unwrap_or_else(|| GEMINI_VERSION.to_owned()),
            key,
            bearer: self.bearer()?.unwrap_or(false),
        };
        Ok(Some(NamedBackend { name: "gemini".to_owned(), kind, key_from }))
    }

    fn vertex(&self) -> Found<NamedBackend> {
        if !self.is_on(USE_VERTEX)? {
            return Ok(None);
        }
        let (key, project) = (self.key(GOOGLE_KEY)?, self.project()?);
        if key.is_none() && project.is_none() {
            let hint = "set GOOGLE_CLOUD_PROJECT, or GOOGLE_API_KEY for express mode";
            return Err(BadModel::NoProject { at: USE_VERTEX.to_owned(), hint }.into());
        }
        let base_url = self.base_url(VERTEX_BASE_URL)?;
        keep_private(VERTEX_BASE_URL, base_url.as_ref())?;
        let (key, key_from) = key.unzip();
        let kind = BackendKind::Vertex {
            project,
            location: self.location()?.unwrap_or_else(|| LOCATION.to_owned()),
            base_url: base_url.map(|url| url.as_str().to_owned()),
            access: match key {
                Some(key) => VertexAccess::Key(key),
                None => VertexAccess::Credentials(self.credentials()?),
            },
        };
        Ok(Some(NamedBackend { name: "vertex".to_owned(), kind, key_from }))
    }

    fn code_assist(&self) -> Found<NamedBackend> {
        if !self.is_on(USE_CODE_ASSIST)? {
            return Ok(None);
        }
        let endpoint = self.base_url(CODE_ASSIST_ENDPOINT)?;
        keep_private(CODE_ASSIST_ENDPOINT, endpoint.as_ref())?;
        let version = self.word(CODE_ASSIST_API_VERSION)?;
        let kind = BackendKind::CodeAssist {
            endpoint: endpoint.map_or_else(|| CODE_ASSIST_URL.to_owned(), |url| url.as_str().to_owned()),
            api_version: version.unwrap_or_else(|| CODE_ASSIST_VERSION.to_owned()),
            project: self.project()?,
            credentials: self.credentials()?,
            client: None,
        };
        Ok(Some(NamedBackend { name: "code_assist".to_owned(), kind, key_from: None }))
    }

    /// For the Gemini API. With Vertex on, `GOOGLE_API_KEY` is Vertex's.
    pub(super) fn gemini_key(&self) -> Found<FoundKey> {
        match self.key(GEMINI_KEY)? {
            None if !self.is_on(USE_VERTEX)? => self.key(GOOGLE_KEY),
            key => Ok(key),
        }
    }

    pub(super) fn bearer(&self) -> Found<bool> {
        match self.read(KEY_MECHANISM)?.as_deref() {
            None => Ok(None),
            Some("x-goog-api-key") => Ok(Some(false)),
            Some("bearer") => Ok(Some(true)),
            Some(_) => Err(bad(KEY_MECHANISM, "this is not known; set x-goog-api-key or bearer".to_owned())),
        }
    }

    pub(super) fn project(&self) -> Found<String> {
        self.word(PROJECT)
    }

    pub(super) fn location(&self) -> Found<String> {
        self.word(VERTEX_LOCATION)
    }

    pub(super) fn credentials(&self) -> Found<PathBuf> {
        let path = |text| PathText::try_from(text).map_err(|problem| bad(CREDENTIALS, problem));
        let path = self.read(CREDENTIALS)?.map(path).transpose()?;
        path.map(|path| absolute(CREDENTIALS, path.0, self.0.files)).transpose()
    }

    fn key(&self, name: &'static str) -> Found<FoundKey> {
        let Some(text) = self.read(name)? else { return Ok(None) };
        let key = check_key(&text).map_err(|problem| bad(name, problem))?;
        Ok(Some((key, KeyFrom::Variable(name.to_owned()))))
    }

    fn base_url(&self, name: &'static str) -> Found<BaseUrl> {
        let url = |text| BaseUrl::try_from(text).map_err(|problem| bad(name, problem));
        self.read(name)?.map(url).transpose()
    }

    fn word(&self, name: &'static str) -> Found<String> {
        let word = |text| Word::try_from(text).map_err(|problem| bad(name, problem));
        Ok(self.read(name)?.map(word).transpose()?.map(|word| word.0))
    }

    fn is_on(&self, name: &'static str) -> Result<bool, ConfigError> {
        Ok(self
            .read(name)?
            .is_some_and(|value| !matches!(value.to_ascii_lowercase().as_str(), "0" | "false")))
    }

    fn read(&self, name: &'static str) -> Found<String> {
        env::read(self.0.env, name)
    }
}

fn bad(name: &'static str, problem: String) -> ConfigError {
    ConfigError::Value { from: Source::Variable(name), key: String::new(), problem }
}

fn keep_private(name: &'static str, url: Option<&BaseUrl>) -> Result<(), ConfigError> {
    match url.filter(|url| url.is_exposed()) {
        None => Ok(()),
        Some(url) => {
            let host = url.host().as_str().to_owned();
            Err(BadModel::ClearText { at: name.to_owned(), host, hint: "" }.into())
        }
    }
}
