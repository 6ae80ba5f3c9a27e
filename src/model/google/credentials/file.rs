//! Files with application default credentials, as gcloud and the console write them. Pure. What is wrong is named by its
//! member and never quoted: any value may be a secret.

use serde_json::{Map, Value};

use super::OauthClient;
use crate::domain::secret::Secret;

/// Whose credentials they are.
#[derive(Debug)]
pub(super) struct Account {
    pub kind: Kind,
    pub token_uri: Option<String>,
    pub quota_project: Option<String>,
}

#[derive(Debug)]
pub(super) enum Kind {
    User { client: OauthClient, refresh_token: Secret },
    Service(Service),
}

#[derive(Debug)]
pub(super) struct Service {
    pub email: String,
    pub key_id: Option<String>,
    /// In PEM.
    pub key: Secret,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadFile {
    #[error("it is no JSON object")]
    NotJson,
    #[error("{0} is missing")]
    Missing(&'static str),
    #[error("{0} is not a string")]
    NotText(&'static str),
    #[error("token_uri is not an https URL")]
    TokenUri,
    #[error("private_key is not an RSA key in PEM")]
    Key,
    #[error(
        "its type {0:?} is not supported: use a login of gcloud (`gcloud auth application-default login`) or a key \
         of a service account"
    )]
    Type(String),
}

/// The members of a file of credentials.
#[derive(Debug)]
pub(super) struct Members(Map<String, Value>);

impl Members {
    pub(super) fn read(text: &[u8]) -> Result<Self, BadFile> {
        serde_json::from_slice(text).map(Self).map_err(|_| BadFile::NotJson)
    }

    pub(super) fn text(&self, name: &'static str) -> Result<String, BadFile> {
        self.optional(name)?.ok_or(BadFile::Missing(name))
    }

    pub(super) fn optional(&self, name: &'static str) -> Result<Option<String>, BadFile> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone()).filter(|text| !text.is_empty())),
            Some(_) => Err(BadFile::NotText(name)),
        }
    }

    pub(super) fn number(&self, name: &str) -> Option<f64> {
        self.0.get(name).and_then(Value::as_f64)
    }
}

pub(super) fn read(text: &[u8]) -> Result<Account, BadFile> {
    let members = Members::read(text)?;
    let kind = match members.text("type")?.as_str() {
        "authorized_user" => user(&members)?,
        "service_account" => service(&members)?,
        other => return Err(BadFile::Type(super::token::one_line(other))),
    };
    let token_uri = members.optional("token_uri")?;
    if token_uri.as_deref().is_some_and(|uri| !confidential(uri)) {
        return Err(BadFile::TokenUri);
    }
    Ok(Account { kind, token_uri, quota_project: members.optional("quota_project_id")? })
}

fn user(members: &Members) -> Result<Kind, BadFile> {
    let client =
        OauthClient { id: members.text("client_id")?, secret: Secret::new(members.text("client_secret")?) };
    Ok(Kind::User { client, refresh_token: Secret::new(members.text("refresh_token")?) })
}

fn service(members: &Members) -> Result<Kind, BadFile> {
    Ok(Kind::Service(Service {
        email: members.text("client_email")?,
        key_id: members.optional("private_key_id")?,
        key: Secret::new(members.text("private_key")?),
    }))
}

/// Whether nobody on the way can read what is sent there.
pub(super) fn confidential(uri: &str) -> bool {
    let Ok(url) = reqwest::Url::parse(uri) else { return false };
    let loopback = matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
    url.scheme() == "https" || url.scheme() == "http" && loopback
}

#[cfg(test)]
mod tests {
    use super::*;

    const USER: &str =
        r#"{"type":"authorized_user","client_id":"i","client_secret":"s","refresh_token":"r"}"#;
    const SERVICE: &str = r#"{"type":"service_account","client_email":"a@b","private_key":"k"}"#;

    #[test]
    fn a_login_of_gcloud_is_read() {
        let text = USER.replace('}', r#","quota_project_id":"q","universe_domain":"googleapis.com"}"#);
        let account = read(text.as_bytes()).unwrap();
        assert_eq!((account.token_uri, account.quota_project.as_deref()), (None, Some("q")));
        let Kind::User { client, refresh_token } = account.kind else { panic!() };
        assert_eq!((client.id.as_str(), client.secret.expose(), refresh_token.expose()), ("i", "s", "r"));
    }

    #[test]
    fn a_key_of_a_service_account_is_read() {
        let text =
            SERVICE.replace('}', r#","private_key_id":"1","token_uri":"https://t/x","project_id":"p"}"#);
        let account = read(text.as_bytes()).unwrap();
        assert_eq!(account.token_uri.as_deref(), Some("https://t/x"));
        let Kind::Service(service) = account.kind else { panic!() };
        assert_eq!((service.email.as_str(), service.key_id.as_deref()), ("a@b", Some("1")));
        assert_eq!(service.key.expose(), "k");
    }

    #[test]
    fn what_is_wrong_is_named_and_not_quoted() {
        for (text, said) in [
            ("", "it is no JSON object"),
            ("[]", "it is no JSON object"),
            ("{}", "type is missing"),
            (r#"{"type":5}"#, "type is not a string"),
            (&USER.replace(r#""client_id":"i","#, ""), "client_id is missing"),
            (&USER.replace(r#""s""#, "null"), "client_secret is missing"),
            (&USER.replace(r#""r""#, r#""""#), "refresh_token is missing"),
            (&USER.replace(r#""r""#, "[77]"), "refresh_token is not a string"),
            (&SERVICE.replace(r#""a@b""#, "{}"), "client_email is not a string"),
            (&SERVICE.replace(r#","private_key":"k""#, ""), "private_key is missing"),
            (
                &SERVICE.replace('}', r#","token_uri":"http://example.com/t"}"#),
                "token_uri is not an https URL",
            ),
            (&SERVICE.replace('}', r#","token_uri":"nothing"}"#), "token_uri is not an https URL"),
        ] {
            assert_eq!(read(text.as_bytes()).unwrap_err().to_string(), said, "{text}");
        }
    }

    #[test]
    fn other_kinds_are_refused_by_their_name() {
        for kind in ["external_account", "impersonated_service_account", "gdch_service_account"] {
            let text = format!(r#"{{"type":"{kind}","private_key":"k"}}"#);
            let said = read(text.as_bytes()).unwrap_err().to_string();
            assert!(said.starts_with(&format!("its type {kind:?} is not supported: ")), "{said}");
        }
    }

    #[test]
    fn secrets_go_over_the_network_in_confidence_only() {
        for (uri, expected) in [
            ("https://oauth2.googleapis.com/token", true),
            ("http://127.0.0.1:8080/token", true),
            ("http://localhost/token", true),
            ("http://[::1]:1/token", true),
            ("http://127.0.0.1.example.com/token", false),
            ("http://oauth2.googleapis.com/token", false),
            ("ftp://localhost/", false),
            ("token", false),
        ] {
            assert_eq!(confidential(uri), expected, "{uri}");
        }
    }
}
