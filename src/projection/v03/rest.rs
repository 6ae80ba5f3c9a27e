//! Bodies of 0.3's HTTP binding. The standard does not settle their spelling: some clients send the ProtoJSON of
//! `a2a.v1`, others the JSON of JSON-RPC, and the routes read the former. What the protobuf has no place for (names of
//! files, metadata of parts, referenced tasks) is lost on this way. Knows no route; the HTTP front calls it on
//! what is posted below `/v1`.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value};

use super::read;
use crate::proto::a2a_v03;
use crate::proto::json::{self, BadJson};

/// What a body turns out to be.
enum Spelling {
    /// A message in JSON-RPC's spelling.
    Message,
    /// A webhook without its wrapper.
    Webhook,
    /// The whole request to register a webhook, where the route takes its `config`.
    Registration,
    /// ProtoJSON, or nothing that could be told apart from it.
    Proto,
}

/// The body as ProtoJSON of `a2a.v1`; untouched if it is that already.
pub fn rest_body(text: &[u8]) -> Result<Cow<'_, [u8]>, BadJson> {
    if text.trim_ascii().is_empty() {
        return Ok(text.into());
    }
    let Value::Object(tree) = json::parse(text)? else { return Ok(text.into()) };
    match spelling(&tree) {
        Spelling::Message => {
            let request = read::send_message(tree.into())?;
            print(&a2a_v03::SendMessageRequest::from(request))
        }
        Spelling::Webhook => {
            let config = a2a_v03::PushNotificationConfig::from(read::webhook(tree.into())?);
            print(&a2a_v03::TaskPushNotificationConfig {
                push_notification_config: Some(config),
                ..a2a_v03::TaskPushNotificationConfig::default()
            })
        }
        Spelling::Registration => print(&registered(tree)?),
        Spelling::Proto => Ok(text.into()),
    }
}

fn spelling(tree: &Map<String, Value>) -> Spelling {
    let message = tree.get("message").and_then(Value::as_object);
    let nested = ["pushNotificationConfig", "push_notification_config"];
    if let Some(message) = message {
        let role = message.get("role").and_then(Value::as_str).unwrap_or_default();
        let old = message.contains_key("kind")
            || message.contains_key("parts")
            || role.starts_with(char::is_lowercase);
        return if old { Spelling::Message } else { Spelling::Proto };
    }
    if nested.iter().any(|name| tree.contains_key(*name)) {
        return Spelling::Proto;
    }
    match (tree.contains_key("url"), tree.contains_key("config")) {
        (true, _) => Spelling::Webhook,
        (_, true) => Spelling::Registration,
        _ => Spelling::Proto,
    }
}

/// The webhook of a registration, with the id that stands beside it.
fn registered(tree: Map<String, Value>) -> Result<a2a_v03::TaskPushNotificationConfig, BadJson> {
    let request: a2a_v03::CreateTaskPushNotificationConfigRequest = json::decode_tree(tree.into())?;
    let mut config = request.config.unwrap_or_default();
    if let Some(webhook) = config.push_notification_config.as_mut().filter(|webhook| webhook.id.is_empty()) {
        webhook.id = request.config_id;
    }
    Ok(config)
}

fn print(message: &impl Serialize) -> Result<Cow<'static, [u8]>, BadJson> {
    serde_json::to_vec(message).map(Cow::Owned).map_err(BadJson::whole)
}
