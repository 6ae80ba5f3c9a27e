//! Why an answer ended, in OpenAI's words. No reason passes for "stop" that is not one.

use crate::domain::error::{Cause, Error};
use crate::proto::gemini::{Candidate, PromptFeedback};

/// The model got lost; there is nothing that a client could go on with.
const BROKEN: [(&str, &str); 4] = [
    ("MALFORMED_FUNCTION_CALL", "wrote a call that cannot be read"),
    ("UNEXPECTED_TOOL_CALL", "called a tool that it was not offered"),
    ("MALFORMED_RESPONSE", "wrote an answer that cannot be read"),
    ("TOO_MANY_TOOL_CALLS", "called too many tools"),
];

const FILTERED: [&str; 8] = [
    "SAFETY",
    "PROHIBITED_CONTENT",
    "BLOCKLIST",
    "SPII",
    "RECITATION",
    "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_RECITATION",
];

pub fn check(candidate: &Candidate) -> Result<(), Error> {
    let reason = candidate.finish_reason.as_str();
    let Some((_, what)) = BROKEN.iter().find(|(known, _)| *known == reason) else { return Ok(()) };
    let colon = if candidate.finish_message.is_empty() { "" } else { ": " };
    let message = format!("the model {what} ({reason}){colon}{}; ask again", candidate.finish_message);
    Err(Error::new(Cause::ModelBroken, message))
}

/// The word, and what is said in place of an answer. `calls` is none without calls, else whether they are told in the
/// older way.
pub fn reason(reason: &str, message: &str, calls: Option<bool>) -> (&'static str, Option<String>) {
    match (reason, calls) {
        ("STOP", None) => ("stop", None),
        ("STOP", Some(false)) => ("tool_calls", None),
        ("STOP", Some(true)) => ("function_call", None),
        // What goes on behind it is the backend's to ask for; here it is an answer without its end.
        ("MAX_TOKENS" | "CONTINUATION", _) => ("length", None),
        (reason, _) => ("content_filter", Some(refusal(reason, message))),
    }
}

fn refusal(reason: &str, message: &str) -> String {
    let why = if FILTERED.contains(&reason) { "was held back" } else { "was not finished" };
    match message {
        "" => format!("The answer {why} ({reason})."),
        message => format!("The answer {why} ({reason}): {message}"),
    }
}

pub fn blocked(feedback: &PromptFeedback) -> String {
    let PromptFeedback { block_reason, block_reason_message, .. } = feedback;
    match block_reason_message.as_str() {
        "" => format!("The prompt was refused ({block_reason})."),
        message => format!("The prompt was refused ({block_reason}): {message}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_stop_is_stop() {
        let words = |name: &str, calls| reason(name, "", calls).0;
        assert_eq!(words("STOP", None), "stop");
        assert_eq!(words("STOP", Some(false)), "tool_calls");
        assert_eq!(words("STOP", Some(true)), "function_call");
        assert_eq!(words("MAX_TOKENS", Some(false)), "length");
        for name in ["SAFETY", "OTHER", "LANGUAGE", "NO_IMAGE", "FINISH_REASON_UNSPECIFIED", "SOMETHING_NEW"]
        {
            let (word, refusal) = reason(name, "", None);
            assert!(word == "content_filter" && refusal.unwrap().contains(name), "{name}");
        }
    }

    #[test]
    fn a_model_that_got_lost_is_an_error() {
        for (name, _) in BROKEN {
            let candidate = Candidate { finish_reason: name.to_owned(), ..Candidate::default() };
            assert_eq!(check(&candidate).unwrap_err().cause(), Cause::ModelBroken, "{name}");
        }
        assert!(check(&Candidate::default()).is_ok());
    }
}
