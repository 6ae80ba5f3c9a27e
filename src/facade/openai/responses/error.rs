//! What went wrong, as the last event of a stream and in an answer that failed.

use tonic::Status;

use crate::domain::error::{Cause, Wire, retry_delay};
use crate::proto::openai::{ResponseError, ResponseEvent};
use crate::transcode::vendor::Event;

impl Event for ResponseEvent {
    const ERROR: Option<&'static str> = Some("error");

    fn name(&self) -> Option<&str> {
        Some(self.kind())
    }

    fn error(status: &Status, _id: &str, out: &mut Vec<u8>) {
        let code = code(Wire::of(status).cause);
        let event = serde_json::json!({
            "type": "error", "code": code, "message": status.message(), "param": null, "sequence_number": 0,
        });
        out.extend_from_slice(event.to_string().as_bytes());
    }
}

/// What clients look for.
fn code(cause: Cause) -> &'static str {
    match cause {
        Cause::ContextTooLong => "context_length_exceeded",
        Cause::QuotaExhausted => "insufficient_quota",
        Cause::RateLimited | Cause::Busy => "rate_limit_exceeded",
        Cause::InvalidArgument | Cause::ModelCannot => "invalid_prompt",
        Cause::ModelNotFound => "model_not_found",
        Cause::ModelUnavailable => "server_is_overloaded",
        _ => "server_error",
    }
}

/// With the delay in words where there is one, which is where clients look for it.
pub fn failed(status: &Status) -> ResponseError {
    let code = code(Wire::of(status).cause).to_owned();
    let message = match retry_delay(status) {
        Some(delay) => format!("{} Please try again in {}s.", status.message(), delay.as_secs_f64()),
        None => status.message().to_owned(),
    };
    ResponseError { code, message }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::domain::error::Error;

    #[test]
    fn a_delay_stands_in_the_words() {
        let error = Error::new(Cause::RateLimited, "Too many requests.");
        assert_eq!(failed(&error.clone().into()).message, "Too many requests.");
        let told = failed(&error.retry_after(Duration::from_millis(11_050)).into());
        assert_eq!(told.message, "Too many requests. Please try again in 11.05s.");
        assert_eq!(told.code, "rate_limit_exceeded");
    }
}
