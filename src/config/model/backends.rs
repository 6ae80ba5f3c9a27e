//! `[[model.backends]]` with every gap filled: keys read, defaults of each kind, and what Google's variables add.
//! `model::decide` calls it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::super::decide::absolute;
use super::super::error::ConfigError;
use super::super::values::PathText;
use super::error::BadModel;
use super::google::{self, FoundKey, Google};
use super::raw::{self, Kind};
use super::settings::{BackendKind, KeyFrom, NamedBackend, OAuthClient, VertexAccess};
use super::values::{BaseUrl, HeaderText, Word, check_key};

/// One of the list, at its place in it.
struct Place<'a> {
    google: &'a Google<'a>,
    index: usize,
    allow_plain_http: bool,
}

type Decided = Result<(BackendKind, Option<KeyFrom>), ConfigError>;

pub(super) fn decide(raw: Vec<raw::Backend>, google: &Google) -> Result<Vec<NamedBackend>, ConfigError> {
    let mut decided: Vec<NamedBackend> = Vec::with_capacity(raw.len());
    for (index, backend) in raw.into_iter().enumerate() {
        let place = Place { google, index, allow_plain_http: backend.allow_plain_http };
        let name = backend.name.0;
        if decided.iter().any(|other| other.name == name) {
            return Err(BadModel::SameName { name }.into());
        }
        if name == super::REHEARSAL && !matches!(backend.kind, Kind::Rehearsal) {
            return Err(BadModel::NotRehearsal { at: place.at("name") }.into());
        }
        let (kind, key_from) = place.kind(backend.kind)?;
        decided.push(NamedBackend { name, kind, key_from });
    }
    Ok(decided)
}

