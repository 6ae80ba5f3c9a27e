//! Ways to sign in, in both spellings at once: 1.0 tells schemes apart by a member, 0.3 by `type`, and no name means
//! two things. Borrowed views; only the card prints them.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::proto::a2a::o_auth_flows::Flow as Native;
use crate::proto::a2a::security_scheme::Scheme as Kind;
use crate::proto::a2a::{OAuthFlows, SecurityRequirement, SecurityScheme};

/// Scheme names with their scopes, all of which are needed together.
pub type Requirement<'a> = BTreeMap<&'a str, &'a [String]>;

pub fn requirements(native: &[SecurityRequirement]) -> Vec<Requirement<'_>> {
    native.iter().map(requirement).collect()
}

fn requirement(native: &SecurityRequirement) -> Requirement<'_> {
    native.schemes.iter().map(|(name, scopes)| (name.as_str(), scopes.list.as_slice())).collect()
}

#[derive(Serialize)]
pub struct Scheme<'a> {
    #[serde(flatten)]
    native: &'a SecurityScheme,
    #[serde(flatten)]
    legacy: Option<Legacy<'a>>,
}

impl<'a> From<&'a SecurityScheme> for Scheme<'a> {
    fn from(native: &'a SecurityScheme) -> Self {
        Self { native, legacy: native.scheme.as_ref().map(Legacy::from) }
    }
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
enum Legacy<'a> {
    ApiKey {
        #[serde(rename = "in")]
        location: &'a str,
        name: &'a str,
        #[serde(skip_serializing_if = "str::is_empty")]
        description: &'a str,
    },
    Http {
        scheme: &'a str,
        #[serde(skip_serializing_if = "str::is_empty")]
        bearer_format: &'a str,
        #[serde(skip_serializing_if = "str::is_empty")]
        description: &'a str,
    },
    Oauth2 {
        /// Empty for a device code, which 0.3 does not know.
        flows: BTreeMap<&'static str, Flow<'a>>,
        #[serde(skip_serializing_if = "str::is_empty")]
        oauth2_metadata_url: &'a str,
        #[serde(skip_serializing_if = "str::is_empty")]
        description: &'a str,
    },
    OpenIdConnect {
        open_id_connect_url: &'a str,
        #[serde(skip_serializing_if = "str::is_empty")]
        description: &'a str,
    },
    #[serde(rename = "mutualTLS")]
    MutualTls {
        #[serde(skip_serializing_if = "str::is_empty")]
        description: &'a str,
    },
}

impl<'a> From<&'a Kind> for Legacy<'a> {
    fn from(scheme: &'a Kind) -> Self {
        match scheme {
            Kind::ApiKeySecurityScheme(key) => {
                Self::ApiKey { location: &key.location, name: &key.name, description: &key.description }
            }
            Kind::HttpAuthSecurityScheme(http) => Self::Http {
                scheme: &http.scheme,
                bearer_format: &http.bearer_format,
                description: &http.description,
            },
            Kind::Oauth2SecurityScheme(oauth) => Self::Oauth2 {
                flows: oauth.flows.iter().filter_map(flow).collect(),
                oauth2_metadata_url: &oauth.oauth2_metadata_url,
                description: &oauth.description,
            },
            Kind::OpenIdConnectSecurityScheme(open) => Self::OpenIdConnect {
                open_id_connect_url: &open.open_id_connect_url,
                description: &open.description,
            },
            Kind::MtlsSecurityScheme(tls) => Self::MutualTls { description: &tls.description },
        }
    }
}

/// Scopes are required in 0.3, and would be left out by 1.0 if there are none.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Flow<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    authorization_url: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    token_url: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    refresh_url: &'a str,
    scopes: &'a BTreeMap<String, String>,
}

/// A URL that a flow does not have.
const NONE: &String = &String::new();

#[allow(deprecated, reason = "0.3 still has the flows that 1.0 advises against")]
fn flow(flows: &OAuthFlows) -> Option<(&'static str, Flow<'_>)> {
    let (name, urls, scopes) = match flows.flow.as_ref()? {
        Native::AuthorizationCode(f) => {
            ("authorizationCode", [&f.authorization_url, &f.token_url, &f.refresh_url], &f.scopes)
        }
        Native::ClientCredentials(f) => {
            ("clientCredentials", [NONE, &f.token_url, &f.refresh_url], &f.scopes)
        }
        Native::Implicit(f) => ("implicit", [&f.authorization_url, NONE, &f.refresh_url], &f.scopes),
        Native::Password(f) => ("password", [NONE, &f.token_url, &f.refresh_url], &f.scopes),
        Native::DeviceCode(_) => return None,
    };
    let [authorization_url, token_url, refresh_url] = urls;
    Some((name, Flow { authorization_url, token_url, refresh_url, scopes }))
}
