//! Slash commands: what there is, and running one. What that means is said once, for every front.

use super::DevTool;
use crate::domain::error::Error;
use crate::domain::principal::Principal;
use crate::proto::devtool::{
    ExecuteSlashCommandRequest, ExecuteSlashCommandResponse, GetAllSlashCommandsRequest,
    GetAllSlashCommandsResponse,
};
use crate::service::commands;

impl DevTool {
    pub(super) async fn commands(
        &self,
        who: &Principal,
        request: GetAllSlashCommandsRequest,
    ) -> Result<GetAllSlashCommandsResponse, Error> {
        commands::list(&self.engine, who, request).await
    }

    pub(super) async fn execute(
        &self,
        who: &Principal,
        request: ExecuteSlashCommandRequest,
    ) -> Result<ExecuteSlashCommandResponse, Error> {
        let (response, _) = commands::execute(&self.engine, who, request).await?;
        Ok(response)
    }
}
