//! The hub's chunks as chunks of a chat completion: the role first, then what is new, the reason once and last, and behind
//! it what it took. Pure; ids and time were given with the request.

mod choice;
mod citations;
mod finish;
mod logprobs;
mod sound;
mod tell;
mod usage;

use std::collections::HashSet;

use crate::domain::error::{Cause, Error};
use crate::facade::{Asked, Names, Reply, one_more};
use crate::proto::gemini::{Candidate, GenerateContentResponse, PromptFeedback, UsageMetadata};
use crate::proto::openai::{ChatCompletion, ChatCompletionChunk, Delta};

use self::choice::Choice;
pub use self::sound::Sound;
pub use self::tell::Tell;
use super::gather::Whole;

/// What of the request decides about the answer.
#[derive(Debug, Default)]
pub struct Wants {
    /// The last chunk says what it took.
    pub usage: bool,
    pub logprobs: bool,
    pub sound: Option<Sound>,
    /// What the answer is said to be served with; nothing where none was asked for.
    pub tier: &'static str,
    /// Functions that are custom tools to the client.
    pub custom: HashSet<String>,
    /// Calls are told as in the time before there were tools.
    pub legacy: bool,
    /// Only the first call is told.
    pub single: bool,
}

#[derive(Debug)]
pub struct Answer {
    head: Head,
    wants: Wants,
    /// In the order of their index.
    choices: Vec<(i32, Choice)>,
    /// Cumulative: the last one counts.
    taken: Option<UsageMetadata>,
    blocked: Option<PromptFeedback>,
}

/// What all chunks have in common.
#[derive(Debug)]
pub struct Head {
    /// Of the request.
    id: String,
    /// Of the answer.
    pub name: String,
    pub created: i64,
    pub model: String,
    pub tier: String,
    usage: bool,
}

impl Answer {
    pub fn new(asked: &Asked<'_>, model: String, wants: Wants) -> Self {
        let head = Head {
            id: asked.id.to_owned(),
            name: format!("chatcmpl-{}", asked.id),
            created: asked.now,
            model,
            tier: wants.tier.to_owned(),
            usage: wants.usage,
        };
        Self { head, wants, choices: Vec::new(), taken: None, blocked: None }
    }

    #[cfg(test)]
    pub(super) fn head(self) -> Head {
        self.head
    }

    #[cfg(test)]
    pub(super) fn sound(&self) -> Option<Sound> {
        self.wants.sound
    }

    fn hear(&mut self, mut chunk: GenerateContentResponse, out: &mut impl Tell) -> Result<(), Error> {
        if let Some(taken) = chunk.usage_metadata.take() {
            if !self.wants.tier.is_empty()
                && let Some(tier) = usage::tier(&taken)
            {
                tier.clone_into(&mut self.head.tier);
            }
            self.taken = Some(taken);
        }
        let blocked = chunk.prompt_feedback.take().filter(|feedback| !feedback.block_reason.is_empty());
        self.blocked = blocked.or(self.blocked.take());
        chunk.candidates.into_iter().try_for_each(|candidate| self.candidate(candidate, out))
    }

    fn candidate(&mut self, candidate: Candidate, out: &mut impl Tell) -> Result<(), Error> {
        let index = candidate.index;
        finish::check(&candidate)?;
        let at = self.choices.binary_search_by_key(&index, |(known, _)| *known).unwrap_or_else(|at| {
            out.delta(&self.head, index, Delta::role(), String::new());
            one_more(&mut self.choices).insert(at, (index, Choice::new()));
            at
        });
        let (_, choice) = &mut self.choices[at];
        let mut logprobs = if self.wants.logprobs { logprobs::of(&candidate.extra) } else { String::new() };
        let mut deltas = choice.take(candidate, &self.head.id, &self.wants);
        if deltas.is_empty() && !logprobs.is_empty() {
            deltas.push(Delta::default());
        }
        // They are told once, with the first.
        deltas
            .into_iter()
            .for_each(|delta| out.delta(&self.head, index, delta, std::mem::take(&mut logprobs)));
        Ok(())
    }

    fn close(&mut self, out: &mut impl Tell) -> Result<(), Error> {
        let mut choices = std::mem::take(&mut self.choices);
        match (choices.is_empty(), self.blocked.take()) {
            (true, Some(feedback)) => self.refuse(&feedback, out),
            (true, None) => return Err(broken_off()),
            (false, _) => {}
        }
        if choices.iter().any(|(_, choice)| !choice.is_finished()) {
            return Err(broken_off());
        }
        for (index, choice) in &mut choices {
            let (deltas, reason) = choice.end(&self.head, &self.wants);
            deltas.into_iter().for_each(|delta| out.delta(&self.head, *index, delta, String::new()));
            out.end(&self.head, *index, reason);
        }
        if self.head.usage {
            out.usage(&self.head, self.taken.as_ref().map(usage::usage).unwrap_or_default());
        }
        Ok(())
    }

    /// The model was not even asked: one choice says so.
    fn refuse(&self, feedback: &PromptFeedback, out: &mut impl Tell) {
        let delta = Delta { refusal: Some(finish::blocked(feedback)), content: None, ..Delta::role() };
        out.delta(&self.head, 0, delta, String::new());
        out.end(&self.head, 0, "content_filter");
    }
}

impl Delta {
    fn role() -> Self {
        Self {
            role: "assistant".to_owned(),
            content: Some(crate::proto::openai::Content::text("")),
            ..Self::default()
        }
    }
}

impl Reply for Answer {
    type Event = ChatCompletionChunk;
    type Answer = ChatCompletion;

    const CALL: &'static str = "call_";
    const NAMES: Names = &[
        ("contents", "messages"),
        ("generationConfig.candidateCount", "n"),
        ("generationConfig.frequencyPenalty", "frequency_penalty"),
        ("generationConfig.logprobs", "top_logprobs"),
        ("generationConfig.maxOutputTokens", "max_completion_tokens"),
        ("generationConfig.presencePenalty", "presence_penalty"),
        ("generationConfig.responseJsonSchema", "response_format.json_schema.schema"),
        ("generationConfig.responseMimeType", "response_format"),
        ("generationConfig.responseModalities", "modalities"),
        ("generationConfig.stopSequences", "stop"),
        ("generationConfig.temperature", "temperature"),
        ("generationConfig.thinkingConfig.thinkingBudget", "reasoning_effort"),
        ("generationConfig.thinkingConfig.thinkingLevel", "reasoning_effort"),
        ("generationConfig.thinkingConfig", "reasoning_effort"),
        ("generationConfig.topP", "top_p"),
        ("generationConfig.visibleOutputTokens", "max_tokens"),
        ("toolConfig.functionCallingConfig", "tool_choice"),
    ];

    fn push(&mut self, chunk: GenerateContentResponse, out: &mut Vec<Self::Event>) -> Result<(), Error> {
        self.hear(chunk, out)
    }

    fn finish(&mut self, out: &mut Vec<Self::Event>) -> Result<(), Error> {
        self.close(out)
    }

    fn answer(mut self, whole: GenerateContentResponse) -> Result<ChatCompletion, Error> {
        let mut answer = Whole::default();
        self.head.usage = true;
        self.hear(whole, &mut answer)?;
        self.close(&mut answer)?;
        Ok(answer.finish(self.head, self.wants.sound))
    }
}

fn broken_off() -> Error {
    Error::new(Cause::ModelBroken, "the model's answer broke off: it ended without a reason; ask again")
}
