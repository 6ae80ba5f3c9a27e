//! A token, how long it does, and what token servers answer. Pure.

use std::time::{Duration, SystemTime};

use serde::Deserialize;

use crate::domain::secret::Secret;

/// The metadata server gives the same token until it has about four minutes left, so asking earlier is asking in vain.
const EARLY: Duration = Duration::from_secs(225);
/// Other clocks are not quite right either.
const LATE: Duration = Duration::from_secs(10);
/// Nobody gives tokens for longer; a larger number is a mistake and must not overflow.
const LONGEST: u64 = 366 * 24 * 3600;

#[derive(Debug, Clone)]
pub struct Token {
    pub secret: Secret,
    /// None if nobody said.
    pub expires: Option<SystemTime>,
    /// Who pays, if that is not the project of the call.
    pub quota_project: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    Fresh,
    /// It still does, and another one should be got.
    Due,
    Gone,
}

impl Token {
    pub(super) fn standing(&self, now: SystemTime) -> Standing {
        let Some(expires) = self.expires else { return Standing::Fresh };
        match expires.duration_since(now) {
            Ok(left) if left > EARLY => Standing::Fresh,
            Ok(left) if left > LATE => Standing::Due,
            _ => Standing::Gone,
        }
    }
}

/// Not printable: it holds the token.
#[derive(Deserialize)]
struct Granted {
    access_token: Option<String>,
    #[serde(default, deserialize_with = "crate::proto::vendor::optional_integer")]
    expires_in: Option<i64>,
}

/// Reads what a token server grants.
pub(super) fn granted(body: &[u8], now: SystemTime) -> Result<Token, &'static str> {
    let granted: Granted = serde_json::from_slice(body).map_err(|_| "with something that is no token")?;
    let secret = granted.access_token.filter(|token| carriable(token)).ok_or("without an access_token")?;
    let seconds = granted.expires_in.and_then(|seconds| u64::try_from(seconds).ok());
    let expires = seconds.map(|seconds| now + Duration::from_secs(seconds.min(LONGEST)));
    Ok(Token { secret: Secret::new(secret), expires, quota_project: None })
}

/// Whether a header can carry it.
pub(super) fn carriable(token: &str) -> bool {
    !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic())
}

/// What a token server says when it does not: `error`, and in words.
#[derive(Deserialize)]
struct Refused {
    error: String,
    error_description: Option<String>,
}

/// Why there is no token, as far as the answer says; for people.
pub(super) fn reason(body: &[u8]) -> Option<String> {
    let refused: Refused = serde_json::from_slice(body).ok()?;
    let words = refused.error_description.map(|words| format!(" ({words})")).unwrap_or_default();
    Some(one_line(&format!("{}{words}", refused.error)))
}

/// What somebody else wrote, fit for a message.
pub(super) fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(300).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 + seconds)
    }

    #[test]
    fn a_token_is_renewed_some_minutes_before_it_expires() {
        let token = |expires| Token { secret: Secret::new("t"), expires, quota_project: None };
        for (left, standing) in [
            (3600, Standing::Fresh),
            (226, Standing::Fresh),
            (225, Standing::Due),
            (11, Standing::Due),
            (10, Standing::Gone),
            (0, Standing::Gone),
        ] {
            assert_eq!(token(Some(at(left))).standing(at(0)), standing, "{left}");
        }
        assert_eq!(token(Some(at(0))).standing(at(5)), Standing::Gone);
        assert_eq!(token(None).standing(at(0)), Standing::Fresh);
    }

    #[test]
    fn what_is_granted_is_read() {
        for (body, lifetime) in [
            (r#"{"access_token":"t","expires_in":3599,"token_type":"Bearer","scope":"x"}"#, Some(3599)),
            (r#"{"access_token":"t","expires_in":"3599"}"#, Some(3599)),
            (r#"{"access_token":"t","expires_in":9223372036854775807}"#, Some(LONGEST)),
            (r#"{"access_token":"t","expires_in":-1}"#, None),
            (r#"{"access_token":"t"}"#, None),
        ] {
            let token = granted(body.as_bytes(), at(0)).unwrap();
            assert_eq!(token.secret.expose(), "t", "{body}");
            assert_eq!(token.expires, lifetime.map(at), "{body}");
        }
        for (body, problem) in [
            (r#"{"expires_in":3599}"#, "without an access_token"),
            (r#"{"access_token":null}"#, "without an access_token"),
            (r#"{"access_token":""}"#, "without an access_token"),
            (r#"{"access_token":"a\nb"}"#, "without an access_token"),
            (r#"{"access_token":5}"#, "with something that is no token"),
            ("<html>", "with something that is no token"),
        ] {
            assert_eq!(granted(body.as_bytes(), at(0)).unwrap_err(), problem, "{body}");
        }
    }

    #[test]
    fn a_refusal_is_told_on_one_line() {
        for (body, said) in [
            (
                r#"{"error":"invalid_grant","error_description":"Token has been expired\nor revoked."}"#,
                Some("invalid_grant (Token has been expired or revoked.)"),
            ),
            (r#"{"error":"invalid_client"}"#, Some("invalid_client")),
            (r#"{"error":{"code":400}}"#, None),
            ("nothing", None),
        ] {
            assert_eq!(reason(body.as_bytes()).as_deref(), said, "{body}");
        }
    }
}
