//! What stands behind the agent: what acts directly, what thinks, where tools come from, and what holds for all of it.
//! The composition root puts it together.

use std::sync::Arc;

use super::policy::{Mode, Rule};
use crate::domain::brain::Brain;
use crate::domain::mcp::Servers;
use crate::domain::model::Backend;
use crate::domain::tool::Workshop;
use crate::proto::devtool::{AgentSettings, ApprovalMode};

#[derive(Clone)]
pub struct Mind {
    pub brain: Arc<dyn Brain>,
    pub backend: Arc<dyn Backend>,
    pub workshop: Arc<dyn Workshop>,
    /// Tools from elsewhere.
    pub servers: Arc<dyn Servers>,
    pub options: Options,
}

impl Mind {
    /// The name of the model that is asked where a client names none, as it is now.
    pub fn model(&self) -> String {
        match self.options.model.is_empty() {
            true => self.backend.default_model().unwrap_or_default(),
            false => self.options.model.clone(),
        }
    }
}

#[derive(Debug, Clone)]
pub struct Options {
    /// The model that is asked where a client names none. Empty leaves it to who knows the models.
    pub model: String,
    /// How much is done without asking where a client does not say.
    pub mode: Mode,
    /// Clients may ask for a mode that asks for nothing.
    pub allow_yolo: bool,
    /// The operator's.
    pub rules: Arc<[Rule]>,
    /// Answers of the model in one turn, at the most.
    pub max_answers: usize,
    /// Tokens from which on a conversation is made shorter.
    pub compress_at: i64,
}

impl Options {
    /// The settings as far as they may be had now.
    pub fn clamp(&self, mut settings: AgentSettings) -> AgentSettings {
        if settings.approval_mode() == ApprovalMode::Yolo && !self.allow_yolo {
            settings.set_approval_mode(ApprovalMode::Unspecified);
        }
        settings
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            model: "rehearsal".to_owned(),
            mode: Mode::Default,
            allow_yolo: false,
            rules: Arc::new([]),
            max_answers: 100,
            compress_at: 524_288,
        }
    }
}
