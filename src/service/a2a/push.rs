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
        self.attach_push(caller, &task_id, config, None).await
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

    /// Stores a webhook that was checked. It hears of what happens behind `after`, or else from now on. One that was
    /// there already goes on where it stood, even if it was stopped: what it has not heard it still gets.
    pub(super) async fn attach_push(
        &self,
        caller: &Caller,
        task_id: &str,
        mut config: TaskPushNotificationConfig,
        after: Option<u64>,
    ) -> Result<TaskPushNotificationConfig, Error> {
        let head = self.head(caller, task_id).await?;
        let known = self.stored(caller, task_id).await?;
        task_id.clone_into(&mut config.task_id);
        let old = known.iter().find(|push| is_same(&push.config, &config, after.is_some()));
        if known.len() >= MOST && old.is_none() {
            return Err(Error::field("id", format!("the task has {MOST} webhooks, which are the most")));
        }
        config.id = match old {
            Some(push) => push.config.id.clone(),
            None if config.id.is_empty() => uuid::Uuid::now_v7().to_string(),
            None => config.id,
        };
        let push = Push {
            config: config.clone(),
            version: if is_native(caller) { PushVersion::V10 } else { PushVersion::V03 },
            delivered: old.map_or(after.unwrap_or(head.sequence), |push| push.delivered),
            attempts: 0,
            state: PushState::Active { not_before: SystemTime::now() },
        };
        self.engine.store().put_push(&caller.who, push).await.map_err(|e| fault(e.into(), Wanted::Read))?;
        // There may be something to send already.
        self.engine.committed().notify_one();
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

/// A send that is repeated brings its webhook along again, without the id that it got the first time.
fn is_same(known: &TaskPushNotificationConfig, given: &TaskPushNotificationConfig, with_send: bool) -> bool {
    if !given.id.is_empty() || !with_send {
        return known.id == given.id;
    }
    *known == TaskPushNotificationConfig { id: known.id.clone(), ..given.clone() }
}
