//! The settings of models after every decision: which there are, who gets which name, and how long each may take.
//! Knows nothing of options, variables and files; `model::decide` makes them, the server and the banner read them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::domain::secret::Secret;

#[derive(Debug, Clone)]
pub struct Model {
    /// Asked where a client names none.
    pub name: String,
    /// A script to follow instead of the built-in one.
    pub rehearsal: Option<PathBuf>,
    /// The directory where sessions are written as scripts.
    pub record: Option<PathBuf>,
    /// The first serves every name that no route sends elsewhere. Never empty: without any other, the rehearsal.
    pub backends: Vec<NamedBackend>,
    /// The first that covers a name is followed.
    pub routes: Vec<Route>,
    /// Models that are asked when the asked one cannot answer, in this order.
    pub fallback: Vec<String>,
    /// How long the agent goes on asking a model that is down or overloaded; zero asks once.
    pub patience: Duration,
    pub connect: Duration,
    /// Until the status and the first bytes are there.
    pub first_byte: Duration,
    /// Between bytes.
    pub idle: Duration,
    /// Of one answer.
    pub total: Duration,
    pub proxy: Proxy,
}

#[derive(Debug, Clone)]
pub struct NamedBackend {
    pub name: String,
    pub kind: BackendKind,
    /// Where its key or the secret of its client was found, if it has one, so that it can be named without being shown.
    pub key_from: Option<KeyFrom>,
}

impl NamedBackend {
    /// The files that hold what lets it in.
    pub(in super::super) fn files(&self) -> impl Iterator<Item = &PathBuf> {
        let key = match &self.key_from {
            Some(KeyFrom::File(path)) => Some(path),
            Some(KeyFrom::Variable(_) | KeyFrom::Inline) | None => None,
        };
        let credentials = match &self.kind {
            BackendKind::Vertex { access: VertexAccess::Credentials(path), .. } => path.as_ref(),
            BackendKind::CodeAssist { credentials, .. } => credentials.as_ref(),
            _ => None,
        };
        key.into_iter().chain(credentials)
    }
}

/// Where a key was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyFrom {
    Variable(String),
    File(PathBuf),
    /// In the settings themselves.
    Inline,
}

#[derive(Debug, Clone)]
pub enum BackendKind {
    /// Google's Gemini API, or a gateway that speaks it.
    Gemini {
        base_url: String,
        api_version: String,
        /// A gateway may need none.
        key: Option<Secret>,
        /// The key goes into `Authorization` instead of `x-goog-api-key`.
        bearer: bool,
    },
    Vertex {
        /// There unless the access is a key.
        project: Option<String>,
        location: String,
        /// None: the one of the location.
        base_url: Option<String>,
        access: VertexAccess,
    },
    CodeAssist {
        endpoint: String,
        api_version: String,
        /// None: the one that Code Assist says.
        project: Option<String>,
        /// None: looked for where Google's tools keep them.
        credentials: Option<PathBuf>,
        client: Option<OAuthClient>,
    },
    OpenAi {
        base_url: String,
        key: Option<Secret>,
        /// Any of them may be a key.
        headers: BTreeMap<String, Secret>,
    },
    Rehearsal,
}

impl BackendKind {
    /// Whether it speaks to Google, whose models are named `gemini...`.
    pub fn is_google(&self) -> bool {
        matches!(self, Self::Gemini { .. } | Self::Vertex { .. } | Self::CodeAssist { .. })
    }
}

#[derive(Debug, Clone)]
pub enum VertexAccess {
    /// Express mode.
    Key(Secret),
    /// A file, or else whatever application default credentials there are.
    Credentials(Option<PathBuf>),
}

/// As whom a stored login is renewed.
#[derive(Debug, Clone)]
pub struct OAuthClient {
    pub id: String,
    pub secret: Secret,
}

/// Where requests for some names go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// `*` stands for anything, as in `gpt-*`.
    pub model: String,
    /// At least one, and one of them with a weight.
    pub arms: Vec<Arm>,
    /// Asked in this order when the chosen arm cannot answer.
    pub fallback: Vec<Target>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arm {
    pub name: String,
    pub weight: u32,
    pub target: Target,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// None: the first.
    pub backend: Option<String>,
    /// None: the name that was asked for.
    pub model: Option<String>,
}

#[derive(Debug, Clone)]
pub enum Proxy {
    /// What `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` say.
    Environment,
    None,
    /// Secret, as it may hold a password.
    Url(Secret),
}
