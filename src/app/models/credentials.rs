//! Where the credentials of a Google account are looked for: in the file that the settings name, or else where Google's own
//! tools keep them.

use std::path::PathBuf;

use directories::BaseDirs;

use crate::config::OAuthClient;
use crate::model::google::credentials::{OauthClient, Options};

const GCLOUD: &str = "gcloud/application_default_credentials.json";
const GEMINI_CLI: &str = ".gemini/oauth_creds.json";

/// Application default credentials.
pub(super) fn default(file: Option<&PathBuf>) -> Options {
    let gcloud = BaseDirs::new().map(|dirs| dirs.config_dir().join(GCLOUD));
    Options { file: file.cloned(), gcloud, ..Options::default() }
}

/// The same, and before them the login of Gemini CLI.
pub(super) fn gemini_cli(file: Option<&PathBuf>, client: Option<&OAuthClient>) -> Options {
    let client = client.map(|client| OauthClient { id: client.id.clone(), secret: client.secret.clone() });
    Options {
        gemini_cli: BaseDirs::new().map(|dirs| dirs.home_dir().join(GEMINI_CLI)),
        gemini_cli_client: client,
        ..default(file)
    }
}

/// In words.
pub(super) fn origin(file: Option<&PathBuf>) -> String {
    match file {
        Some(file) => format!("the credentials from {}", file.display()),
        None => "the credentials of this machine".to_owned(),
    }
}
