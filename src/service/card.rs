//! The agent card: what this server says of itself. Pure; built once at start from the address it has.

use crate::proto::a2a::{
    AgentCapabilities, AgentCard, AgentInterface, AgentSkill, HttpAuthSecurityScheme, SecurityRequirement,
    SecurityScheme, StringList, security_scheme,
};

const VERSION: &str = "1.0";
const SCHEME: &str = "bearer";

/// Where clients find the server, and whether they need a key.
#[derive(Debug, Clone)]
pub struct Place {
    /// `http://127.0.0.1:41242`, without a slash at the end.
    pub url: String,
    /// `127.0.0.1:41242`: gRPC clients want it bare.
    pub authority: String,
    pub needs_key: bool,
}

pub fn card(place: &Place) -> AgentCard {
    let mut card = AgentCard {
        name: "Agena".to_owned(),
        description: "A development agent that any client can dock to.".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        supported_interfaces: vec![interface(&place.authority, "GRPC"), interface(&place.url, "HTTP+JSON")],
        capabilities: Some(AgentCapabilities {
            streaming: Some(false),
            push_notifications: Some(false),
            extended_agent_card: Some(true),
            extensions: Vec::new(),
        }),
        default_input_modes: vec!["text/plain".to_owned()],
        default_output_modes: vec!["text/plain".to_owned()],
        skills: vec![introduction()],
        ..AgentCard::default()
    };
    if place.needs_key {
        require_key(&mut card);
    }
    card
}

fn interface(url: &str, binding: &str) -> AgentInterface {
    AgentInterface {
        url: url.to_owned(),
        protocol_binding: binding.to_owned(),
        protocol_version: VERSION.to_owned(),
        tenant: String::new(),
    }
}

/// True today; the development skills are announced with the agent that has them.
fn introduction() -> AgentSkill {
    AgentSkill {
        id: "introduction".to_owned(),
        name: "Introduction".to_owned(),
        description: "Says what this server is and where it can be reached. Tasks are not taken yet."
            .to_owned(),
        tags: vec!["card".to_owned()],
        ..AgentSkill::default()
    }
}

fn require_key(card: &mut AgentCard) {
    let http = HttpAuthSecurityScheme {
        scheme: "Bearer".to_owned(),
        description: "The token that the server prints at start, or a key of its configuration.".to_owned(),
        ..HttpAuthSecurityScheme::default()
    };
    let scheme = SecurityScheme { scheme: Some(security_scheme::Scheme::HttpAuthSecurityScheme(http)) };
    card.security_schemes.insert(SCHEME.to_owned(), scheme);
    let schemes = [(SCHEME.to_owned(), StringList::default())].into();
    card.security_requirements.push(SecurityRequirement { schemes });
}
