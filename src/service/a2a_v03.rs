//! A2A 0.3's gRPC package on the same service: each call is turned into 1.0's, answered there, and turned back.

use std::sync::Arc;

use futures::StreamExt;
use tonic::codegen::BoxStream;
use tonic::{Request, Response, Status};

use super::a2a::A2a;
use crate::domain::dialect::{Dialect, EndsAtPause};
use crate::domain::error::Error;
use crate::projection::v03::wire::stream_item;
use crate::proto::a2a::a2a_service_server::A2aService as Native;
use crate::proto::a2a::stream_response::Payload;
use crate::proto::a2a_v03::a2a_service_server::A2aService;
use crate::proto::a2a_v03::*;
use crate::proto::{a2a, wkt};

#[derive(Clone)]
pub struct A2aV03(Arc<A2a>);

impl A2aV03 {
    pub fn new(native: Arc<A2a>) -> Self {
        Self(native)
    }
}

/// The same request in 1.0's words, marked as coming from 0.3.
fn native<Q, N: TryFrom<Q, Error: Into<Error>>>(request: Request<Q>) -> Result<Request<N>, Status> {
    let (metadata, mut extensions, message) = request.into_parts();
    extensions.insert(Dialect::V03);
    let message = N::try_from(message).map_err(|e| Status::from(e.into()))?;
    Ok(Request::from_parts(metadata, extensions, message))
}

/// Which status is the last of a stream: of a send, also one that asks.
fn stream(
    answer: Response<BoxStream<a2a::StreamResponse>>,
    ends: fn(a2a::TaskState) -> bool,
) -> Response<BoxStream<StreamResponse>> {
    let ends = if answer.extensions().get::<EndsAtPause>().is_some() { pauses } else { ends };
    answer.map(|items| {
        let legacy = items.map(move |item| {
            item.map(|item| {
                let last = state(&item).is_some_and(ends);
                stream_item(item, last)
            })
        });
        legacy.boxed()
    })
}

fn pauses(state: a2a::TaskState) -> bool {
    state.is_terminal() || state.is_interrupted()
}

fn state(item: &a2a::StreamResponse) -> Option<a2a::TaskState> {
    match &item.payload {
        Some(Payload::StatusUpdate(update)) => update.status.as_ref().map(|status| status.state()),
        _ => None,
    }
}

#[tonic::async_trait]
impl A2aService for A2aV03 {
    async fn send_message(
        &self,
        request: Request<SendMessageRequest>,
    ) -> Result<Response<SendMessageResponse>, Status> {
        Ok(Native::send_message(&*self.0, native(request)?).await?.map(Into::into))
    }

    async fn send_streaming_message(
        &self,
        request: Request<SendMessageRequest>,
    ) -> Result<Response<BoxStream<StreamResponse>>, Status> {
        let answer = Native::send_streaming_message(&*self.0, native(request)?).await?;
        Ok(stream(answer, pauses))
    }

    async fn get_task(&self, request: Request<GetTaskRequest>) -> Result<Response<Task>, Status> {
        Ok(Native::get_task(&*self.0, native(request)?).await?.map(Into::into))
    }

    async fn cancel_task(&self, request: Request<CancelTaskRequest>) -> Result<Response<Task>, Status> {
        Ok(Native::cancel_task(&*self.0, native(request)?).await?.map(Into::into))
    }

    async fn task_subscription(
        &self,
        request: Request<TaskSubscriptionRequest>,
    ) -> Result<Response<BoxStream<StreamResponse>>, Status> {
        let answer = Native::subscribe_to_task(&*self.0, native(request)?).await?;
        Ok(stream(answer, a2a::TaskState::is_terminal))
    }

    async fn create_task_push_notification_config(
        &self,
        request: Request<CreateTaskPushNotificationConfigRequest>,
    ) -> Result<Response<TaskPushNotificationConfig>, Status> {
        Ok(Native::create_task_push_notification_config(&*self.0, native(request)?).await?.map(Into::into))
    }

    async fn get_task_push_notification_config(
        &self,
        request: Request<GetTaskPushNotificationConfigRequest>,
    ) -> Result<Response<TaskPushNotificationConfig>, Status> {
        Ok(Native::get_task_push_notification_config(&*self.0, native(request)?).await?.map(Into::into))
    }

    async fn list_task_push_notification_config(
        &self,
        request: Request<ListTaskPushNotificationConfigRequest>,
    ) -> Result<Response<ListTaskPushNotificationConfigResponse>, Status> {
        Ok(Native::list_task_push_notification_configs(&*self.0, native(request)?).await?.map(Into::into))
    }

    async fn get_agent_card(
        &self,
        request: Request<GetAgentCardRequest>,
    ) -> Result<Response<AgentCard>, Status> {
        let mut request = request.map(Into::into);
        request.extensions_mut().insert(Dialect::V03);
        Ok(Native::get_extended_agent_card(&*self.0, request).await?.map(Into::into))
    }

    async fn delete_task_push_notification_config(
        &self,
        request: Request<DeleteTaskPushNotificationConfigRequest>,
    ) -> Result<Response<wkt::Empty>, Status> {
        Native::delete_task_push_notification_config(&*self.0, native(request)?).await
    }
}
