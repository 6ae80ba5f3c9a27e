//! How an answer ends, by the model's reason.

use crate::domain::error::{Cause, Error};
use crate::proto::gemini::PromptFeedback;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    Completed,
    /// Early, for a reason that clients know; and in words, where there are any.
    Incomplete {
        reason: &'static str,
        words: String,
    },
}

const LENGTH: &str = "max_output_tokens";
const FILTER: &str = "content_filter";

/// What a model gives up with: nobody can use what it said.
const BROKEN: [&str; 5] = [
    "MALFORMED_FUNCTION_CALL",
    "UNEXPECTED_TOOL_CALL",
    "MALFORMED_RESPONSE",
    "TOO_MANY_TOOL_CALLS",
    "CONTINUATION",
];

pub(super) fn end(reason: &str, message: &str) -> Result<End, Error> {
    if BROKEN.contains(&reason) {
        let words = if message.is_empty() { String::new() } else { format!(": {message}") };
        return Err(Error::new(Cause::ModelBroken, format!("the model gave up with {reason}{words}")));
    }
    let words = match message {
        "" => format!("The model stopped with {reason}."),
        message => message.to_owned(),
    };
    Ok(match reason {
        "" => return Err(Error::new(Cause::ModelBroken, "the answer broke off before its end")),
        "STOP" => End::Completed,
        "MAX_TOKENS" => End::Incomplete { reason: LENGTH, words: String::new() },
        _ => End::Incomplete { reason: FILTER, words },
    })
}

pub(super) fn blocked(feedback: &PromptFeedback) -> End {
    let words = match feedback.block_reason_message.as_str() {
        "" => format!("The request was blocked: {}.", feedback.block_reason),
        message => message.to_owned(),
    };
    End::Incomplete { reason: FILTER, words }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_reason_falls_through_to_a_good_end() {
        for (reason, expected) in [
            ("STOP", Some("")),
            ("MAX_TOKENS", Some(LENGTH)),
            ("SAFETY", Some(FILTER)),
            ("RECITATION", Some(FILTER)),
            ("NO_IMAGE", Some(FILTER)),
            ("SOMETHING_NEW", Some(FILTER)),
            ("MALFORMED_FUNCTION_CALL", None),
            ("TOO_MANY_TOOL_CALLS", None),
            ("", None),
        ] {
            let ours = end(reason, "").ok().map(|end| match end {
                End::Completed => "",
                End::Incomplete { reason, .. } => reason,
            });
            assert_eq!(ours, expected, "{reason}");
        }
    }
}
