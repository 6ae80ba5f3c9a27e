//! In which conversation something is done, and what holds there.

use super::exit::{Exit, Stop};
use super::link::{Client, stop};
use crate::config::ApprovalMode;
use crate::config::client::{Context, Work};
use crate::proto::a2a::{Message, TaskState};
use crate::proto::devtool::{self, AgentSettings, GetTaskRequest, ListContextsRequest, ListTasksRequest};

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

/// The newest task of a conversation that waits for words, and what it asks: the next line is the answer. One whose calls
/// wait is answered with `agena watch`.
pub async fn asking(client: &mut Client, context_id: &str) -> Result<Option<(String, String)>, Stop> {
    if context_id.is_empty() {
        return Ok(None);
    }
    let request = ListTasksRequest {
        context_id: context_id.to_owned(),
        state: TaskState::InputRequired.into(),
        ..ListTasksRequest::default()
    };
    let listed = client.list_tasks(request).await.map_err(|status| stop(&status))?.into_inner();
    let Some(task) = listed.tasks.into_iter().find(|task| task.pending_confirmations == 0) else {
        return Ok(None);
    };
    let request = GetTaskRequest { task_id: task.task_id.clone() };
    let now = client.get_task(request).await.map_err(|status| stop(&status))?.into_inner();
    let said = now.status.and_then(|status| status.message).as_ref().map(Message::text);
    Ok(Some((task.task_id, said.unwrap_or_default())))
}
