//! The card of the package `a2a.v1`. Has no place for an icon, and signatures stay behind: they cover the 1.0 card.
//! Knows no service; the gRPC service of `a2a.v1` calls it.

use super::{PROTOCOL_VERSION, legacy_interfaces};
use crate::projection::v03::wire::each;
use crate::proto::a2a::o_auth_flows::Flow;
use crate::proto::a2a::security_scheme::Scheme;
use crate::proto::{a2a, a2a_v03};

impl From<a2a::AgentCard> for a2a_v03::AgentCard {
    fn from(card: a2a::AgentCard) -> Self {
        let transports: Vec<a2a_v03::AgentInterface> =
            legacy_interfaces(&card).cloned().map(Into::into).collect();
        let main = transports.first().cloned().unwrap_or_default();
        let capabilities = card.capabilities.unwrap_or_default();
        let schemes = card.security_schemes.into_iter();
        Self {
            protocol_version: PROTOCOL_VERSION.to_owned(),
            name: card.name,
            description: card.description,
            url: main.url,
            preferred_transport: main.transport,
            additional_interfaces: transports,
            provider: card.provider.map(Into::into),
            version: card.version,
            documentation_url: card.documentation_url.unwrap_or_default(),
            supports_authenticated_extended_card: capabilities.extended_agent_card.unwrap_or_default(),
            capabilities: Some(capabilities.into()),
            security_schemes: schemes.map(|(name, scheme)| (name, scheme.into())).collect(),
            security: each(card.security_requirements),
            default_input_modes: card.default_input_modes,
            default_output_modes: card.default_output_modes,
            skills: each(card.skills),
            signatures: Vec::new(),
        }
    }
}

impl From<a2a::AgentInterface> for a2a_v03::AgentInterface {
    fn from(interface: a2a::AgentInterface) -> Self {
        Self { url: interface.url, transport: interface.protocol_binding }
    }
}

impl From<a2a::AgentProvider> for a2a_v03::AgentProvider {
    fn from(provider: a2a::AgentProvider) -> Self {
        Self { url: provider.url, organization: provider.organization }
    }
}

impl From<a2a::AgentCapabilities> for a2a_v03::AgentCapabilities {
    fn from(capabilities: a2a::AgentCapabilities) -> Self {
        Self {
            streaming: capabilities.streaming.unwrap_or_default(),
            push_notifications: capabilities.push_notifications.unwrap_or_default(),
            extensions: each(capabilities.extensions),
        }
    }
}

impl From<a2a::AgentExtension> for a2a_v03::AgentExtension {
    fn from(extension: a2a::AgentExtension) -> Self {
        Self {
            uri: extension.uri,
            description: extension.description,
            required: extension.required,
            params: extension.params,
        }
    }
}

impl From<a2a::AgentSkill> for a2a_v03::AgentSkill {
    fn from(skill: a2a::AgentSkill) -> Self {
        Self {
            id: skill.id,
            name: skill.name,
            description: skill.description,
            tags: skill.tags,
            examples: skill.examples,
            input_modes: skill.input_modes,
            output_modes: skill.output_modes,
            security: each(skill.security_requirements),
        }
    }
}

impl From<a2a::SecurityRequirement> for a2a_v03::Security {
    fn from(requirement: a2a::SecurityRequirement) -> Self {
        let scopes = |list: a2a::StringList| a2a_v03::StringList { list: list.list };
        Self { schemes: requirement.schemes.into_iter().map(|(name, list)| (name, scopes(list))).collect() }
    }
}

impl From<a2a::SecurityScheme> for a2a_v03::SecurityScheme {
    fn from(scheme: a2a::SecurityScheme) -> Self {
        use a2a_v03::security_scheme::Scheme as To;
        let scheme = scheme.scheme.map(|scheme| match scheme {
            Scheme::ApiKeySecurityScheme(key) => To::ApiKeySecurityScheme(a2a_v03::ApiKeySecurityScheme {
                description: key.description,
                location: key.location,
                name: key.name,
            }),
            Scheme::HttpAuthSecurityScheme(http) => {
                To::HttpAuthSecurityScheme(a2a_v03::HttpAuthSecurityScheme {
                    description: http.description,
                    scheme: http.scheme,
                    bearer_format: http.bearer_format,
                })
            }
            Scheme::Oauth2SecurityScheme(oauth) => To::Oauth2SecurityScheme(a2a_v03::OAuth2SecurityScheme {
                description: oauth.description,
                flows: oauth.flows.map(Into::into),
                oauth2_metadata_url: oauth.oauth2_metadata_url,
            }),
            Scheme::OpenIdConnectSecurityScheme(open) => {
                To::OpenIdConnectSecurityScheme(a2a_v03::OpenIdConnectSecurityScheme {
                    description: open.description,
                    open_id_connect_url: open.open_id_connect_url,
                })
            }
            Scheme::MtlsSecurityScheme(tls) => {
                To::MtlsSecurityScheme(a2a_v03::MutualTlsSecurityScheme { description: tls.description })
            }
        });
        Self { scheme }
    }
}

impl From<a2a::OAuthFlows> for a2a_v03::OAuthFlows {
    #[allow(deprecated, reason = "0.3 still has the flows that 1.0 advises against")]
    fn from(flows: a2a::OAuthFlows) -> Self {
        use a2a_v03::o_auth_flows::Flow as To;
        let flow = flows.flow.and_then(|flow| match flow {
            Flow::AuthorizationCode(f) => Some(To::AuthorizationCode(a2a_v03::AuthorizationCodeOAuthFlow {
                authorization_url: f.authorization_url,
                token_url: f.token_url,
                refresh_url: f.refresh_url,
                scopes: f.scopes,
            })),
            Flow::ClientCredentials(f) => Some(To::ClientCredentials(a2a_v03::ClientCredentialsOAuthFlow {
                token_url: f.token_url,
                refresh_url: f.refresh_url,
                scopes: f.scopes,
            })),
            Flow::Implicit(f) => Some(To::Implicit(a2a_v03::ImplicitOAuthFlow {
                authorization_url: f.authorization_url,
                refresh_url: f.refresh_url,
                scopes: f.scopes,
            })),
            Flow::Password(f) => Some(To::Password(a2a_v03::PasswordOAuthFlow {
                token_url: f.token_url,
                refresh_url: f.refresh_url,
                scopes: f.scopes,
            })),
            // 0.3 does not know it.
            Flow::DeviceCode(_) => None,
        });
        Self { flow }
    }
}
