//! One agent card for both generations: the 1.0 card, and beside its members those that a 0.3 client looks for, if the
//! card has an interface for it. Readers that refuse unknown members would stumble over the first of them, so none
//! is spared further in. A signature has to be made over what is printed here. Knows no HTTP; the card's handlers call
//! it.

mod security;
mod wire;

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use super::PROTOCOL_VERSION;
use crate::proto::a2a::{AgentCard, AgentInterface, AgentSkill};
use security::{Requirement, Scheme, requirements};

/// Prints the card for both generations.
#[derive(Debug, Clone, Copy)]
pub struct Card<'a>(pub &'a AgentCard);

impl Serialize for Card<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match legacy_interfaces(self.0).next() {
            Some(main) => both(self.0, main, to),
            None => self.0.serialize(to),
        }
    }
}

/// The addresses where 0.3 is spoken, the preferred one first.
fn legacy_interfaces(card: &AgentCard) -> impl Iterator<Item = &AgentInterface> {
    card.supported_interfaces.iter().filter(|interface| speaks_v03(&interface.protocol_version))
}

/// Major and minor count, with or without a patch behind them.
fn speaks_v03(version: &str) -> bool {
    version.strip_prefix("0.3").is_some_and(|patch| patch.is_empty() || patch.starts_with('.'))
}

fn both<S: Serializer>(card: &AgentCard, main: &AgentInterface, to: S) -> Result<S::Ok, S::Error> {
    let native = AgentCard { skills: Vec::new(), security_schemes: BTreeMap::new(), ..card.clone() };
    let transports = legacy_interfaces(card);
    let capabilities = card.capabilities.as_ref();
    let both = Both {
        native: &native,
        security_schemes: card.security_schemes.iter().map(|(name, scheme)| (name, scheme.into())).collect(),
        skills: card.skills.iter().map(Skill::from).collect(),
        url: &main.url,
        preferred_transport: &main.protocol_binding,
        protocol_version: PROTOCOL_VERSION,
        additional_interfaces: transports.map(Transport::from).collect(),
        supports_authenticated_extended_card: capabilities.and_then(|c| c.extended_agent_card) == Some(true),
        security: requirements(&card.security_requirements),
    };
    both.serialize(to)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Both<'a> {
    /// All of the 1.0 card but the two members that are printed in both spellings.
    #[serde(flatten)]
    native: &'a AgentCard,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    security_schemes: BTreeMap<&'a String, Scheme<'a>>,
    skills: Vec<Skill<'a>>,
    // What only 0.3 has.
    url: &'a str,
    preferred_transport: &'a str,
    protocol_version: &'static str,
    /// The preferred one too, as 0.3 advises.
    additional_interfaces: Vec<Transport<'a>>,
    supports_authenticated_extended_card: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    security: Vec<Requirement<'a>>,
}

#[derive(Serialize)]
struct Transport<'a> {
    url: &'a str,
    transport: &'a str,
}

impl<'a> From<&'a AgentInterface> for Transport<'a> {
    fn from(interface: &'a AgentInterface) -> Self {
        Self { url: &interface.url, transport: &interface.protocol_binding }
    }
}

#[derive(Serialize)]
struct Skill<'a> {
    #[serde(flatten)]
    native: &'a AgentSkill,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    security: Vec<Requirement<'a>>,
}

impl<'a> From<&'a AgentSkill> for Skill<'a> {
    fn from(native: &'a AgentSkill) -> Self {
        Self { native, security: requirements(&native.security_requirements) }
    }
}
