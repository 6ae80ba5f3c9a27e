//! What Google says when it says no: status and body become one cause, and words that a user can do something with. Pure.

use std::time::Duration;

use http::HeaderMap;
use http::header::RETRY_AFTER;
use serde_json::Value;

use crate::domain::model::{ModelCause, ModelError, brief};

/// Who is told to wait longer is told to come another day.
const A_LITTLE: Duration = Duration::from_secs(300);
const A_MINUTE: Duration = Duration::from_secs(60);

/// `name` is who refused, `credentials` what it was asked with. A status of 0 stands in the body alone.
pub(super) fn refusal(name: &str, credentials: &str, status: u16, body: &[u8]) -> ModelError {
    let said = Said::read(body);
    let status = if status == 0 { said.code } else { status };
    let cause = said.cause(status);
    let words = match said.message.is_empty() {
        true => format!("status {status}"),
        false => said.message.clone(),
    };
    let message = match cause {
        ModelCause::Denied | ModelCause::Forbidden => {
            let see = said.links.first().map(|link| format!(" (see {link})")).unwrap_or_default();
            format!("{name} refused {credentials}: {words}{see}")
        }
        ModelCause::Exhausted => format!("the quota at {name} is used up: {words}"),
        ModelCause::Limited => format!("{name} has had too many requests: {words}"),
        ModelCause::Unavailable => format!("{name} is not available: {words}"),
        ModelCause::Failed => format!("{name} failed: {words}"),
        _ => format!("{name} refused the request: {words}"),
    };
    let retry_after = said.delay().or_else(|| (cause == ModelCause::Limited).then(|| said.usual()).flatten());
    ModelError { retry_after, ..ModelError::new(cause, message) }
}

/// Whether this is an error at all: an object with `error`, or a list of one.
pub(super) fn is_error(body: &[u8]) -> bool {
    error_of(&serde_json::from_slice(body).unwrap_or_default()).is_some()
}

/// `Retry-After` in seconds.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok().map(Duration::from_secs)
}

/// Streaming calls wrap the error in a list.
fn error_of(body: &Value) -> Option<&Value> {
    let body = body.as_array().and_then(|list| list.first()).unwrap_or(body);
    body.get("error").filter(|error| !error.is_null())
}

/// The body of an error.
#[derive(Debug, Default)]
struct Said {
    code: u16,
    message: String,
    reasons: Vec<String>,
    quotas: Vec<String>,
    retry: Option<Duration>,
    /// Where a person can do something about it.
    links: Vec<String>,
}

impl Said {
    fn read(body: &[u8]) -> Self {
        let value: Value = serde_json::from_slice(body).unwrap_or_default();
        let Some(error) = error_of(&value) else { return Self::default() };
        // Some gateways have just the words.
        let message = error.get("message").unwrap_or(error).as_str().unwrap_or_default().trim().to_owned();
        let code = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
        let mut said =
            Self { code: code.unwrap_or(500), message: brief(message.split_whitespace()), ..Self::default() };
        let details = error.get("details").and_then(Value::as_array);
        details.into_iter().flatten().for_each(|detail| said.detail(detail));
        said
    }

    fn detail(&mut self, detail: &Value) {
        let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        let list = |name: &str| detail.get(name).and_then(Value::as_array).into_iter().flatten();
        self.reasons.extend(text(detail, "reason"));
        self.retry = text(detail, "retryDelay").and_then(|delay| seconds(&delay)).or(self.retry);
        self.quotas.extend(list("violations").filter_map(|violation| text(violation, "quotaId")));
        self.links.extend(list("links").filter_map(|link| text(link, "url")));
    }

    fn cause(&self, status: u16) -> ModelCause {
        match status {
            400 if self.is_key() => ModelCause::Denied,
            400 | 413 if self.is_length() || status == 413 => ModelCause::TooLong,
            401 => ModelCause::Denied,
            403 => ModelCause::Forbidden,
            402 => ModelCause::Exhausted,
            404 => ModelCause::NotFound,
            408 | 499 => ModelCause::Unavailable,
            429 if self.is_used_up() => ModelCause::Exhausted,
            429 => ModelCause::Limited,
            400..=498 => ModelCause::Invalid,
            500 => ModelCause::Failed,
            _ => ModelCause::Unavailable,
        }
    }

    fn says(&self, words: &[&str]) -> bool {
        let message = self.message.to_ascii_lowercase();
        words.iter().any(|word| message.contains(word))
    }

    /// A wrong key is a bad request there.
    fn is_key(&self) -> bool {
        let reason = |reason: &String| reason == "API_KEY_INVALID" || reason == "API_KEY_EXPIRED";
        self.reasons.iter().any(reason) || self.says(&["api key not valid", "api key expired"])
    }

    fn is_length(&self) -> bool {
        self.says(&["token count", "number of tokens allowed", "maximum number of tokens", "context length"])
    }

    fn is_used_up(&self) -> bool {
        let daily = |quota: &String| quota.contains("PerDay") || quota.contains("Daily");
        let spent = |reason: &String| reason == "QUOTA_EXHAUSTED" || reason.starts_with("INSUFFICIENT_");
        self.quotas.iter().any(daily)
            || self.reasons.iter().any(spent)
            || self.says(&["limit: 0", "insufficient credits"])
            || self.delay().is_some_and(|delay| delay > A_LITTLE)
    }

    /// As the details say, or the words.
    fn delay(&self) -> Option<Duration> {
        let words = || {
            self.message.split("retry in ").nth(1).and_then(|rest| seconds(rest.split_whitespace().next()?))
        };
        self.retry.or_else(words)
    }

    /// A quota per minute is there again after a minute.
    fn usual(&self) -> Option<Duration> {
        self.quotas.iter().any(|quota| quota.contains("PerMinute")).then_some(A_MINUTE)
    }
}

/// `12s`, `0.5s`, `850ms`.
fn seconds(text: &str) -> Option<Duration> {
    let text = text.trim_end_matches(['.', ',']);
    let (number, unit) = match text.strip_suffix("ms") {
        Some(number) => (number, 0.001),
        None => (text.strip_suffix('s')?, 1.0),
    };
    Duration::try_from_secs_f64(number.parse::<f64>().ok()? * unit).ok()
}

#[cfg(test)]
mod tests;