impl Place<'_> {
    fn at(&self, key: &str) -> String {
        format!("model.backends[{}].{key}", self.index)
    }

    fn kind(&self, kind: Kind) -> Decided {
        match kind {
            Kind::Gemini { key, base_url, api_version, bearer } => {
                self.gemini(key, base_url, api_version, bearer)
            }
            Kind::Vertex { key, base_url, project, location, credentials } => {
                let access = self.vertex_access(key, credentials)?;
                self.vertex(access, base_url, project, location)
            }
            Kind::CodeAssist { base_url, api_version, project, credentials, client } => {
                self.keep_private(base_url.as_ref())?;
                let (client, client_from) = client.map(|client| self.client(client)).transpose()?.unzip();
                let kind = BackendKind::CodeAssist {
                    endpoint: text(base_url, google::CODE_ASSIST_URL),
                    api_version: word(api_version, google::CODE_ASSIST_VERSION),
                    project: self.project(project)?,
                    credentials: self.credentials(credentials)?,
                    client,
                };
                Ok((kind, client_from))
            }
            Kind::OpenAi { key, base_url, headers } => self.openai(key, &base_url, headers),
            Kind::Rehearsal => Ok((BackendKind::Rehearsal, None)),
        }
    }

    /// A gateway may need no key, Google does. The environment's is for Google alone: whoever writes another address
    /// into the file says which key goes there.
    fn gemini(
        &self,
        key: Option<raw::Key>,
        base_url: Option<BaseUrl>,
        api_version: Option<Word>,
        bearer: Option<bool>,
    ) -> Decided {
        let key = match key {
            Some(key) => Some(self.key("key", key)?),
            None if base_url.is_some() => None,
            None => Some(self.google.gemini_key()?.ok_or_else(|| BadModel::NoKey { at: self.at("key") })?),
        };
        if key.is_some() {
            self.keep_private(base_url.as_ref())?;
        }
        let bearer = match bearer {
            Some(bearer) => bearer,
            None => self.google.bearer()?.unwrap_or(false),
        };
        let (key, key_from) = key.unzip();
        let base_url = text(base_url, google::GEMINI_URL);
        let api_version = word(api_version, google::GEMINI_VERSION);
        Ok((BackendKind::Gemini { base_url, api_version, key, bearer }, key_from))
    }

    fn vertex(
        &self,
        (access, key_from): (VertexAccess, Option<KeyFrom>),
        base_url: Option<BaseUrl>,
        project: Option<Word>,
        location: Option<Word>,
    ) -> Decided {
        self.keep_private(base_url.as_ref())?;
        let project = self.project(project)?;
        if project.is_none() && !matches!(access, VertexAccess::Key(_)) {
            let hint = "add it, set GOOGLE_CLOUD_PROJECT, or add key_file for express mode";
            return Err(BadModel::NoProject { at: self.at("project"), hint }.into());
        }
        let location = match location {
            Some(location) => location.0,
            None => self.google.location()?.unwrap_or_else(|| google::LOCATION.to_owned()),
        };
        let base_url = base_url.map(|url| url.as_str().to_owned());
        Ok((BackendKind::Vertex { project, location, base_url, access }, key_from))
    }

    fn vertex_access(
        &self,
        key: Option<raw::Key>,
        credentials: Option<PathText>,
    ) -> Result<(VertexAccess, Option<KeyFrom>), ConfigError> {
        match (key, credentials) {
            (Some(_), Some(_)) => Err(BadModel::TwoAccesses { at: self.at("credentials") }.into()),
            (Some(key), None) => {
                let (key, from) = self.key("key", key)?;
                Ok((VertexAccess::Key(key), Some(from)))
            }
            (None, credentials) => Ok((VertexAccess::Credentials(self.credentials(credentials)?), None)),
        }
    }

    fn openai(
        &self,
        key: Option<raw::Key>,
        base_url: &BaseUrl,
        headers: BTreeMap<String, HeaderText>,
    ) -> Decided {
        let key = key.map(|key| self.key("key", key)).transpose()?;
        if key.is_some() || !headers.is_empty() {
            self.keep_private(Some(base_url))?;
        }
        let (key, key_from) = key.unzip();
        let headers = headers.into_iter().map(|(name, value)| (name, value.0)).collect();
        Ok((BackendKind::OpenAi { base_url: base_url.as_str().to_owned(), key, headers }, key_from))
    }

    fn client(&self, client: raw::Client) -> Result<(OAuthClient, KeyFrom), ConfigError> {
        let (secret, from) = self.key("client_secret", client.secret)?;
        Ok((OAuthClient { id: client.id.0, secret }, from))
    }

    fn project(&self, given: Option<Word>) -> Result<Option<String>, ConfigError> {
        given.map_or_else(|| self.google.project(), |project| Ok(Some(project.0)))
    }

    fn credentials(&self, given: Option<PathText>) -> Result<Option<PathBuf>, ConfigError> {
        match given {
            Some(path) => absolute("model.backends", path.0, self.google.0.files).map(Some),
            None => self.google.credentials(),
        }
    }

    /// `name` is that of the key if it stood in the file itself.
    fn key(&self, name: &str, key: raw::Key) -> Result<FoundKey, ConfigError> {
        match key {
            raw::Key::Inline(key) => Ok((key, KeyFrom::Inline)),
            raw::Key::File(path) => self.key_of_file(self.at(&format!("{name}_file")), path),
            raw::Key::Variable(variable) => {
                let at = self.at("key_env");
                let text = self.google.0.env.get(&variable.0).filter(|text| !text.is_empty());
                let Some(text) = text else { return Err(BadModel::KeyVariable { at }.into()) };
                let text = text.to_string_lossy();
                let key = check_key(&text).map_err(|problem| BadModel::KeyVariableContent { at, problem })?;
                Ok((key, KeyFrom::Variable(variable.0)))
            }
        }
    }

    fn key_of_file(&self, at: String, path: PathText) -> Result<FoundKey, ConfigError> {
        let files = self.google.0.files;
        let text = match files.read(&path.0) {
            Ok(text) => text,
            Err(error) => return Err(BadModel::KeyFile { at, path: path.0, error }.into()),
        };
        match check_key(&text) {
            Ok(key) => Ok((key, KeyFrom::File(absolute("model.backends", path.0, files)?))),
            Err(problem) => Err(BadModel::KeyFileContent { at, path: path.0, problem }.into()),
        }
    }

    fn keep_private(&self, url: Option<&BaseUrl>) -> Result<(), ConfigError> {
        match url.filter(|url| url.is_exposed() && !self.allow_plain_http) {
            None => Ok(()),
            Some(url) => {
                let (at, host) = (self.at("base_url"), url.host().as_str().to_owned());
                Err(BadModel::ClearText { at, host, hint: ", or set allow_plain_http = true" }.into())
            }
        }
    }
}

fn text(url: Option<BaseUrl>, default: &str) -> String {
    url.map_or_else(|| default.to_owned(), |url| url.as_str().to_owned())
}

fn word(word: Option<Word>, default: &str) -> String {
    word.map_or_else(|| default.to_owned(), |word| word.0)
}
