//! Gemini with the account of Gemini CLI: Code Assist wraps every call in an envelope with a project, and an account is set
//! up there before the first one. The set-up is made once and shared; one that failed is tried again by the next call.

mod desk;
mod envelope;
mod once;
mod plan;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use http::HeaderValue;
use uuid::Uuid;

use super::Abilities;
use super::credentials::{self, TokenSource};
use super::site::{Question, Site};
use super::wire::encoded;
use crate::domain::model::ModelError;
use crate::model::http::{Call, Http};
use crate::proto::gemini::GenerateContentResponse;
use crate::proto::json::BadJson;
use desk::Desk;
use envelope::Letter;
use once::Once;
use plan::Setup;

const NAME: &str = "Gemini Code Assist";
const ENDPOINT: &str = "https://cloudcode-pa.googleapis.com";
const VERSION: &str = "v1internal";

#[derive(Debug, Clone)]
pub struct Options {
    /// In place of Google's own (`CODE_ASSIST_ENDPOINT`).
    pub endpoint: Option<String>,
    pub version: Option<String>,
    /// Accounts of companies need one (`GOOGLE_CLOUD_PROJECT`).
    pub project: Option<String>,
    /// How often it is asked whether an account is set up.
    pub poll: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self { endpoint: None, version: None, project: None, poll: Duration::from_secs(5) }
    }
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is the number of a project: Code Assist wants its id, such as `my-project-123`")]
pub struct NumericProject(pub String);

pub struct CodeAssist {
    desk: Arc<Desk>,
    set_up: Once<Arc<Setup>>,
    session: String,
}

impl CodeAssist {
    /// `origin` says where the credentials come from.
    pub fn new(
        options: Options,
        tokens: Arc<dyn TokenSource>,
        http: Http,
        origin: impl Into<String>,
    ) -> Result<Self, NumericProject> {
        let project = options.project.filter(|project| !project.is_empty());
        if let Some(number) = project.as_ref().filter(|project| project.bytes().all(|b| b.is_ascii_digit())) {
            return Err(NumericProject(number.clone()));
        }
        let endpoint = options.endpoint.as_deref().unwrap_or(ENDPOINT).trim_end_matches('/');
        let base = format!("{endpoint}/{}", options.version.as_deref().unwrap_or(VERSION));
        let desk = Desk { http, base, tokens, project, poll: options.poll, origin: origin.into() };
        let session = Uuid::now_v7().to_string();
        Ok(Self { desk: Arc::new(desk), set_up: Once::default(), session })
    }

    async fn account(&self) -> Result<Arc<Setup>, ModelError> {
        let desk = Arc::clone(&self.desk);
        self.set_up.get(|| async move { desk.set_up().await.map(Arc::new) }).await
    }
}

#[async_trait]
impl Site for CodeAssist {
    fn name(&self) -> &str {
        NAME
    }

    fn credentials(&self) -> &str {
        &self.desk.origin
    }

    async fn call(&self, question: Question<'_>) -> Result<Call, ModelError> {
        let call = match question {
            Question::Generate { request, streamed } => {
                let verb = if streamed { "streamGenerateContent?alt=sse" } else { "generateContent" };
                let (setup, prompt) = (self.account().await?, Uuid::now_v7().to_string());
                let letter = Letter { project: &setup.project, prompt: &prompt, session: &self.session };
                Call::post(self.desk.url(verb), encoded(&letter.around(request))?)
            }
            Question::Count(request) => {
                Call::post(self.desk.url("countTokens"), encoded(&envelope::counted(request))?)
            }
            Question::Embed(_) => return Err(envelope::lacks("makes no embeddings")),
            Question::Models { .. } => return Err(envelope::lacks("does not tell its models")),
        };
        Ok(self.desk.tokens.token().await?.sign(call))
    }

    async fn renew(&self, refused: Option<&HeaderValue>) -> bool {
        credentials::forget(&*self.desk.tokens, refused)
    }

    fn blot(&self, text: &str) -> String {
        self.desk.tokens.blot(text)
    }

    /// Its envelope knows only Gemini's own dialect of schemas.
    fn abilities(&self, model: &str) -> Abilities {
        Abilities { json_schema: false, own_tools_beside_functions: false, ..Abilities::of(model) }
    }

    fn lists(&self) -> bool {
        false
    }

    fn read(&self, body: &[u8]) -> Result<GenerateContentResponse, BadJson> {
        envelope::opened(body)
    }
}
