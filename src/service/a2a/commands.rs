//! Slash commands over JSON-RPC, for A2A's callers: with the events of the execution where they are asked for.

use futures::StreamExt;
use futures::stream::{self, BoxStream};
use tonic::{Request, Response, Status};

use super::{A2a, answer};
use crate::proto::a2a::StreamResponse;
use crate::proto::devtool::{
    ExecuteSlashCommandRequest, ExecuteSlashCommandResponse, GetAllSlashCommandsRequest,
    GetAllSlashCommandsResponse,
};
use crate::service::commands;

/// One event of an execution that is followed from its beginning.
pub enum Executing {
    /// Always the first, and the only one of a command that did not start.
    Response(ExecuteSlashCommandResponse),
    Event(StreamResponse),
}

type Events = Response<BoxStream<'static, Result<Executing, Status>>>;

impl A2a {
    pub async fn get_all_slash_commands(
        &self,
        request: Request<GetAllSlashCommandsRequest>,
    ) -> Result<Response<GetAllSlashCommandsResponse>, Status> {
        let caller = self.enter(&request, &request.get_ref().tenant)?;
        let listed = commands::list(&self.engine, &caller.who, request.into_inner()).await?;
        Ok(answer(&caller, listed))
    }

    pub async fn execute_slash_command(
        &self,
        request: Request<ExecuteSlashCommandRequest>,
    ) -> Result<Response<ExecuteSlashCommandResponse>, Status> {
        let caller = self.enter(&request, &request.get_ref().tenant)?;
        let (response, _) = commands::execute(&self.engine, &caller.who, request.into_inner()).await?;
        Ok(answer(&caller, response))
    }

    /// The response, and then what happens until the command ends or asks.
    pub async fn execute_and_stream(
        &self,
        request: Request<ExecuteSlashCommandRequest>,
    ) -> Result<Events, Status> {
        let caller = self.enter(&request, &request.get_ref().tenant)?;
        self.streams()?;
        let (response, watch) = commands::execute(&self.engine, &caller.who, request.into_inner()).await?;
        let first = stream::iter([Ok(Executing::Response(response))]);
        let Some(watch) = watch else { return Ok(answer(&caller, first.boxed())) };
        let (metadata, events, extensions) = self.follow(&caller, &watch).await?.into_parts();
        let events = first.chain(events.map(|event| event.map(Executing::Event))).boxed();
        Ok(Response::from_parts(metadata, events, extensions))
    }
}
