//! Webhooks, both ways: flat and with ids in 1.0, nested and with a resource name here. Knows no call; requests and
//! answers use it.

use super::{each, resource};
use crate::proto::{a2a, a2a_v03};

impl From<a2a::TaskPushNotificationConfig> for a2a_v03::TaskPushNotificationConfig {
    fn from(config: a2a::TaskPushNotificationConfig) -> Self {
        Self {
            name: resource::webhook_name(&config.task_id, &config.id),
            push_notification_config: Some(config.into()),
        }
    }
}

impl From<a2a::ListTaskPushNotificationConfigsResponse> for a2a_v03::ListTaskPushNotificationConfigResponse {
    fn from(page: a2a::ListTaskPushNotificationConfigsResponse) -> Self {
        Self { configs: each(page.configs), next_page_token: page.next_page_token }
    }
}

impl From<a2a::TaskPushNotificationConfig> for a2a_v03::PushNotificationConfig {
    fn from(config: a2a::TaskPushNotificationConfig) -> Self {
        Self {
            id: config.id,
            url: config.url,
            token: config.token,
            authentication: config.authentication.map(Into::into),
        }
    }
}

/// Of no task yet.
impl From<a2a_v03::PushNotificationConfig> for a2a::TaskPushNotificationConfig {
    fn from(config: a2a_v03::PushNotificationConfig) -> Self {
        Self {
            id: config.id,
            url: config.url,
            token: config.token,
            authentication: config.authentication.map(Into::into),
            ..Self::default()
        }
    }
}

impl From<a2a::AuthenticationInfo> for a2a_v03::AuthenticationInfo {
    fn from(info: a2a::AuthenticationInfo) -> Self {
        let scheme = Some(info.scheme).filter(|scheme| !scheme.is_empty());
        Self { schemes: scheme.into_iter().collect(), credentials: info.credentials }
    }
}

/// Of several schemes the choice is the server's; 1.0 has one, and takes the client's first.
impl From<a2a_v03::AuthenticationInfo> for a2a::AuthenticationInfo {
    fn from(info: a2a_v03::AuthenticationInfo) -> Self {
        Self { scheme: info.schemes.into_iter().next().unwrap_or_default(), credentials: info.credentials }
    }
}
