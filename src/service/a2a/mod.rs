//! A2A 1.0 on the agent: every operation, for whoever asks. Each file holds one group of calls; the trait below only
//! says which call is which. The 0.3 service and JSON-RPC call the same methods.

mod coder;
mod commands;
mod devtool;
mod fault;
mod limits;
mod negotiate;
mod push;
mod read;
mod send;
mod stream;

use std::time::Duration;

use tonic::codegen::BoxStream;
use tonic::metadata::MetadataValue;
use tonic::{Request, Response, Status};

pub use self::coder::Ran;
pub use self::commands::Executing;
use self::negotiate::Caller;
use crate::agent::Engine;
use crate::domain::error::{Cause, Error};
use crate::proto::a2a::a2a_service_server::A2aService;
use crate::proto::a2a::*;
use crate::proto::wkt::Empty;
use crate::service::paging::Pages;

/// What can be set about the service.
#[derive(Debug, Clone)]
pub struct Options {
    /// A send that comes again within this time is the same send.
    pub repeat_window: Duration,
    /// Signs page tokens.
    pub page_key: [u8; 64],
    /// Hosts that webhooks may name although they lie inside.
    pub push_hosts: Vec<String>,
    /// Whose names requests may give. The tasks of each are its own.
    pub tenants: Vec<String>,
}

pub struct A2a {
    engine: Engine,
    card: AgentCard,
    options: Options,
    pages: Pages,
}

impl A2a {
    pub fn new(engine: Engine, card: AgentCard, options: Options) -> Self {
        let pages = Pages::new(options.page_key);
        Self { engine, card, options, pages }
    }

    pub fn card(&self) -> &AgentCard {
        &self.card
    }

    /// Who asks and how, after the checks that hold for every call.
    fn enter<T>(&self, request: &Request<T>, tenant: &str) -> Result<Caller, Error> {
        let caller = Caller::of(request.metadata(), request.extensions(), &self.card)?;
        if !tenant.is_empty() && !self.options.tenants.iter().any(|known| known == tenant) {
            return Err(Error::field("tenant", "is not a tenant of this server"));
        }
        Ok(Caller { tenant: tenant.to_owned(), ..caller })
    }

    fn capability(
        &self,
        has: impl Fn(&AgentCapabilities) -> Option<bool>,
        cause: Cause,
        what: &str,
    ) -> Result<(), Error> {
        match self.card.capabilities.as_ref().and_then(has) {
            Some(true) => Ok(()),
            _ => Err(Error::new(cause, format!("{what} is not offered; the card says so"))),
        }
    }

    fn streams(&self) -> Result<(), Error> {
        self.capability(|c| c.streaming, Cause::UnsupportedOperation, "streaming")
    }

    fn pushes(&self) -> Result<(), Error> {
        self.capability(|c| c.push_notifications, Cause::PushNotificationNotSupported, "push notification")
    }
}

/// An answer that says which extensions were active.
fn answer<T>(caller: &Caller, message: T) -> Response<T> {
    let mut response = Response::new(message);
    if let Ok(active) = MetadataValue::try_from(caller.extensions.join(", "))
        && !caller.extensions.is_empty()
    {
        response.metadata_mut().insert("a2a-extensions", active);
    }
    response
}

#[tonic::async_trait]
impl A2aService for A2a {
    async fn send_message(
        &self,
        request: Request<SendMessageRequest>,
    ) -> Result<Response<SendMessageResponse>, Status> {
        let caller = self.enter(&request, &request.get_ref().tenant)?;
        let sent = self.send_and_wait(&caller, request.into_inner()).await?;
        Ok(answer(&caller, sent))
    }

    async fn send_streaming_message(
        &self,
        request: Request<SendMessageRequest>,
    ) -> Result<Response<BoxStream<StreamResponse>>, Status> {
        let caller = self.enter(&request, &request.get_ref().tenant)?;
        self.streams()?;
        Ok(self.send_and_stream(&caller, request.into_inner()).await?)
    }

    async fn get_task(&self, request: Request<GetTaskRequest>) -> Result<Response<Task>, Status> {
        let caller = self.enter(&request, &request.get_ref().tenant)?;
        let task = self.read_task(&caller, &request.into_inner()).await?;
        Ok(answer(&caller, task))
    }

    async fn list_tasks(
        &self,
        request: Request<ListTasksRequest>,
    ) -> Result<Response<ListTasksResponse>, Status> {
        let caller = self.enter(&request, &request.get_ref().tenant)?;
        let page = self.read_page(&caller, &request.into_inner()).await?;
        Ok(answer(&caller, page))
    }

    async fn cancel_task(&self, request: Request<CancelTaskRequest>) -> Result<Response<Task>, Status> {
        let caller = self.enter(&request, &request.get_ref().tenant)?;
        let task = self.cancel(&caller, &request.get_ref().id).await?;
        Ok(answer(&caller, task))
    }

    async fn subscribe_to_task(
        &self,
        request: Request<SubscribeToTaskRequest>,
    ) -> Result<Response<BoxStream<StreamResponse>>, Status> {
        let caller = self.enter(&request, &request.get_ref().tenant)?;
        self.streams()?;
        Ok(self.subscribe(&caller, &request.get_ref().id).await?)
    }

    async fn create_task_push_notification_config(
        &self,
        request: Request<TaskPushNotificationConfig>,
    ) -> Result<Response<TaskPushNotificationConfig>, Status> {
        let caller = self.enter(&request, &request.get_ref().tenant)?;
        self.pushes()?;
        let config = self.create_push(&caller, request.into_inner()).await?;
        Ok(answer(&caller, config))
    }

    async fn get_task_push_notification_config(
        &self,
        request: Request<GetTaskPushNotificationConfigRequest>,
    ) -> Result<Response<TaskPushNotificationConfig>, Status> {
        let caller = self.enter(&request, &request.get_ref().tenant)?;
        self.pushes()?;
        let GetTaskPushNotificationConfigRequest { task_id, id, .. } = request.into_inner();
        let config = self.get_push(&caller, &task_id, &id).await?;
        Ok(answer(&caller, config))
    }

    async fn list_task_push_notification_configs(
        &self,
        request: Request<ListTaskPushNotificationConfigsRequest>,
    ) -> Result<Response<ListTaskPushNotificationConfigsResponse>, Status> {
        let caller = self.enter(&request, &request.get_ref().tenant)?;
        self.pushes()?;
        let list = self.list_push(&caller, &request.into_inner()).await?;
        Ok(answer(&caller, list))
    }

    async fn delete_task_push_notification_config(
        &self,
        request: Request<DeleteTaskPushNotificationConfigRequest>,
    ) -> Result<Response<Empty>, Status> {
        let caller = self.enter(&request, &request.get_ref().tenant)?;
        self.pushes()?;
        let DeleteTaskPushNotificationConfigRequest { task_id, id, .. } = request.into_inner();
        self.delete_push(&caller, &task_id, &id).await?;
        Ok(answer(&caller, Empty {}))
    }

    async fn get_extended_agent_card(
        &self,
        request: Request<GetExtendedAgentCardRequest>,
    ) -> Result<Response<AgentCard>, Status> {
        let caller = self.enter(&request, &request.get_ref().tenant)?;
        self.capability(|c| c.extended_agent_card, Cause::UnsupportedOperation, "an extended card")?;
        Ok(answer(&caller, self.card.clone()))
    }
}
