//! The hub's chunks as chunks of a chat completion: the role first, then what is new, the reason once and last, and behind
//! it what it took. Pure; ids and time were given with the request.

mod choice;
mod citations;
mod finish;
mod logprobs;
mod sound;
mod usage;

use std::collections::{BTreeMap, HashSet};

use crate::domain::error::{Cause, Error};
use crate::facade::{Asked, Names, Reply};
use crate::proto::gemini::{GenerateContentResponse, PromptFeedback, UsageMetadata};
use crate::proto::openai::{ChatCompletion, ChatCompletionChunk, ChunkChoice, Delta, Usage};

use self::choice::Choice;
pub use self::sound::Sound;
use super::gather;

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
    choices: BTreeMap<i32, Choice>,
    /// Cumulative: the last one counts.
    taken: Option<UsageMetadata>,
    blocked: Option<PromptFeedback>,
}

/// What all chunks have in common.
#[derive(Debug)]
struct Head {
    /// Of the request.
    id: String,
    /// Of the answer.
    name: String,
    created: i64,
    model: String,
    tier: String,
    usage: bool,
}

impl Head {
    fn chunk(&self, choices: Vec<ChunkChoice>) -> ChatCompletionChunk {
        ChatCompletionChunk {
            id: self.name.clone(),
            object: "chat.completion.chunk".to_owned(),
            created: self.created,
            model: self.model.clone(),
            choices,
            usage: self.usage.then(Usage::default),
            service_tier: self.tier.clone(),
            ..ChatCompletionChunk::default()
        }
    }

    fn delta(&self, index: i32, delta: Delta) -> ChatCompletionChunk {
        self.chunk(vec![ChunkChoice { index, delta: Some(delta), ..ChunkChoice::default() }])
    }
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
        Self { head, wants, choices: BTreeMap::new(), taken: None, blocked: None }
    }

    #[cfg(test)]
    pub(super) fn sound(&self) -> Option<Sound> {
        self.wants.sound
    }

    fn candidates(
        &mut self,
        chunk: GenerateContentResponse,
        out: &mut Vec<ChatCompletionChunk>,
    ) -> Result<(), Error> {
        for candidate in chunk.candidates {
            let index = candidate.index;
            finish::check(&candidate)?;
            let choice = self.choices.entry(index).or_insert_with(|| {
                out.push(self.head.delta(index, Delta::role()));
                Choice::new(&self.head.id)
            });
            let logprobs = if self.wants.logprobs { logprobs::of(&candidate.extra) } else { String::new() };
            let mut deltas = choice.take(candidate, &self.wants);
            if deltas.is_empty() && !logprobs.is_empty() {
                deltas.push(Delta::default());
            }
            let first = out.len();
            out.extend(deltas.into_iter().map(|delta| self.head.delta(index, delta)));
            let first = out.get_mut(first).and_then(|chunk| chunk.choices.first_mut());
            first.into_iter().for_each(|choice| choice.logprobs.clone_from(&logprobs));
        }
        Ok(())
    }

    /// The model was not even asked: one choice says so.
    fn refuse(&mut self, feedback: &PromptFeedback, out: &mut Vec<ChatCompletionChunk>) {
        let delta = Delta { refusal: Some(finish::blocked(feedback)), ..Delta::role() };
        out.push(self.head.delta(0, Delta { content: None, ..delta }));
        out.push(self.ended(0, "content_filter"));
    }

    fn ended(&self, index: i32, reason: &str) -> ChatCompletionChunk {
        let finish_reason = Some(reason.to_owned());
        let delta = Some(Delta::default());
        self.head.chunk(vec![ChunkChoice { index, delta, finish_reason, ..ChunkChoice::default() }])
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

    fn push(&mut self, mut chunk: GenerateContentResponse, out: &mut Vec<Self::Event>) -> Result<(), Error> {
        if let Some(taken) = chunk.usage_metadata.take() {
            if let Some(tier) = usage::tier(&taken).filter(|_| !self.wants.tier.is_empty()) {
                tier.clone_into(&mut self.head.tier);
            }
            self.taken = Some(taken);
        }
        let blocked = chunk.prompt_feedback.take().filter(|feedback| !feedback.block_reason.is_empty());
        self.blocked = blocked.or(self.blocked.take());
        self.candidates(chunk, out)
    }

    fn finish(&mut self, out: &mut Vec<Self::Event>) -> Result<(), Error> {
        let mut choices = std::mem::take(&mut self.choices);
        match (choices.is_empty(), self.blocked.take()) {
            (true, Some(feedback)) => self.refuse(&feedback, out),
            (true, None) => return Err(broken_off()),
            (false, _) => {}
        }
        if choices.values().any(|choice| !choice.is_finished()) {
            return Err(broken_off());
        }
        for (index, choice) in &mut choices {
            let (deltas, reason) = choice.end(&self.wants, self.head.created);
            out.extend(deltas.into_iter().map(|delta| self.head.delta(*index, delta)));
            out.push(self.ended(*index, reason));
        }
        if self.head.usage {
            let mut last = self.head.chunk(Vec::new());
            last.usage = Some(self.taken.as_ref().map(usage::usage).unwrap_or_default());
            out.push(last);
        }
        Ok(())
    }

    fn answer(mut self, whole: GenerateContentResponse) -> Result<ChatCompletion, Error> {
        let mut events = Vec::new();
        self.head.usage = true;
        self.push(whole, &mut events)?;
        self.finish(&mut events)?;
        Ok(gather::whole(events, self.wants.sound))
    }
}

fn broken_off() -> Error {
    Error::new(Cause::ModelBroken, "the model's answer broke off: it ended without a reason; ask again")
}
