//! In which conversation something is done, and what holds there.

use super::exit::{Exit, Stop};
use super::link::{Client, stop};
use crate::config::ApprovalMode;
use crate::config::client::{Context, Work};
use crate::proto::devtool::{self, AgentSettings, ListContextsRequest};

/// What the user said holds; none if nothing was said, so that the server's own holds.
pub fn settings(work: &Work) -> Option<AgentSettings> {
    let Work { workspace, approval_mode, model, .. } = work;
    let mode = approval_mode.map(|mode| match mode {
        ApprovalMode::Default => devtool::ApprovalMode::Default,
        ApprovalMode::AutoEdit => devtool::ApprovalMode::AutoEdit,
        ApprovalMode::Yolo => devtool::ApprovalMode::Yolo,
        ApprovalMode::Plan => devtool::ApprovalMode::Plan,
    });
    let said = workspace.is_some() || mode.is_some() || model.is_some();
    said.then(|| AgentSettings {
        workspace_path: workspace.as_ref().map(|path| path.display().to_string()).unwrap_or_default(),
        approval_mode: mode.unwrap_or_default().into(),
        model: model.clone().unwrap_or_default(),
        ..AgentSettings::default()
    })
}

/// The id of the conversation; empty for a new one.
pub async fn context(client: &mut Client, wanted: &Context) -> Result<String, Stop> {
    match wanted {
        Context::New => Ok(String::new()),
        Context::Id(id) => Ok(id.clone()),
        Context::Last => {
            let request = ListContextsRequest { page_size: 1, page_token: String::new() };
            let listed = client.list_contexts(request).await.map_err(|status| stop(&status))?.into_inner();
            let last = listed.contexts.into_iter().next();
            last.map(|context| context.context_id).ok_or_else(|| {
                Stop::new(Exit::Usage, "--last: there is no conversation yet; begin one without it")
            })
        }
    }
}
