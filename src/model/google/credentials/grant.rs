//! Asks a token server: a login is renewed, an assertion is exchanged. What the server says against it becomes an error
//! that names the credentials and what to do.

use std::time::SystemTime;

use form_urlencoded::Serializer;
use http::{HeaderValue, StatusCode, header};

use super::{OauthClient, Token, denied, token};
use crate::domain::model::{ModelCause, ModelError};
use crate::domain::secret::Secret;
use crate::model::http::{Call, Http};

/// Tokens are short; whatever is longer is not read.
pub(super) const LONGEST: usize = 64 << 10;

/// Whose credentials they are, for messages.
#[derive(Debug, Clone)]
pub(super) struct Whose {
    pub what: String,
    /// What helps when they are refused.
    pub remedy: &'static str,
}

pub(super) struct TokenServer<'a> {
    pub http: &'a Http,
    pub uri: &'a str,
    pub now: SystemTime,
}

impl TokenServer<'_> {
    pub(super) async fn renew(
        &self,
        client: &OauthClient,
        refresh_token: &Secret,
        whose: &Whose,
    ) -> Result<Token, ModelError> {
        let form = [
            ("grant_type", "refresh_token"),
            ("client_id", &client.id),
            ("client_secret", client.secret.expose()),
            ("refresh_token", refresh_token.expose()),
        ];
        self.ask(&form, whose).await
    }

    pub(super) async fn exchange(&self, assertion: &str, whose: &Whose) -> Result<Token, ModelError> {
        let form = [("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"), ("assertion", assertion)];
        self.ask(&form, whose).await
    }

    async fn ask(&self, form: &[(&str, &str)], whose: &Whose) -> Result<Token, ModelError> {
        let body = Serializer::new(String::new()).extend_pairs(form).finish();
        let kind = HeaderValue::from_static("application/x-www-form-urlencoded");
        let call = Call::post(self.uri, body).header(header::CONTENT_TYPE, kind);
        let answer = self.http.send(call).await?;
        let status = answer.status;
        let body = answer.whole(LONGEST).await?;
        if !status.is_success() {
            return Err(refusal(status, &body, self.uri, whose));
        }
        token::granted(&body, self.now).map_err(|problem| {
            ModelError::new(ModelCause::Broken, format!("{} answered {problem}", self.uri))
        })
    }
}

/// What to tell of an answer that is no token.
fn refusal(status: StatusCode, body: &[u8], uri: &str, whose: &Whose) -> ModelError {
    let cause = match status {
        StatusCode::TOO_MANY_REQUESTS => ModelCause::Limited,
        StatusCode::REQUEST_TIMEOUT => ModelCause::Unavailable,
        status if status.is_server_error() => ModelCause::Unavailable,
        _ => ModelCause::Denied,
    };
    let said = token::reason(body).unwrap_or_else(|| format!("status {}", status.as_u16()));
    if cause != ModelCause::Denied {
        return ModelError::new(cause, format!("{uri} gives no token now: {said}"));
    }
    denied(format!("{} refused by {uri}: {said}. {}", whose.what, whose.remedy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passes_is_told_apart_from_what_the_user_must_mend() {
        let whose = Whose { what: "the login in x is".into(), remedy: "Log in again" };
        for (status, body, cause, said) in [
            (
                400,
                r#"{"error":"invalid_grant","error_description":"Bad"}"#,
                ModelCause::Denied,
                "the login in x is refused by u: invalid_grant (Bad). Log in again",
            ),
            (401, "", ModelCause::Denied, "the login in x is refused by u: status 401. Log in again"),
            (302, "", ModelCause::Denied, "the login in x is refused by u: status 302. Log in again"),
            (408, "", ModelCause::Unavailable, "u gives no token now: status 408"),
            (429, r#"{"error":"slow"}"#, ModelCause::Limited, "u gives no token now: slow"),
            (503, "<html>", ModelCause::Unavailable, "u gives no token now: status 503"),
        ] {
            let error = refusal(StatusCode::from_u16(status).unwrap(), body.as_bytes(), "u", &whose);
            assert_eq!((error.cause, error.message.as_str()), (cause, said), "{status}");
        }
    }
}
