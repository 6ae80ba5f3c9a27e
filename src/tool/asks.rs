//! A model that looks things up on the web by itself, for the tools that ask it. Knows a model only as
//! `domain::model` has it; `google_web_search` and `web_fetch` call it, the composition root says which model it is.

use std::fmt;
use std::sync::Arc;

use super::grounding::Answer;
use crate::domain::model::{Backend, ModelError};
use crate::proto::gemini::{Content, GenerateContentRequest, Part, Tool};

#[derive(Clone)]
pub struct Asks {
    pub backend: Arc<dyn Backend>,
    /// For clients whose own model cannot.
    pub model: String,
}

impl fmt::Debug for Asks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Asks").field("model", &self.model).finish_non_exhaustive()
    }
}

/// A tool on the model's side.
#[derive(Debug, Clone, Copy)]
pub(super) enum WebTool {
    GoogleSearch,
    UrlContext,
}

impl Asks {
    /// With the model of the client if that can look things up, or else with the usual one, or not at all. No name stands
    /// for the model that is asked where nobody names one.
    pub(super) fn able(&self, of_client: &str) -> Option<Self> {
        let models = [of_client, &self.model];
        let model = models.into_iter().find(|name| self.backend.searches(name))?;
        Some(Self { backend: Arc::clone(&self.backend), model: model.to_owned() })
    }

    pub(super) fn model(&self) -> &str {
        &self.model
    }

    /// Dropping it stops the call.
    pub(super) async fn ask(&self, tool: WebTool, prompt: String) -> Result<Answer, ModelError> {
        let extra = match tool {
            WebTool::GoogleSearch => r#"{"googleSearch":{}}"#,
            WebTool::UrlContext => r#"{"urlContext":{}}"#,
        };
        let question = Content { role: "user".to_owned(), parts: vec![Part::text(prompt)] };
        let request = GenerateContentRequest {
            model: self.model.clone(),
            contents: vec![question],
            tools: vec![Tool { extra: extra.to_owned(), ..Tool::default() }],
            ..GenerateContentRequest::default()
        };
        let answer = self.backend.generate(&request).await?;
        Ok(answer.candidates.into_iter().next().map(Answer::of).unwrap_or_default())
    }
}
