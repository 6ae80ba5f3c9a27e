//! Webhooks of a task: made, read, listed, removed. Delivering is not done here.

use std::time::SystemTime;

use super::A2a;
use super::fault::{Wanted, fault, not_found};
use super::negotiate::Caller;
use super::send::is_native;
use crate::domain::error::Error;
use crate::domain::store::{Push, PushState, PushVersion, StoreError};
use crate::domain::webhook;
use crate::proto::a2a::{
    ListTaskPushNotificationConfigsRequest, ListTaskPushNotificationConfigsResponse,
    TaskPushNotificationConfig,
};

/// More webhooks than this on one task are a mistake or an attack.
const MOST: usize = 16;

impl A2a {
    pub(super) async fn create_push(
        &self,
        caller: &Caller,
        config: TaskPushNotificationConfig,
    ) -> Result<TaskPushNotificationConfig, Error> {
        if config.task_id.is_empty() {
            return Err(Error::field("taskId", "is required"));
        }
        self.check_push(&config, "url")?;
        let task_id = config.task_id.clone();
        self.attach_push(caller, &task_id, config).await
    }

    /// What can be said of a webhook before it is called.
    pub(super) fn check_push(&self, config: &TaskPushNotificationConfig, field: &str) -> Result<(), Error> {
        webhook::check(&config.url, &self.options.push_hosts)
            .map_err(|e| Error::field(field, e.to_string()))?;
        let secrets =
            config.authentication.iter().flat_map(|a| [&a.scheme, &a.credentials]).chain([&config.token]);
        // They become headers.
        if secrets.into_iter().any(|text| text.chars().any(char::is_control)) {
            return Err(Error::field("authentication", "must not hold control characters"));
        }
        Ok(())
    }

    /// Stores a webhook that was checked. It hears of what happens from now on.
    pub(super) async fn attach_push(
        &self,
        caller: &Caller,
        task_id: &str,
        mut config: TaskPushNotificationConfig,
    ) -> Result<TaskPushNotificationConfig, Error> {
        let head = self.head(caller, task_id).await?;
        if config.id.is_empty() {
            config.id = uuid::Uuid::now_v7().to_string();
        }
        task_id.clone_into(&mut config.task_id);
        let known = self.stored(caller, task_id).await?;
        if known.len() >= MOST && !known.iter().any(|push| push.config.id == config.id) {
            return Err(Error::field("id", format!("the task has {MOST} webhooks, which are the most")));
        }
        let push = Push {
            config: config.clone(),
            version: if is_native(caller) { PushVersion::V10 } else { PushVersion::V03 },
            delivered: head.sequence,
            attempts: 0,
            state: PushState::Active { not_before: SystemTime::now() },
        };
        self.engine.store().put_push(&caller.who, push).await.map_err(|e| fault(e.into(), Wanted::Read))?;
        Ok(config)
    }

    pub(super) async fn get_push(
        &self,
        caller: &Caller,
        task_id: &str,
        id: &str,
    ) -> Result<TaskPushNotificationConfig, Error> {
        let push = self.engine.store().push(&caller.who, task_id, id).await;
        let push = push.map_err(|e: StoreError| fault(e.into(), Wanted::Read))?;
        push.map(|push| push.config).ok_or_else(not_found)
    }

    pub(super) async fn list_push(
        &self,
        caller: &Caller,
        request: &ListTaskPushNotificationConfigsRequest,
    ) -> Result<ListTaskPushNotificationConfigsResponse, Error> {
        self.head(caller, &request.task_id).await?;
        let configs = self.stored(caller, &request.task_id).await?;
        // There are never more than fit on one page.
        let configs = configs.into_iter().map(|push| push.config).collect();
        Ok(ListTaskPushNotificationConfigsResponse { configs, next_page_token: String::new() })
    }

    /// Deleting what is not there is as good as deleting it.
    pub(super) async fn delete_push(&self, caller: &Caller, task_id: &str, id: &str) -> Result<(), Error> {
        self.head(caller, task_id).await?;
        let deleted = self.engine.store().delete_push(&caller.who, task_id, id).await;
        deleted.map(drop).map_err(|e| fault(e.into(), Wanted::Read))
    }

    async fn stored(&self, caller: &Caller, task_id: &str) -> Result<Vec<Push>, Error> {
        self.engine.store().pushes(&caller.who, task_id).await.map_err(|e| fault(e.into(), Wanted::Read))
    }
}
