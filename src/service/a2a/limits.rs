//! How long what a client names may be, and how many. What is stored under an id, or compared with it, must not be as
//! large as a body. Pure.

use crate::domain::error::Error;
use crate::proto::a2a::{Message, TaskPushNotificationConfig};

/// In bytes, as the next ones. UUIDs and the names that people give are far below.
const ID: usize = 256;
const URL: usize = 2048;
const SECRET: usize = 4096;
const PARTS: usize = 1000;
const REFERENCES: usize = 64;

pub(super) fn message(message: &Message) -> Result<(), Error> {
    id("message.messageId", &message.message_id)?;
    id("message.contextId", &message.context_id)?;
    id("message.taskId", &message.task_id)?;
    count("message.parts", message.parts.len(), PARTS)?;
    references("message.referenceTaskIds", &message.reference_task_ids)
}

pub(in crate::service) fn references(field: &str, tasks: &[String]) -> Result<(), Error> {
    count(field, tasks.len(), REFERENCES)?;
    tasks.iter().enumerate().try_for_each(|(index, task)| id(&format!("{field}[{index}]"), task))
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

pub(in crate::service) fn id(field: &str, text: &str) -> Result<(), Error> {
    length(field, text, ID)
}

fn length(field: &str, text: &str, most: usize) -> Result<(), Error> {
    if text.len() <= most {
        return Ok(());
    }
    Err(Error::field(field, format!("is longer than {most} bytes")))
}

fn count(field: &str, count: usize, most: usize) -> Result<(), Error> {
    if count <= most {
        Ok(())
    } else {
        Err(Error::field(field, format!("has {count} entries; {most} are the most")))
    }
}
