//! Whether an answer is worth something. Pure.

use crate::domain::model::{ModelCause, ModelError};
use crate::proto::gemini::part::Data;
use crate::proto::gemini::{GenerateContentRequest, GenerateContentResponse, Part};

/// The model got lost. Another try mostly goes well.
const LOST: [&str; 4] = ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE", "OTHER"];

#[derive(Debug, Default)]
pub(super) struct Judge {
    /// Tools have just answered, and then there may be nothing left to say.
    after_tools: bool,
    heard: bool,
    /// Words or calls, not thoughts.
    said: bool,
    finish: String,
}

impl Judge {
    pub(super) fn new(request: &GenerateContentRequest) -> Self {
        let is_answer = |part: &Part| matches!(part.data, Some(Data::FunctionResponse(_)));
        let after_tools = request.contents.last().is_some_and(|last| last.parts.iter().any(is_answer));
        Self { after_tools, ..Self::default() }
    }

    pub(super) fn hear(&mut self, chunk: &GenerateContentResponse) {
        self.heard = true;
        let Some(candidate) = chunk.candidates.first() else { return };
        let mut parts = candidate.content.iter().flat_map(|content| &content.parts);
        self.said |= parts.any(says);
        self.finish.clone_from(&candidate.finish_reason);
    }

    pub(super) fn has_said(&self) -> bool {
        self.said
    }

    pub(super) fn has_heard(&self) -> bool {
        self.heard
    }

    /// Why there is nothing in it, once it has ended.
    pub(super) fn worthless(&self) -> Option<ModelError> {
        let empty = self.finish == "STOP" && !self.after_tools;
        if self.said || !(empty || LOST.contains(&self.finish.as_str())) {
            return None;
        }
        let message = format!("the model gave an empty answer ({})", self.finish);
        Some(ModelError::new(ModelCause::Broken, message))
    }

    /// An answer that came as one.
    pub(super) fn whole(
        &mut self,
        answer: GenerateContentResponse,
    ) -> Result<GenerateContentResponse, ModelError> {
        self.hear(&answer);
        match self.worthless() {
            Some(error) => Err(error),
            None => Ok(answer),
        }
    }
}

fn says(part: &Part) -> bool {
    match &part.data {
        None => false,
        Some(Data::Text(text)) => !part.thought && !text.trim().is_empty(),
        Some(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::vendor;

    #[test]
    fn an_answer_without_words_or_calls_is_worthless_unless_there_is_a_reason() {
        let asked = r#"{"role":"user","parts":[{"text":"a"}]}"#;
        let tools = r#"{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}}]}"#;
        for (last, parts, finish, worthless) in [
            (asked, r#"{"text":"a"}"#, "STOP", false),
            (asked, r#"{"text":" \n"}"#, "STOP", true),
            (asked, r#"{"text":"hm","thought":true}"#, "STOP", true),
            (asked, r#"{"functionCall":{"name":"f","args":{}}}"#, "STOP", false),
            (asked, r#"{"text":""}"#, "", false),
            (tools, r#"{"text":""}"#, "STOP", false),
            (tools, r#"{"text":""}"#, "MALFORMED_FUNCTION_CALL", true),
            (asked, r#"{"text":"a"}"#, "MALFORMED_FUNCTION_CALL", false),
            (asked, "", "OTHER", true),
            (asked, "", "SAFETY", false),
            (asked, "", "MAX_TOKENS", false),
            (asked, "", "SOMETHING_NEW", false),
        ] {
            let request = format!(r#"{{"contents":[{last}]}}"#);
            let chunk = format!(
                r#"{{"candidates":[{{"content":{{"parts":[{parts}]}},"finishReason":"{finish}"}}]}}"#
            );
            let mut judge = Judge::new(&vendor::decode(request.as_bytes()).unwrap());
            judge.hear(&vendor::decode(chunk.as_bytes()).unwrap());
            assert_eq!(judge.worthless().is_some(), worthless, "{parts} {finish}");
        }
    }
}
