//! One answer of the model, chunk by chunk: what is shown as it comes, and what is remembered at its end. Pure.

use bytes::Bytes;

use super::conversation::MODEL;
use crate::proto::devtool::{AgentThought, Usage};
use crate::proto::gemini::part::Data;
use crate::proto::gemini::{Content, GenerateContentResponse, Part, UsageMetadata};
use crate::proto::task::TextDelta;
use crate::proto::task::task_event::Event;

/// An answer as far as it has come.
#[derive(Debug, Default)]
pub struct Reply {
    /// Of the message that the pieces of text add up to.
    message_id: String,
    shared_id: Bytes,
    model: String,
    content: Content,
    text: String,
    finish: String,
    /// In the model's own words.
    finish_message: String,
    refused: Option<String>,
    usage: Option<UsageMetadata>,
}

/// How an answer ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finish {
    /// It says what it has to say.
    Said,
    /// It wants tools to be called.
    Calls,
    /// There is nothing to go on with, for this reason.
    Unusable(String),
}

/// Why an answer ends before it is one. A reason that is not here is told as it came.
const STOPS: [(&[&str], &str); 6] = [
    (&[""], "the answer was cut off"),
    (&["MAX_TOKENS", "CONTINUATION"], "the answer would be longer than the model may give"),
    (
        &["SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT"],
        "a filter of the model stopped the answer",
    ),
    (&["RECITATION", "IMAGE_RECITATION"], "the answer came too close to something that was published"),
    (&["LANGUAGE"], "the model does not speak this language"),
    (
        &["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MALFORMED_RESPONSE"],
        "the model lost its way in the call of a tool",
    ),
];

impl Reply {
    pub fn new(message_id: String) -> Self {
        Self { shared_id: message_id.clone().into(), message_id, ..Self::default() }
    }

