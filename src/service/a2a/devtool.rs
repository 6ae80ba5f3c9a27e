//! The development-tool extension where a message comes in: settings, decisions, and going on with a task that has
//! ended. Pure.

use crate::domain::confirmation::{confirmations, with_feedback};
use crate::domain::error::Error;
use crate::domain::settings;
use crate::domain::store::Head;
use crate::projection::devtool::confirmation;
use crate::proto::a2a::Message;
use crate::proto::devtool::{AgentSettings, ToolCallConfirmation};

pub(super) fn settings(message: &Message) -> Result<Option<AgentSettings>, Error> {
    settings::settings(message).map_err(|(field, problem)| Error::field(field, problem))
}

/// What a message decides. It is marked as such, for whoever reads the history.
pub(super) fn decisions(message: &mut Message) -> Result<Vec<(usize, ToolCallConfirmation)>, Error> {
    let decisions = confirmations(message).map_err(|(field, problem)| Error::field(field, problem))?;
    if !decisions.is_empty() {
        with_feedback(message, decisions.iter().map(|(_, decision)| decision));
        message.metadata.get_or_insert_default().fields.extend(confirmation().fields);
    }
    Ok(decisions)
}

/// A task that has ended never changes: the RFC's "go on with the same task" is a new one beside it that refers to it.
pub(super) fn continued(mut message: Message, head: &Head) -> Message {
    message.task_id.clear();
    message.context_id.clone_from(&head.context_id);
    message.reference_task_ids.push(head.task_id.clone());
    message
}
