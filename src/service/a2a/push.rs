//! Webhooks of a task: made, read, listed, removed. Delivering is not done here.

use std::time::SystemTime;

use super::A2a;
use super::fault::{Wanted, fault, not_found};
use super::limits;
use super::negotiate::Caller;
use super::send::is_native;
use crate::domain::error::Error;
use crate::domain::store::{Push, PushState, PushVersion, StoreError};
use crate::domain::webhook;
use crate::proto::a2a::{
    ListTaskPushNotificationConfigsRequest, ListTaskPushNotificationConfigsResponse,
    TaskPushNotificationConfig,
};

impl A2a {
    /// It hears of what happens from now on. One that was there already goes on where it stood, even if it was stopped:
    /// what it has not heard it still gets.
    pub(super) async fn create_push(
        &self,
        caller: &Caller,
        mut config: TaskPushNotificationConfig,
    ) -> Result<TaskPushNotificationConfig, Error> {
        if config.task_id.is_empty() {
            return Err(Error::field("taskId", "is required"));
        }
        self.check_push(&config, "")?;
        let head = self.head(caller, &config.task_id).await?;
        if config.id.is_empty() {
            config.id = uuid::Uuid::now_v7().to_string();
        }
        let push = Push { delivered: head.sequence, ..self.fresh_push(caller, config) };
        let stored = self.engine.store().put_push(&caller.who, push).await;
        let stored = stored.map_err(|e| fault(e.into(), Wanted::Read))?;
        // One that was there already may have something to send.
        self.engine.committed().notify_one();
        Ok(stored.config)
    }

    /// What can be said of a webhook before it is called. `place` is where it stands in the request.
    pub(super) fn check_push(&self, config: &TaskPushNotificationConfig, place: &str) -> Result<(), Error> {
        limits::webhook(config, place)?;
        webhook::check(&config.url, &self.options.push_hosts)
            .map_err(|e| Error::field(format!("{place}url"), e.to_string()))?;
        let secrets =
            config.authentication.iter().flat_map(|a| [&a.scheme, &a.credentials]).chain([&config.token]);
        // They become headers.
        if secrets.into_iter().any(|text| text.chars().any(char::is_control)) {
            return Err(Error::field(format!("{place}authentication"), "must not hold control characters"));
        }
        Ok(())
    }

    /// A webhook that was checked and is not stored yet.
    pub(super) fn fresh_push(&self, caller: &Caller, config: TaskPushNotificationConfig) -> Push {
        Push {
            config,
            version: if is_native(caller) { PushVersion::V10 } else { PushVersion::V03 },
            delivered: 0,
            attempts: 0,
            state: PushState::Active { not_before: SystemTime::now() },
        }
    }

    pub(super) async fn get_push(
        &self,
        caller: &Caller,
        task_id: &str,
        id: &str,
    ) -> Result<TaskPushNotificationConfig, Error> {
        self.head(caller, task_id).await?;
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
