//! A2A 1.0. So far the card; the other calls are unimplemented, as the generated trait says.

use tonic::{Request, Response, Status};

use crate::domain::error::Error;
use crate::proto::a2a::a2a_service_server::A2aService;
use crate::proto::a2a::{AgentCard, GetExtendedAgentCardRequest};

#[derive(Debug)]
pub struct A2a {
    card: AgentCard,
}

impl A2a {
    pub fn new(card: AgentCard) -> Self {
        Self { card }
    }

    pub fn card(&self) -> &AgentCard {
        &self.card
    }
}

#[tonic::async_trait]
impl A2aService for A2a {
    async fn get_extended_agent_card(
        &self,
        request: Request<GetExtendedAgentCardRequest>,
    ) -> Result<Response<AgentCard>, Status> {
        refuse_tenant(&request.get_ref().tenant)?;
        Ok(Response::new(self.card.clone()))
    }
}

/// No tenant is configured anywhere yet, so every name is unknown.
fn refuse_tenant(tenant: &str) -> Result<(), Error> {
    if tenant.is_empty() { Ok(()) } else { Err(Error::field("tenant", "is not a tenant of this server")) }
}