    pub fn message_id(&self) -> &str {
        &self.message_id
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// What a chunk shows.
    pub fn push(&mut self, chunk: GenerateContentResponse) -> Vec<Event> {
        if !chunk.model_version.is_empty() {
            self.model = chunk.model_version;
        }
        // Cumulative: the last one counts.
        self.usage = chunk.usage_metadata.or(self.usage.take());
        if let Some(feedback) = chunk.prompt_feedback.filter(|f| !f.block_reason.is_empty()) {
            let words = match feedback.block_reason_message.as_str() {
                "" => feedback.block_reason,
                words => format!("{} ({words})", feedback.block_reason),
            };
            self.refused = Some(words);
        }
        // Other candidates were not asked for.
        let Some(candidate) = chunk.candidates.into_iter().next() else { return Vec::new() };
        if !candidate.finish_reason.is_empty() {
            self.finish = candidate.finish_reason;
            self.finish_message = candidate.finish_message;
        }
        let parts = candidate.content.map(|content| content.parts).unwrap_or_default();
        parts.into_iter().filter_map(|part| self.part(part)).collect()
    }

    fn part(&mut self, part: Part) -> Option<Event> {
        let event = match &part.data {
            Some(Data::Text(text)) if part.thought => Some(Event::Thought(thought(text))),
            Some(Data::Text(text)) if !text.is_empty() => Some(self.say(text.clone())),
            _ => None,
        };
        self.keep(part);
        event
    }

    fn say(&mut self, text: String) -> Event {
        self.text.push_str(&text);
        Event::Text(TextDelta { text, model: self.model.clone(), message_id: self.shared_id.clone() })
    }

    /// Thoughts are not told again, but a signature that came with one is: models look for it where it stood.
    fn keep(&mut self, part: Part) {
        if !part.thought || !part.thought_signature.is_empty() {
            self.content.grow(part);
        }
    }

    /// What is remembered, and how it ended.
    pub fn finish(mut self) -> (Vec<Event>, Finish) {
        let finish = self.how();
        let usage = self.usage.take().map(|usage| Event::Usage(Box::new(usage_of(&self.model, &usage))));
        let is_nothing = |part: &Part| matches!(&part.data, Some(Data::Text(text)) if text.is_empty());
        self.content.parts.retain(|part| !(part.is_plain_text() && is_nothing(part)));
        let answer = Content { role: MODEL.to_owned(), ..self.content };
        // Also one that says nothing: it was asked for, and asking again would go on for ever.
        (std::iter::once(Event::Answer(answer)).chain(usage).collect(), finish)
    }

    fn how(&self) -> Finish {
        let calls = self.content.parts.iter().any(|part| matches!(part.data, Some(Data::FunctionCall(_))));
        match (&self.refused, self.finish.as_str()) {
            (Some(reason), _) => Finish::Unusable(format!("the model refused the prompt: {reason}")),
            (None, _) if calls => Finish::Calls,
            (None, "STOP") => Finish::Said,
            (None, "MAX_TOKENS") if !self.text.is_empty() => Finish::Said,
            (None, reason) => Finish::Unusable(self.stopped(reason)),
        }
    }

    fn stopped(&self, reason: &str) -> String {
        let known = STOPS.iter().find(|(reasons, _)| reasons.contains(&reason));
        let words = known.map_or("the model stopped early", |(_, words)| words);
        let more = match self.finish_message.as_str() {
            "" => String::new(),
            message => format!(": {message}"),
        };
        match reason {
            "" => words.to_owned(),
            reason => format!("{words} ({reason}){more}"),
        }
    }
}

/// The subject stands between the first two double stars; all the rest describes it.
fn thought(text: &str) -> AgentThought {
    let found = text.split_once("**").and_then(|(before, rest)| {
        let (subject, after) = rest.split_once("**")?;
        Some((subject, format!("{} {}", before.trim(), after.trim())))
    });
    match found {
        Some((subject, description)) => {
            AgentThought { subject: subject.trim().to_owned(), description: description.trim().to_owned() }
        }
        None => AgentThought { subject: String::new(), description: text.trim().to_owned() },
    }
}

fn usage_of(model: &str, usage: &UsageMetadata) -> Usage {
    Usage {
        model: model.to_owned(),
        input_tokens: usage.prompt_token_count.into(),
        output_tokens: usage.candidates_token_count.into(),
        thinking_tokens: usage.thoughts_token_count.into(),
        cached_tokens: usage.cached_content_token_count.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::gemini::{Candidate, FunctionCall, PromptFeedback};

    fn chunk(parts: Vec<Part>, finish: &str) -> GenerateContentResponse {
        let content = Some(Content { role: MODEL.to_owned(), parts });
        let candidate = Candidate { content, finish_reason: finish.to_owned(), ..Candidate::default() };
        GenerateContentResponse { candidates: vec![candidate], ..GenerateContentResponse::default() }
    }

    fn text(text: &str) -> Part {
        Part { data: Some(Data::Text(text.to_owned())), ..Part::default() }
    }

    #[test]
    fn pieces_are_shown_as_they_come_and_remembered_as_one() {
        let mut reply = Reply::new("m".to_owned());
        let shown: usize =
            ["a", "b", ""].map(|piece| reply.push(chunk(vec![text(piece)], "")).len()).into_iter().sum();
        assert_eq!(shown, 2);
        reply.push(chunk(vec![], "STOP"));
        assert_eq!(reply.text(), "ab");
        let (events, finish) = reply.finish();
        assert_eq!(finish, Finish::Said);
        let Some(Event::Answer(answer)) = events.first() else { panic!("{events:?}") };
        assert_eq!(answer.parts, [text("ab")]);
    }

    #[test]
    fn signatures_stay_with_their_part() {
        let call = FunctionCall { name: "ls".to_owned(), ..FunctionCall::default() };
        let call = Part {
            data: Some(Data::FunctionCall(call)),
            thought_signature: "s".to_owned(),
            ..Part::default()
        };
        let signed = Part { thought_signature: "t".to_owned(), ..text("") };
        let thinking = Part { thought: true, ..text("**Look** around") };
        let mut reply = Reply::default();
        let shown = reply.push(chunk(vec![thinking, text("a"), signed.clone(), call.clone()], "STOP"));
        let seen = AgentThought { subject: "Look".to_owned(), description: "around".to_owned() };
        assert_eq!(shown.first(), Some(&Event::Thought(seen)));
        let (events, finish) = reply.finish();
        assert_eq!(finish, Finish::Calls);
        assert_eq!(
            events,
            [Event::Answer(Content { role: MODEL.to_owned(), parts: vec![text("a"), signed, call] })]
        );
    }

    #[test]
    fn an_answer_that_was_cut_off_says_why() {
        let stopped = |words: &str| Finish::Unusable(words.to_owned());
        for (parts, finish, expected) in [
            (vec![text("a")], "STOP", Finish::Said),
            (vec![text("a")], "MAX_TOKENS", Finish::Said),
            (
                vec![],
                "MAX_TOKENS",
                stopped("the answer would be longer than the model may give (MAX_TOKENS)"),
            ),
            (vec![text("a")], "SAFETY", stopped("a filter of the model stopped the answer (SAFETY)")),
            (vec![text("a")], "", stopped("the answer was cut off")),
            (vec![], "NEW", stopped("the model stopped early (NEW)")),
        ] {
            let mut reply = Reply::default();
            reply.push(chunk(parts, finish));
            assert_eq!(reply.finish().1, expected);
        }
    }

    #[test]
    fn a_refused_prompt_says_why() {
        let feedback = PromptFeedback {
            block_reason: "SAFETY".to_owned(),
            block_reason_message: "no".to_owned(),
            ..PromptFeedback::default()
        };
        let mut reply = Reply::default();
        reply.push(GenerateContentResponse {
            prompt_feedback: Some(feedback),
            ..GenerateContentResponse::default()
        });
        let expected = Finish::Unusable("the model refused the prompt: SAFETY (no)".to_owned());
        assert_eq!(reply.finish().1, expected);
    }

    #[test]
    fn a_thought_has_a_subject_if_it_is_marked() {
        for (text, subject, description) in [
            ("**Look** around", "Look", "around"),
            ("First **look** then go", "look", "First then go"),
            ("just so", "", "just so"),
            ("**open", "", "**open"),
        ] {
            let expected = AgentThought { subject: subject.to_owned(), description: description.to_owned() };
            assert_eq!(thought(text), expected);
        }
    }
}
