//! How large a message of A2A and its webhooks may be. Pure.

use crate::domain::error::Error;
use crate::proto::a2a::{Message, TaskPushNotificationConfig};
use crate::service::limits::{ID, count, id, length, references};

/// In bytes, as the next one.
const URL: usize = 2048;
const SECRET: usize = 4096;
const PARTS: usize = 1000;

pub(super) fn message(message: &Message) -> Result<(), Error> {
    id("message.messageId", &message.message_id)?;
    id("message.contextId", &message.context_id)?;
    id("message.taskId", &message.task_id)?;
    count("message.parts", message.parts.len(), PARTS)?;
    references("message.referenceTaskIds", &message.reference_task_ids)
}

/// `place` is where the webhook stands in the request.
pub(super) fn webhook(config: &TaskPushNotificationConfig, place: &str) -> Result<(), Error> {
    let at = |field: &str| format!("{place}{field}");
    id(&at("id"), &config.id)?;
    length(&at("url"), &config.url, URL)?;
    length(&at("token"), &config.token, SECRET)?;
    let Some(authentication) = &config.authentication else { return Ok(()) };
    length(&at("authentication.scheme"), &authentication.scheme, ID)?;
    length(&at("authentication.credentials"), &authentication.credentials, SECRET)
}
