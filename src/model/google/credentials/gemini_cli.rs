//! The login that Gemini CLI keeps: used as it is while it is valid, and renewed only where the application is known that
//! it was made for. Pure.

use std::path::Path;
use std::time::{Duration, SystemTime};

use super::file::{BadFile, Members};
use super::token::{Standing, carriable};
use super::{Token, denied};
use crate::domain::model::ModelError;
use crate::domain::secret::Secret;

#[derive(Debug)]
pub(super) struct Login {
    token: Option<Token>,
    refresh_token: Option<Secret>,
}

/// What to do with a login.
#[derive(Debug)]
pub(super) enum Plan {
    Use(Token),
    /// The token of the login, if it does in the meantime.
    Renew(Secret, Option<Token>),
    /// Only the user can help.
    Ask(Lack),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lack {
    Client,
    RefreshToken,
}

pub(super) fn read(text: &[u8]) -> Result<Login, BadFile> {
    let members = Members::read(text)?;
    let refresh_token = members.optional("refresh_token")?.map(Secret::new);
    let secret = members.optional("access_token")?.filter(|token| carriable(token)).map(Secret::new);
    if secret.is_none() && refresh_token.is_none() {
        return Err(BadFile::Missing("access_token"));
    }
    let expires = members.number("expiry_date").and_then(time);
    let token = secret.map(|secret| Token { secret, expires, quota_project: None });
    Ok(Login { token, refresh_token })
}

/// Milliseconds, as JavaScript counts them.
fn time(milliseconds: f64) -> Option<SystemTime> {
    let since = Duration::try_from_secs_f64(milliseconds / 1000.0).ok()?;
    SystemTime::UNIX_EPOCH.checked_add(since)
}

impl Login {
    pub(super) fn plan(self, now: SystemTime, refused: Option<&Secret>, has_client: bool) -> Plan {
        let usable = self.token.filter(|token| {
            token.standing(now) != Standing::Gone && !refused.is_some_and(|refused| token.secret.is(refused))
        });
        match (usable, self.refresh_token) {
            (Some(token), _) if !has_client || token.standing(now) == Standing::Fresh => Plan::Use(token),
            (usable, Some(refresh_token)) if has_client => Plan::Renew(refresh_token, usable),
            (Some(token), _) => Plan::Use(token),
            (None, Some(_)) => Plan::Ask(Lack::Client),
            (None, None) => Plan::Ask(Lack::RefreshToken),
        }
    }
}

impl Lack {
    pub(super) fn error(self, path: &Path) -> ModelError {
        let remedy = match self {
            Self::Client => {
                "Log in again with Gemini CLI, or configure the OAuth client id and client secret that the login was \
                 made with, so that it can be renewed here"
            }
            Self::RefreshToken => "It holds no refresh_token: log in again with Gemini CLI",
        };
        denied(format!("Gemini CLI's login in {} has expired. {remedy}", path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_700_000_000;

    fn shown(plan: Plan) -> String {
        match plan {
            Plan::Use(token) => format!("use {}", token.secret.expose()),
            Plan::Renew(refresh, None) => format!("renew {}", refresh.expose()),
            Plan::Renew(refresh, Some(token)) => {
                format!("renew {}, or {}", refresh.expose(), token.secret.expose())
            }
            Plan::Ask(lack) => format!("{lack:?}"),
        }
    }

    #[test]
    fn a_login_is_used_then_renewed_then_given_up() {
        let login = |left: i64, refresh: &str| {
            format!(
                r#"{{"access_token":"a","expiry_date":{}000{refresh}}}"#,
                i64::try_from(NOW).unwrap() + left
            )
        };
        let (both, bare) = (r#","refresh_token":"r","scope":"x""#, "");
        for (text, refused, without, with) in [
            (login(3000, both), None, "use a", "use a"),
            (login(100, both), None, "use a", "renew r, or a"),
            (login(5, both), None, "Client", "renew r"),
            (login(-5, both), None, "Client", "renew r"),
            (login(3000, both), Some("a"), "Client", "renew r"),
            (login(3000, both), Some("b"), "use a", "use a"),
            (login(100, bare), None, "use a", "use a"),
            (login(-5, bare), None, "RefreshToken", "RefreshToken"),
            (r#"{"access_token":"a"}"#.into(), None, "use a", "use a"),
            (r#"{"refresh_token":"r"}"#.into(), None, "Client", "renew r"),
            (r#"{"access_token":"a","expiry_date":1e999}"#.into(), None, "", ""),
        ] {
            let refused = refused.map(Secret::new);
            for (has_client, expected) in [(false, without), (true, with)] {
                let Ok(login) = read(text.as_bytes()) else {
                    assert_eq!(expected, "", "{text}");
                    continue;
                };
                let now = SystemTime::UNIX_EPOCH + Duration::from_secs(NOW);
                let plan = login.plan(now, refused.as_ref(), has_client);
                assert_eq!(shown(plan), expected, "{text} {has_client}");
            }
        }
    }

    #[test]
    fn what_is_no_login_is_named() {
        for (text, said) in [
            ("oops", "it is no JSON object"),
            ("{}", "access_token is missing"),
            (r#"{"access_token":{}}"#, "access_token is not a string"),
        ] {
            assert_eq!(read(text.as_bytes()).unwrap_err().to_string(), said);
        }
    }

    #[test]
    fn the_user_is_told_what_to_do() {
        for lack in [Lack::Client, Lack::RefreshToken] {
            let message = lack.error(Path::new("/x/oauth_creds.json")).message;
            assert!(
                message.contains("/x/oauth_creds.json") && message.contains("og in again with Gemini CLI")
            );
        }
        assert!(Lack::Client.error(Path::new("x")).message.contains("client id and client secret"));
    }
}
