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
        no_tenant(&request.tenant)?;
        commands::list(&self.engine, who, request).await
    }

    pub(super) async fn execute(
        &self,
        who: &Principal,
        request: ExecuteSlashCommandRequest,
    ) -> Result<ExecuteSlashCommandResponse, Error> {
        no_tenant(&request.tenant)?;
        let (response, _) = commands::execute(&self.engine, who, request).await?;
        Ok(response)
    }
}

/// What belongs to a tenant is reached through A2A.
fn no_tenant(tenant: &str) -> Result<(), Error> {
    match tenant.is_empty() {
        true => Ok(()),
        false => {
            Err(Error::field("tenant", "this service knows no tenants; use command/execute of JSON-RPC"))
        }
    }
}
