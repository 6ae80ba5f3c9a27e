//! Tokens of Google accounts: where they are looked for, how they are got and renewed. Knows no model and reads no
//! environment: paths, ids and secrets come in as [`Options`]. The backends on Vertex and Code Assist ask
//! [`TokenSource`].

mod cache;
mod file;
mod gemini_cli;
mod grant;
mod jwt;
mod metadata;
mod search;
mod token;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use async_trait::async_trait;
use http::{HeaderName, HeaderValue, header};

pub use cache::Cache;
pub use token::Token;

use crate::domain::model::{ModelCause, ModelError};
use crate::domain::secret::Secret;
use crate::model::http::{Call, ClientError, Http};

/// What a token is good for, unless an account says otherwise.
const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";
/// Google's, where a file names no other.
const TOKEN_URI: &str = "https://oauth2.googleapis.com/token";

/// Gives tokens that are valid for a while yet.
#[async_trait]
pub trait TokenSource: Send + Sync + 'static {
    async fn token(&self) -> Result<Token, ModelError>;

    /// This one was refused: it is not given again.
    fn forget(&self, refused: &Secret);

    /// The text without the token, should it be in there.
    fn blot(&self, text: &str) -> String;
}

/// Gets a new token, each time that it is asked.
#[async_trait]
pub trait Source: Send + Sync + 'static {
    /// `refused` is a token that did not do, however valid it looks.
    async fn fetch(&self, refused: Option<&Secret>) -> Result<Token, ModelError>;
}

/// What time it is. Tests have their own.
pub type Now = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// The application that a user logged in to.
#[derive(Debug, Clone)]
pub struct OauthClient {
    pub id: String,
    pub secret: Secret,
}

/// Where credentials may be; the first place that has some counts.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// A token as it is (`GOOGLE_CLOUD_ACCESS_TOKEN`). Nobody renews it here.
    pub token: Option<Secret>,
    /// A file that the settings name, of whatever kind.
    pub file: Option<PathBuf>,
    /// The one that `GOOGLE_APPLICATION_CREDENTIALS` names.
    pub environment_file: Option<PathBuf>,
    /// Gemini CLI's login, `~/.gemini/oauth_creds.json`. It is never written.
    pub gemini_cli: Option<PathBuf>,
    /// With which that login was made: without it, it cannot be renewed.
    pub gemini_cli_client: Option<OauthClient>,
    /// gcloud's, `~/.config/gcloud/application_default_credentials.json`.
    pub gcloud: Option<PathBuf>,
    /// Another address of the metadata server (`GCE_METADATA_HOST`).
    pub metadata_host: Option<String>,
    /// In place of Google's, where a file names none.
    pub token_uri: Option<String>,
}

/// The tokens of the first place that has some, each kept until shortly before it expires.
pub fn tokens(http: Http, options: Options) -> Result<Arc<dyn TokenSource>, ClientError> {
    let now: Now = Arc::new(SystemTime::now);
    let search = search::Search::new(http, options, Arc::clone(&now))?;
    Ok(Arc::new(Cache::new(search, now)))
}

impl Token {
    /// The call, made in the name of the account.
    #[must_use]
    pub fn sign(&self, call: Call) -> Call {
        let call = call.secret(header::AUTHORIZATION, "Bearer ", &self.secret);
        match self.quota_project.as_deref().map(HeaderValue::from_str) {
            Some(Ok(project)) => call.header(HeaderName::from_static("x-goog-user-project"), project),
            _ => call,
        }
    }
}

/// The token in these headers was refused. False if there was none.
pub fn forget(tokens: &dyn TokenSource, refused: Option<&HeaderValue>) -> bool {
    let value = refused.and_then(|value| value.to_str().ok());
    let refused = value.and_then(|value| value.strip_prefix("Bearer ")).map(Secret::new);
    refused.inspect(|refused| tokens.forget(refused)).is_some()
}

fn denied(message: impl Into<String>) -> ModelError {
    ModelError::new(ModelCause::Denied, message)
}
