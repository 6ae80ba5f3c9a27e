//! The agent card: what this server says of itself. Pure; built once at start from the address it has.

use crate::domain::extension::DEVELOPMENT_TOOL;
use crate::projection::push_state::PUSH_STATE;
use crate::projection::v10::RESUME;
use crate::proto::a2a::{
    AgentCapabilities, AgentCard, AgentExtension, AgentInterface, AgentSkill, HttpAuthSecurityScheme,
    SecurityRequirement, SecurityScheme, StringList, security_scheme,
};

const NATIVE: &str = "1.0";
const LEGACY: &str = "0.3";
const SCHEME: &str = "bearer";
const INPUT: [&str; 3] = ["text/plain", "text/markdown", "application/json"];
const OUTPUT: [&str; 3] = ["text/plain", "application/json", "application/octet-stream"];

/// Where clients find the server, and whether they need a key.
#[derive(Debug, Clone)]
pub struct Place {
    /// `http://127.0.0.1:41242`, without a slash at the end.
    pub url: String,
    /// `127.0.0.1:41242`: gRPC clients want it bare.
    pub authority: String,
    pub needs_key: bool,
}

/// What is offered.
#[derive(Debug, Clone, Default)]
pub struct Offer {
    pub streaming: bool,
    pub push_notifications: bool,
    pub extended_card: bool,
    /// A client must name the development-tool extension.
    pub development_tool_required: bool,
    /// Besides our own.
    pub extensions: Vec<AgentExtension>,
}

pub fn card(place: &Place, offer: &Offer) -> AgentCard {
    let mut card = AgentCard {
        name: "Agena".to_owned(),
        description: "A development agent that any client can dock to.".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        supported_interfaces: interfaces(place),
        capabilities: Some(AgentCapabilities {
            streaming: Some(offer.streaming),
            push_notifications: Some(offer.push_notifications),
            extended_agent_card: Some(offer.extended_card),
            extensions: extensions(offer),
        }),
        default_input_modes: INPUT.map(str::to_owned).to_vec(),
        default_output_modes: OUTPUT.map(str::to_owned).to_vec(),
        skills: vec![development(), rehearsal()],
        ..AgentCard::default()
    };
    if place.needs_key {
        require_key(&mut card);
    }
    card
}

/// 1.0 first, and gRPC before the rest. Clients of 0.3 look behind, and take JSON-RPC for granted.
fn interfaces(place: &Place) -> Vec<AgentInterface> {
    let grpc = |version| interface(&place.authority, "GRPC", version);
    let rpc = |version| interface(&format!("{}/a2a/rpc", place.url), "JSONRPC", version);
    let rest = |version| interface(&place.url, "HTTP+JSON", version);
    vec![grpc(NATIVE), rpc(NATIVE), rest(NATIVE), rpc(LEGACY), grpc(LEGACY), rest(LEGACY)]
}

fn interface(url: &str, binding: &str, version: &str) -> AgentInterface {
    AgentInterface {
        url: url.to_owned(),
        protocol_binding: binding.to_owned(),
        protocol_version: version.to_owned(),
        tenant: String::new(),
    }
}

/// Ours, then the operator's.
fn extensions(offer: &Offer) -> Vec<AgentExtension> {
    let own = |uri: &str, description: &str| AgentExtension {
        uri: uri.to_owned(),
        description: description.to_owned(),
        ..AgentExtension::default()
    };
    let resume = "Every event and task carries its sequence; Last-Event-ID resumes a stream behind it.";
    let push = "Every task carries the state of its webhooks.";
    let push = offer.push_notifications.then(|| own(PUSH_STATE, push));
    let development = development_tool(offer.development_tool_required);
    let own = [own(RESUME, resume), development].into_iter().chain(push);
    own.chain(offer.extensions.iter().cloned()).collect()
}

fn development_tool(required: bool) -> AgentExtension {
    AgentExtension {
        uri: DEVELOPMENT_TOOL.to_owned(),
        description:
            "Settings, thoughts, tool calls with their live output, and confirmations, typed, in metadata; \
            without it the agent speaks and asks in plain text."
                .to_owned(),
        required,
        params: None,
    }
}

fn development() -> AgentSkill {
    AgentSkill {
        id: "development".to_owned(),
        name: "Development".to_owned(),
        description:
            "Answers questions about the code of a workspace, edits its files and runs commands there, \
            each after approval where the server's settings ask for it."
                .to_owned(),
        tags: ["code", "files", "shell"].map(str::to_owned).to_vec(),
        examples: ["What is in README.md?", "Create hello.py that prints hi", "Run ls -la"]
            .map(str::to_owned)
            .to_vec(),
        ..AgentSkill::default()
    }
}

fn rehearsal() -> AgentSkill {
    AgentSkill {
        id: "rehearsal".to_owned(),
        name: "Rehearsal".to_owned(),
        description: "Follows a script: says, asks, makes artifacts and fails as a client's author needs it."
            .to_owned(),
        tags: vec!["test".to_owned()],
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
