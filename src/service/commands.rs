//! Slash commands for whoever asks: the list, and an execution, which is a task. JSON-RPC and the typed service call it;
//! what commands do is the agent's.

pub(super) use crate::agent::Wanted;
use crate::agent::{Engine, EngineError, Executed, Watch};
use crate::domain::error::{Cause, Error};
use crate::domain::principal::Principal;
use crate::proto::devtool::{
    CommandExecutionStatus, ExecuteSlashCommandRequest, ExecuteSlashCommandResponse,
    GetAllSlashCommandsRequest, GetAllSlashCommandsResponse,
};

pub(super) async fn list(
    engine: &Engine,
    who: &Principal,
    request: GetAllSlashCommandsRequest,
) -> Result<GetAllSlashCommandsResponse, Error> {
    let GetAllSlashCommandsRequest { context_id, settings } = request;
    let wanted = Wanted { context_id, settings, ..Wanted::default() };
    let commands = engine.commands(who, &wanted).await.map_err(fault)?;
    Ok(GetAllSlashCommandsResponse { commands })
}

/// The first answer, and the task that was begun. None if it did not start.
pub(super) async fn execute(
    engine: &Engine,
    who: &Principal,
    request: ExecuteSlashCommandRequest,
) -> Result<(ExecuteSlashCommandResponse, Option<Watch>), Error> {
    let ExecuteSlashCommandRequest { command_path: path, args, context_id, settings } = request;
    start(engine, who, Wanted { context_id, settings, path, args, ..Wanted::default() }).await
}

pub(super) async fn start(
    engine: &Engine,
    who: &Principal,
    wanted: Wanted,
) -> Result<(ExecuteSlashCommandResponse, Option<Watch>), Error> {
    Ok(match engine.execute(who, wanted).await.map_err(fault)? {
        Executed::NotStarted(message) => {
            let status = CommandExecutionStatus::FailedToStart.into();
            (ExecuteSlashCommandResponse { status, message, ..Default::default() }, None)
        }
        Executed::Started { watch, context_id, status } => {
            let execution_id = watch.task_id().to_owned();
            let (status, message) = (status.into(), String::new());
            (ExecuteSlashCommandResponse { execution_id, status, message, context_id }, Some(watch))
        }
    })
}

fn fault(error: EngineError) -> Error {
    match error {
        EngineError::Settings(bad) => Error::field(format!("settings.{}", bad.field), bad.problem),
        busy @ EngineError::Busy => Error::new(Cause::Busy, busy.to_string()),
        error => {
            tracing::error!(%error, "a command could not be executed");
            Error::new(Cause::Internal, "the server could not do this; its log says why")
        }
    }
}
