//! The Gemini API by key, or a gateway that speaks it.

use std::borrow::Cow;

use async_trait::async_trait;
use http::HeaderName;
use http::header::AUTHORIZATION;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::site::{Question, Site};
use super::wire::encoded;
use crate::domain::model::{ModelCause, ModelError, Relay};
use crate::domain::secret::Secret;
use crate::model::http::Call;

pub(super) const KEY: HeaderName = HeaderName::from_static("x-goog-api-key");

#[derive(Debug, Clone)]
pub struct Api {
    /// Without the version.
    pub base_url: String,
    pub version: String,
    /// A gateway may do without.
    pub key: Option<Secret>,
    /// The key goes into `Authorization`, as some gateways want it.
    pub bearer: bool,
    /// In words: where the key comes from.
    pub origin: String,
}

impl Api {
    fn url(&self, path: &[&str]) -> String {
        let place = [self.base_url.trim_end_matches('/'), "/", &self.version, "/"];
        let pieces = || place.iter().chain(path);
        let mut url = String::with_capacity(pieces().map(|piece| piece.len()).sum());
        pieces().for_each(|piece| url += piece);
        url
    }

    fn signed(&self, call: Call) -> Call {
        match &self.key {
            None => call,
            Some(key) if self.bearer => call.secret(AUTHORIZATION, "Bearer ", key),
            Some(key) => call.secret(KEY, "", key),
        }
    }
}

/// Letters, digits and what names of models are made of.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A name as one segment of a path, so that it leads nowhere else.
pub(super) fn segment(name: &str) -> Result<Cow<'_, str>, ModelError> {
    match name {
        "" | "." | ".." => {
            Err(ModelError::new(ModelCause::NotFound, format!("there is no model named `{name}`")))
        }
        name => Ok(utf8_percent_encode(name, SEGMENT).into()),
    }
}

#[async_trait]
impl Site for Api {
    fn name(&self) -> &str {
        "the Gemini API"
    }

    fn credentials(&self) -> &str {
        &self.origin
    }

    fn blot(&self, text: &str) -> String {
        match &self.key {
            Some(key) => text.replace(key.expose(), "[redacted]"),
            None => text.to_owned(),
        }
    }

    async fn relay(&self, relay: &Relay) -> Option<Result<Call, ModelError>> {
        let call = segment(&relay.model).map(|model| {
            let url = self.url(&["models/", &model, ":", relay.action()]);
            self.signed(Call::post(url, relay.body.clone()))
        });
        Some(call)
    }

    async fn call(&self, question: Question<'_>) -> Result<Call, ModelError> {
        let post = |model: &str, verb: &str, body: Vec<u8>| {
            Ok::<_, ModelError>(Call::post(self.url(&["models/", &segment(model)?, ":", verb]), body))
        };
        let call = match question {
            Question::Generate { request, streamed: true } => {
                post(&request.model, "streamGenerateContent?alt=sse", encoded(request)?)?
            }
            Question::Generate { request, streamed: false } => {
                post(&request.model, "generateContent", encoded(request)?)?
            }
            Question::Count(request) => post(&request.model, "countTokens", encoded(request)?)?,
            Question::Embed(request) => post(&request.model, "batchEmbedContents", encoded(request)?)?,
            Question::Models { page } => {
                let page = utf8_percent_encode(page, NON_ALPHANUMERIC).to_string();
                Call::get(self.url(&["models?pageSize=1000&pageToken=", &page]))
            }
        };
        Ok(self.signed(call))
    }
}
