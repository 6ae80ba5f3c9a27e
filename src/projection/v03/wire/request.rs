//! Requests on their way in. What 1.0 requires is checked here, so that errors name the fields of 0.3. Knows no
//! answer; the gRPC service calls it.

use super::resource;
use crate::domain::error::Error;
use crate::proto::{a2a, a2a_v03};

type Read<T> = Result<T, Error>;

impl TryFrom<a2a_v03::SendMessageRequest> for a2a::SendMessageRequest {
    type Error = Error;

    fn try_from(request: a2a_v03::SendMessageRequest) -> Read<Self> {
        let message = request.request.unwrap_or_default();
        require("message.messageId", !message.message_id.is_empty())?;
        require("message.role", message.role != 0)?;
        require("message.content", !message.content.is_empty())?;
        let configuration = request.configuration.map(a2a::SendMessageConfiguration::try_from);
        Ok(Self {
            message: Some(message.into()),
            configuration: configuration.transpose()?,
            metadata: request.metadata,
            tenant: String::new(),
        })
    }
}

/// A message that came in the JSON of 0.3 and goes on in its protobuf.
impl From<a2a::SendMessageRequest> for a2a_v03::SendMessageRequest {
    fn from(request: a2a::SendMessageRequest) -> Self {
        Self {
            request: request.message.map(Into::into),
            configuration: request.configuration.map(Into::into),
            metadata: request.metadata,
        }
    }
}

impl TryFrom<a2a_v03::SendMessageConfiguration> for a2a::SendMessageConfiguration {
    type Error = Error;

    fn try_from(configuration: a2a_v03::SendMessageConfiguration) -> Read<Self> {
        let webhook =
            configuration.push_notification.map(|config| checked(config, "configuration.pushNotification"));
        Ok(Self {
            accepted_output_modes: configuration.accepted_output_modes,
            task_push_notification_config: webhook.transpose()?,
            history_length: history(configuration.history_length),
            return_immediately: !configuration.blocking,
        })
    }
}

impl From<a2a::SendMessageConfiguration> for a2a_v03::SendMessageConfiguration {
    fn from(configuration: a2a::SendMessageConfiguration) -> Self {
        Self {
            accepted_output_modes: configuration.accepted_output_modes,
            push_notification: configuration.task_push_notification_config.map(Into::into),
            history_length: configuration.history_length.unwrap_or_default(),
            blocking: !configuration.return_immediately,
        }
    }
}

impl TryFrom<a2a_v03::GetTaskRequest> for a2a::GetTaskRequest {
    type Error = Error;

    fn try_from(request: a2a_v03::GetTaskRequest) -> Read<Self> {
        Ok(Self {
            id: resource::task("name", &request.name)?,
            history_length: history(request.history_length),
            tenant: String::new(),
        })
    }
}

impl TryFrom<a2a_v03::CancelTaskRequest> for a2a::CancelTaskRequest {
    type Error = Error;

    fn try_from(request: a2a_v03::CancelTaskRequest) -> Read<Self> {
        Ok(Self { id: resource::task("name", &request.name)?, ..Self::default() })
    }
}

impl TryFrom<a2a_v03::TaskSubscriptionRequest> for a2a::SubscribeToTaskRequest {
    type Error = Error;

    fn try_from(request: a2a_v03::TaskSubscriptionRequest) -> Read<Self> {
        Ok(Self { id: resource::task("name", &request.name)?, ..Self::default() })
    }
}

/// The id is the request's; without one the webhook's own, and else its task's, as over JSON-RPC.
impl TryFrom<a2a_v03::CreateTaskPushNotificationConfigRequest> for a2a::TaskPushNotificationConfig {
    type Error = Error;

    fn try_from(request: a2a_v03::CreateTaskPushNotificationConfigRequest) -> Read<Self> {
        let task_id = resource::parent("parent", &request.parent)?;
        let config = request.config.and_then(|config| config.push_notification_config).unwrap_or_default();
        let config = checked(config, "config.pushNotificationConfig")?;
        let ids = [&request.config_id, &config.id, &task_id];
        let id = ids.into_iter().find(|id| !id.is_empty()).cloned().unwrap_or_default();
        Ok(Self { id, task_id, ..config })
    }
}

impl TryFrom<a2a_v03::GetTaskPushNotificationConfigRequest> for a2a::GetTaskPushNotificationConfigRequest {
    type Error = Error;

    fn try_from(request: a2a_v03::GetTaskPushNotificationConfigRequest) -> Read<Self> {
        let (task_id, id) = resource::webhook("name", &request.name)?;
        Ok(Self { task_id, id, tenant: String::new() })
    }
}

impl TryFrom<a2a_v03::DeleteTaskPushNotificationConfigRequest>
    for a2a::DeleteTaskPushNotificationConfigRequest
{
    type Error = Error;

    fn try_from(request: a2a_v03::DeleteTaskPushNotificationConfigRequest) -> Read<Self> {
        let (task_id, id) = resource::webhook("name", &request.name)?;
        Ok(Self { task_id, id, tenant: String::new() })
    }
}

impl TryFrom<a2a_v03::ListTaskPushNotificationConfigRequest> for a2a::ListTaskPushNotificationConfigsRequest {
    type Error = Error;

    fn try_from(request: a2a_v03::ListTaskPushNotificationConfigRequest) -> Read<Self> {
        Ok(Self {
            task_id: resource::parent("parent", &request.parent)?,
            page_size: request.page_size,
            page_token: request.page_token,
            tenant: String::new(),
        })
    }
}

impl From<a2a_v03::GetAgentCardRequest> for a2a::GetExtendedAgentCardRequest {
    fn from(_: a2a_v03::GetAgentCardRequest) -> Self {
        Self::default()
    }
}

/// 0 asks for everything: the field cannot be absent, and who wants none gets what was always sent.
fn history(length: i32) -> Option<i32> {
    Some(length).filter(|length| *length != 0)
}

/// A webhook that stands in `field`. Some clients always send an authentication, and nothing in it if there is none.
fn checked(
    mut config: a2a_v03::PushNotificationConfig,
    field: &str,
) -> Read<a2a::TaskPushNotificationConfig> {
    config.authentication.take_if(|info| *info == a2a_v03::AuthenticationInfo::default());
    let schemes = config.authentication.as_ref().map(|info| &info.schemes);
    require(&format!("{field}.url"), !config.url.is_empty())?;
    require(
        &format!("{field}.authentication.schemes"),
        schemes.is_none_or(|schemes| schemes.first().is_some_and(|scheme| !scheme.is_empty())),
    )?;
    Ok(config.into())
}

fn require(field: &str, there: bool) -> Read<()> {
    if there { Ok(()) } else { Err(Error::field(field, "is required")) }
}
