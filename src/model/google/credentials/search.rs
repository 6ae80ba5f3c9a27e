//! Looks for credentials, at every renewal anew: who logs in again need not start the server again. A file that was named
//! must be there; one that merely may be is passed over.

use std::io;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use tokio::io::AsyncReadExt as _;

use super::file::{self, Account, BadFile, Kind};
use super::gemini_cli::{self, Plan};
use super::grant::{TokenServer, Whose};
use super::metadata::Metadata;
use super::{Now, OauthClient, Options, SCOPE, Source, TOKEN_URI, Token, denied, jwt};
use crate::domain::model::ModelError;
use crate::domain::secret::Secret;
use crate::model::http::{ClientError, Http};

/// Files of credentials are short.
const LONGEST: u64 = 64 << 10;

/// Where credentials may be.
enum Place {
    Token(Secret),
    /// Named by somebody.
    File(PathBuf),
    /// Where a tool keeps it, if it is used.
    Likely(PathBuf),
    Metadata(Box<Metadata>),
}

pub(super) struct Search {
    http: Http,
    places: Vec<Place>,
    /// Of Gemini CLI.
    client: Option<OauthClient>,
    token_uri: String,
    now: Now,
}

impl Search {
    pub(super) fn new(http: Http, options: Options, now: Now) -> Result<Self, ClientError> {
        let token_uri = options.token_uri.clone().unwrap_or_else(|| TOKEN_URI.to_owned());
        let client = options.gemini_cli_client.clone();
        let metadata = Metadata::new(options.metadata_host.clone())?;
        Ok(Self { http, places: places(options, metadata), client, token_uri, now })
    }

    async fn at(&self, place: &Place, refused: Option<&Secret>) -> Result<Option<Token>, ModelError> {
        match place {
            Place::Token(secret) => fixed(secret, refused).map(Some),
            Place::File(path) => {
                let missing = || denied(format!("there is no file of credentials at {}", path.display()));
                let text = read(path).await?.ok_or_else(missing)?;
                self.found(path, &text, refused).await.map(Some)
            }
            Place::Likely(path) => match read(path).await? {
                Some(text) => self.found(path, &text, refused).await.map(Some),
                None => Ok(None),
            },
            Place::Metadata(metadata) => metadata.fetch((self.now)()).await,
        }
    }

    /// A login of Gemini CLI says no type.
    async fn found(&self, path: &Path, text: &[u8], refused: Option<&Secret>) -> Result<Token, ModelError> {
        match file::read(text) {
            Err(BadFile::Missing("type")) if gemini_cli::read(text).is_ok() => {
                self.gemini_cli(path, text, refused).await
            }
            Ok(account) => self.account(path, account).await,
            Err(bad) => Err(unusable(path, &bad)),
        }
    }

    async fn account(&self, path: &Path, account: Account) -> Result<Token, ModelError> {
        let Account { kind, token_uri, quota_project } = account;
        let server = self.token_server(token_uri.as_deref());
        let token = match kind {
            Kind::User { client, refresh_token } => {
                let remedy = "Log in again with `gcloud auth application-default login`";
                let whose = Whose { what: format!("the login in {} is", path.display()), remedy };
                server.renew(&client, &refresh_token, &whose).await?
            }
            Kind::Service(service) => {
                let assertion = jwt::assertion(&service, SCOPE, server.uri, server.now)
                    .map_err(|bad| unusable(path, &bad))?;
                let remedy = "Make a new key for the service account";
                let whose =
                    Whose { what: format!("the key of {} in {} is", service.email, path.display()), remedy };
                server.exchange(&assertion, &whose).await?
            }
        };
        Ok(Token { quota_project, ..token })
    }

    async fn gemini_cli(
        &self,
        path: &Path,
        text: &[u8],
        refused: Option<&Secret>,
    ) -> Result<Token, ModelError> {
        let client = self.client.as_ref();
        let login = gemini_cli::read(text).map_err(|bad| unusable(path, &bad))?;
        let (client, refresh_token, meanwhile) =
            match (login.plan((self.now)(), refused, client.is_some()), client) {
                (Plan::Use(token), _) => return Ok(token),
                (Plan::Renew(refresh_token, meanwhile), Some(client)) => (client, refresh_token, meanwhile),
                (Plan::Renew(..), None) => return Err(gemini_cli::Lack::Client.error(path)),
                (Plan::Ask(lack), _) => return Err(lack.error(path)),
            };
        let remedy = "Log in again with Gemini CLI, or check the configured client id and client secret";
        let whose = Whose { what: format!("Gemini CLI's login in {} is", path.display()), remedy };
        let renewed = self.token_server(None).renew(client, &refresh_token, &whose).await;
        renewed.or_else(|error| meanwhile.ok_or(error))
    }

    fn token_server<'a>(&'a self, uri: Option<&'a str>) -> TokenServer<'a> {
        TokenServer { http: &self.http, uri: uri.unwrap_or(&self.token_uri), now: (self.now)() }
    }
}

#[async_trait]
impl Source for Search {
    async fn fetch(&self, refused: Option<&Secret>) -> Result<Token, ModelError> {
        for place in &self.places {
            if let Some(token) = self.at(place, refused).await? {
                return Ok(token);
            }
        }
        Err(nothing(&self.places))
    }
}

/// In the order in which they count.
fn places(options: Options, metadata: Metadata) -> Vec<Place> {
    [
        options.token.map(Place::Token),
        options.file.map(Place::File),
        options.environment_file.map(Place::File),
        options.gemini_cli.map(Place::Likely),
        options.gcloud.map(Place::Likely),
        Some(Place::Metadata(Box::new(metadata))),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn fixed(secret: &Secret, refused: Option<&Secret>) -> Result<Token, ModelError> {
    if refused.is_some_and(|refused| secret.is(refused)) {
        return Err(denied(
            "the configured access token was refused: it may have expired, and nobody renews it here",
        ));
    }
    Ok(Token { secret: secret.clone(), expires: None, quota_project: None })
}

/// None if there is no such file.
async fn read(path: &Path) -> Result<Option<Vec<u8>>, ModelError> {
    let mut text = Vec::new();
    let outcome = match tokio::fs::File::open(path).await {
        Ok(file) => file.take(LONGEST).read_to_end(&mut text).await,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => Err(error),
    };
    let failed = |error| denied(format!("the credentials in {} cannot be read: {error}", path.display()));
    outcome.map(|_| Some(text)).map_err(failed)
}

fn unusable(path: &Path, bad: &BadFile) -> ModelError {
    denied(format!("the credentials in {} cannot be used: {bad}", path.display()))
}

fn nothing(places: &[Place]) -> ModelError {
    let looked: Vec<String> = places
        .iter()
        .filter_map(|place| match place {
            Place::Token(_) => None,
            Place::File(path) | Place::Likely(path) => Some(path.display().to_string()),
            Place::Metadata(metadata) => Some(metadata.host().to_owned()),
        })
        .collect();
    denied(format!(
        "there are no Google credentials (looked at {}). Log in with `gcloud auth application-default login` \
         (for Code Assist with Gemini CLI), or name a file of credentials",
        looked.join(", ")
    ))
}
