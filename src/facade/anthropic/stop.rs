//! Why an answer ends.

use crate::domain::error::{Cause, Error};
use crate::proto::anthropic::{StopDelta, StopDetails};

/// What is known at the end of an answer.
#[derive(Debug, Default)]
pub(super) struct Ended {
    /// In the hub's words; empty if it broke off.
    pub(super) reason: String,
    pub(super) message: String,
    /// Why the prompt was refused, if it was.
    pub(super) blocked: String,
    pub(super) called: bool,
    /// Whether the client has seen anything.
    pub(super) said: bool,
}

/// The reason in the vendor's words, and a text that stands for an answer where there is none.
pub(super) fn stop(ended: Ended) -> Result<(StopDelta, Option<String>), Error> {
    let Ended { reason, message, blocked, called, said } = ended;
    if !blocked.is_empty() {
        return Ok((refusal(&blocked, message), None));
    }
    match reason.as_str() {
        "" => Err(Error::new(Cause::ModelBroken, "the answer of the model broke off")),
        "STOP" if called => Ok((because("tool_use"), None)),
        "STOP" => Ok((because("end_turn"), None)),
        "MAX_TOKENS" | "CONTINUATION" => Ok((because("max_tokens"), None)),
        "SAFETY"
        | "PROHIBITED_CONTENT"
        | "BLOCKLIST"
        | "SPII"
        | "RECITATION"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION" => Ok((refusal(&reason, message), None)),
        "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "MALFORMED_RESPONSE" | "TOO_MANY_TOOL_CALLS" => {
            let told = format!("the model gave no answer that can be read: {reason} {message}");
            Err(Error::new(Cause::ModelBroken, told.trim_end()))
        }
        _ if called => Ok((because("tool_use"), None)),
        _ if said => Ok((because("end_turn"), None)),
        _ if !message.is_empty() => Ok((because("end_turn"), Some(message))),
        _ => Ok((refusal(&reason, message), None)),
    }
}

fn because(reason: &str) -> StopDelta {
    StopDelta { stop_reason: Some(reason.to_owned()), ..StopDelta::default() }
}

fn refusal(reason: &str, message: String) -> StopDelta {
    let explanation = if message.is_empty() { format!("the model refused: {reason}") } else { message };
    let details =
        StopDetails { r#type: "refusal".to_owned(), category: None, explanation: Some(explanation) };
    StopDelta { stop_details: Some(details), ..because("refusal") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_is_told_and_none_as_an_empty_success() {
        for (reason, called, said, told) in [
            ("STOP", false, true, "end_turn"),
            ("STOP", true, true, "tool_use"),
            ("MAX_TOKENS", true, true, "max_tokens"),
            ("CONTINUATION", false, true, "max_tokens"),
            ("SAFETY", false, true, "refusal"),
            ("PROHIBITED_CONTENT", false, false, "refusal"),
            ("BLOCKLIST", false, false, "refusal"),
            ("SPII", false, false, "refusal"),
            ("RECITATION", false, true, "refusal"),
            ("IMAGE_SAFETY", false, false, "refusal"),
            ("IMAGE_PROHIBITED_CONTENT", false, false, "refusal"),
            ("IMAGE_RECITATION", false, false, "refusal"),
            ("LANGUAGE", false, true, "end_turn"),
            ("OTHER", false, false, "refusal"),
            ("NO_IMAGE", true, true, "tool_use"),
            ("BRAND_NEW", false, false, "refusal"),
        ] {
            let ended = Ended { reason: reason.to_owned(), called, said, ..Ended::default() };
            let (delta, text) = stop(ended).unwrap();
            assert_eq!((delta.stop_reason.as_deref(), text), (Some(told), None), "{reason}");
            assert_eq!(delta.stop_details.is_some(), told == "refusal", "{reason}");
        }
        for reason in [
            "",
            "MALFORMED_FUNCTION_CALL",
            "UNEXPECTED_TOOL_CALL",
            "MALFORMED_RESPONSE",
            "TOO_MANY_TOOL_CALLS",
        ] {
            let ended = Ended { reason: reason.to_owned(), ..Ended::default() };
            assert_eq!(stop(ended).unwrap_err().cause(), Cause::ModelBroken, "{reason}");
        }
        let ended = Ended { reason: "OTHER".to_owned(), message: "why".to_owned(), ..Ended::default() };
        assert_eq!(stop(ended).unwrap().1.as_deref(), Some("why"));
    }
}
