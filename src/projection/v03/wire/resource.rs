//! Resource names: `tasks/{id}` and `tasks/{id}/pushNotificationConfigs/{id}`, where 1.0 has plain ids. Knows no
//! message but the names in it; requests and webhooks use it.

use crate::domain::error::Error;

const WEBHOOKS: &str = "pushNotificationConfigs";

/// The task of a name that stands in `field`.
pub fn task(field: &str, name: &str) -> Result<String, Error> {
    match segments(name).as_slice() {
        ["tasks", id] => Ok((*id).to_owned()),
        _ => Err(bad(field, name, "tasks/{id}")),
    }
}

/// The task of what webhooks stand below. The standard's HTTP path for a new one has the collection in the name, and
/// says `task`.
pub fn parent(field: &str, name: &str) -> Result<String, Error> {
    match segments(name).as_slice() {
        ["tasks", id] | ["tasks" | "task", id, WEBHOOKS] => Ok((*id).to_owned()),
        _ => Err(bad(field, name, "tasks/{id}")),
    }
}

/// The ids of the task and of the webhook.
pub fn webhook(field: &str, name: &str) -> Result<(String, String), Error> {
    match segments(name).as_slice() {
        ["tasks", task, WEBHOOKS, id] => Ok(((*task).to_owned(), (*id).to_owned())),
        _ => Err(bad(field, name, "tasks/{id}/pushNotificationConfigs/{id}")),
    }
}

pub fn webhook_name(task: &str, id: &str) -> String {
    format!("tasks/{task}/{WEBHOOKS}/{id}")
}

/// Nothing at all if one of them is empty.
fn segments(name: &str) -> Vec<&str> {
    let segments: Vec<_> = name.split('/').collect();
    if segments.iter().any(|segment| segment.is_empty()) { Vec::new() } else { segments }
}

fn bad(field: &str, name: &str, wanted: &str) -> Error {
    Error::field(field, format!("must be {wanted}, not {name:?}"))
}
