//! What a command can look at: the context it runs in, and no other.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Does, all};
use crate::agent::engine::blocking;
use crate::agent::policy::Mode;
use crate::agent::runner::{Failed, Owner, Shared};
use crate::agent::work::Done;
use crate::domain::mcp::Crew;
use crate::domain::store::{Context, Filter, StoreError};
use crate::domain::tool::{Declaration, Toolbox};
use crate::proto::devtool::tool_call::Result as CallResult;
use crate::proto::devtool::tool_output::Result as Output;
use crate::proto::devtool::{AgentSettings, SlashCommand};
use crate::proto::task::TaskEvent;

/// Tasks of the context that are looked at: those whose state changed last.
const TASKS: usize = 200;

pub(in crate::agent) struct Desk {
    pub(in crate::agent) shared: Arc<Shared>,
    pub(in crate::agent) owner: Owner,
    pub(in crate::agent) settings: AgentSettings,
    pub(in crate::agent) tools: Arc<dyn Toolbox>,
    pub(in crate::agent) servers: Arc<dyn Crew>,
    pub(in crate::agent) declarations: Vec<Declaration>,
    pub(in crate::agent) policy_mode: Mode,
}

impl Desk {
    pub(super) fn context(&self) -> Context {
        Context { tenant: self.owner.tenant.clone(), id: self.owner.context_id.clone() }
    }

    pub(super) fn model(&self) -> String {
        match self.settings.model.is_empty() {
            true => self.shared.mind.model(),
            false => self.settings.model.clone(),
        }
    }

    pub(super) fn mode(&self) -> &'static str {
        match self.policy_mode {
            Mode::Plan => "plan",
            Mode::Default => "default",
            Mode::AutoEdit => "auto_edit",
            Mode::Yolo => "yolo",
        }
    }

    pub(super) async fn commands(&self) -> Result<Vec<SlashCommand>, Failed> {
        let tools = Arc::clone(&self.tools);
        let listed = blocking(move || all(&*tools).iter().map(|command| command.about()).collect());
        listed.await.ok_or(Failed::Lost)
    }

    pub(super) async fn memory(&self) -> BTreeMap<String, String> {
        let tools = Arc::clone(&self.tools);
        blocking(move || tools.memory()).await.unwrap_or_default()
    }

    /// Of every task of the context.
    pub(super) async fn journals(&self) -> Result<Vec<Vec<TaskEvent>>, Failed> {
        let Owner { who, tenant, context_id, .. } = &self.owner;
        let filter =
            Filter { tenant: tenant.clone(), context_id: Some(context_id.clone()), ..Filter::default() };
        let page = self.shared.store.list(who, &filter, None, TASKS).await?;
        let mut journals = Vec::new();
        for head in page.heads {
            match self.shared.store.events(who, &head.task_id, 0, usize::MAX).await {
                Err(StoreError::NotFound) => {}
                events => journals.push(events?),
            }
        }
        Ok(journals)
    }
}

impl Done {
    /// What it came to, for the user.
    pub(super) fn ending(&self, done: &str) -> Does {
        match &self.call.result {
            Some(CallResult::Error(error)) => Does::Fails(error.message.clone()),
            _ if done.is_empty() => Does::Says(self.text()),
            _ => Does::Says(done.to_owned()),
        }
    }

    /// What it printed or found, for a prompt.
    pub(super) fn text(&self) -> String {
        match &self.call.result {
            Some(CallResult::Error(error)) => return format!("[{}]", error.message),
            Some(CallResult::Output(output)) => {
                if let Some(Output::Text(text)) = &output.result
                    && self.call.tool_name == "run_shell_command"
                {
                    return text.clone();
                }
            }
            None => {}
        }
        let answer: serde_json::Value = serde_json::from_str(&self.answer).unwrap_or_default();
        answer["output"].as_str().unwrap_or_default().to_owned()
    }
}
