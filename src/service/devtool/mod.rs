//! The development-tool extension as a typed service on the agent. Each file holds one concern; the trait below only says
//! which call is which. Beside A2A, on the same engine: what is begun here is seen there, and the other way round.

mod act;
mod commands;
mod fault;
mod follow;
mod interact;
mod read;
mod rules;
mod statistics;
mod watch;

use std::time::Duration;

use tonic::codegen::BoxStream;
use tonic::{Request, Response, Status, Streaming};

use super::paging::Pages;
use super::{last_event_id, who};
use crate::agent::Engine;
use crate::proto::devtool::development_tool_service_server::DevelopmentToolService;
use crate::proto::devtool::*;

/// The service; a clone is the same one.
#[derive(Clone)]
pub struct DevTool {
    engine: Engine,
    /// A send that comes again within this time is the same send.
    repeat_window: Duration,
    pages: Pages,
}

impl DevTool {
    /// The key signs page tokens.
    pub fn new(engine: Engine, repeat_window: Duration, page_key: [u8; 64]) -> Self {
        Self { engine, repeat_window, pages: Pages::new(page_key) }
    }
}

type Answer<T> = Result<Response<T>, Status>;

#[tonic::async_trait]
impl DevelopmentToolService for DevTool {
    async fn start_task(&self, request: Request<StartTaskRequest>) -> Answer<BoxStream<StartTaskResponse>> {
        let who = who(request.extensions())?;
        Ok(self.start_and_follow(&who, request.into_inner()).await?)
    }

    async fn follow_task(
        &self,
        request: Request<FollowTaskRequest>,
    ) -> Answer<BoxStream<FollowTaskResponse>> {
        let who = who(request.extensions())?;
        let last = last_event_id(request.metadata())?;
        Ok(self.follow(&who, request.get_ref(), last).await?)
    }

    async fn continue_task(&self, request: Request<ContinueTaskRequest>) -> Answer<ContinueTaskResponse> {
        let who = who(request.extensions())?;
        Ok(Response::new(self.go_on(&who, request.into_inner()).await?))
    }

    async fn confirm_tool_call(
        &self,
        request: Request<ConfirmToolCallRequest>,
    ) -> Answer<ConfirmToolCallResponse> {
        let who = who(request.extensions())?;
        let (tool_call, ..) = self.confirm(&who, request.into_inner()).await?;
        Ok(Response::new(ConfirmToolCallResponse { tool_call: Some(tool_call) }))
    }

    async fn cancel_task(&self, request: Request<CancelTaskRequest>) -> Answer<CancelTaskResponse> {
        let who = who(request.extensions())?;
        let task = self.cancel(&who, request.into_inner()).await?;
        Ok(Response::new(CancelTaskResponse { task: Some(task) }))
    }

    async fn get_task(&self, request: Request<GetTaskRequest>) -> Answer<GetTaskResponse> {
        let who = who(request.extensions())?;
        Ok(Response::new(self.task(&who, &request.get_ref().task_id).await?))
    }

    async fn list_tasks(&self, request: Request<ListTasksRequest>) -> Answer<ListTasksResponse> {
        let who = who(request.extensions())?;
        Ok(Response::new(self.tasks(&who, request.get_ref()).await?))
    }

    async fn list_contexts(&self, request: Request<ListContextsRequest>) -> Answer<ListContextsResponse> {
        let who = who(request.extensions())?;
        Ok(Response::new(self.contexts(&who, request.get_ref()).await?))
    }

    async fn watch_tasks(
        &self,
        request: Request<WatchTasksRequest>,
    ) -> Answer<BoxStream<WatchTasksResponse>> {
        let who = who(request.extensions())?;
        Ok(Response::new(self.watch(who, request.get_ref()).await?))
    }

    async fn list_pending_confirmations(
        &self,
        request: Request<ListPendingConfirmationsRequest>,
    ) -> Answer<ListPendingConfirmationsResponse> {
        let who = who(request.extensions())?;
        Ok(Response::new(self.pending(&who, request.get_ref()).await?))
    }

    async fn get_statistics(&self, request: Request<GetStatisticsRequest>) -> Answer<GetStatisticsResponse> {
        let who = who(request.extensions())?;
        Ok(Response::new(self.count(&who, request.get_ref()).await?))
    }

    async fn get_all_slash_commands(
        &self,
        request: Request<GetAllSlashCommandsRequest>,
    ) -> Answer<GetAllSlashCommandsResponse> {
        let who = who(request.extensions())?;
        Ok(Response::new(self.commands(&who, request.into_inner()).await?))
    }

    async fn execute_slash_command(
        &self,
        request: Request<ExecuteSlashCommandRequest>,
    ) -> Answer<ExecuteSlashCommandResponse> {
        let who = who(request.extensions())?;
        Ok(Response::new(self.execute(&who, request.into_inner()).await?))
    }

    async fn list_rules(&self, request: Request<ListRulesRequest>) -> Answer<ListRulesResponse> {
        let who = who(request.extensions())?;
        Ok(Response::new(self.rules(&who, request.get_ref()).await?))
    }

    async fn revoke_rule(&self, request: Request<RevokeRuleRequest>) -> Answer<RevokeRuleResponse> {
        let who = who(request.extensions())?;
        self.revoke(&who, request.into_inner()).await?;
        Ok(Response::new(RevokeRuleResponse {}))
    }

    async fn interact(
        &self,
        request: Request<Streaming<InteractRequest>>,
    ) -> Answer<BoxStream<InteractResponse>> {
        let who = who(request.extensions())?;
        Ok(Response::new(DevTool::interact(self, who, request.into_inner())))
    }
}
