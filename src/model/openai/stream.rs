//! The frames of a streamed chat completion as chunks of the hub. Pure; the backend feeds it. Text goes on at once, a call
//! as one part when it is complete. A whole completion goes the same way, as a stream of one chunk.
//!
//! ```text
//! Reading --finish reason--> Finished --[DONE]--> Ended
//!    |  \------------[DONE]----------------------^  ^
//!    \--error, or what cannot be read---------------/
//! ```

mod calls;
mod logprobs;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::error::{self, Who};
use crate::domain::model::{ModelCause, ModelError};
use crate::model::chunks::Out;
use crate::proto::gemini::{Candidate, Content, GenerateContentResponse, Part, UsageMetadata};
use crate::proto::openai::content::Kind;
use crate::proto::openai::content_part::Part as Wire;
use crate::proto::openai::tool_call::Call;
use crate::proto::openai::{
    self, ChatCompletion, ChatCompletionChunk, Choice, ChunkChoice, CustomCallDelta, Delta,
    FunctionCallDelta, ResponseMessage, ToolCall, ToolCallDelta, Usage,
};
use crate::proto::vendor::decode;
use calls::Calls;

const CUT_OFF: &str = "the answer was cut off";

/// An answer as far as it has come.
#[derive(Debug)]
pub struct Stream {
    state: State,
    /// By index.
    answers: BTreeMap<i32, Answer>,
    who: Arc<Who>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Reading,
    /// The model has said why it stopped. Usage may follow.
    Finished,
    /// Nothing more is said.
    Ended,
}

/// One of the answers.
#[derive(Debug, Default)]
struct Answer {
    calls: Calls,
    refused: bool,
    finished: bool,
}

impl Stream {
    pub fn new(who: Arc<Who>) -> Self {
        Self { state: State::Reading, answers: BTreeMap::new(), who }
    }

    /// The model has said why it stopped.
    pub fn is_whole(&self) -> bool {
        self.state != State::Reading
    }

    /// The data of one event.
    pub fn frame(&mut self, data: &[u8], out: &mut Out) {
        let data = data.trim_ascii();
        match data {
            _ if self.state == State::Ended => {}
            b"" => {}
            b"[DONE]" => self.done(out),
            _ => match decode::<ChatCompletionChunk>(data) {
                Ok(chunk) if may_be_error(&chunk) => match error::told(data, &self.who) {
                    Some(error) => self.fail(error, out),
                    None => out.extend(self.chunk(chunk).map(Ok)),
                },
                Ok(chunk) => out.extend(self.chunk(chunk).map(Ok)),
                Err(problem) => self.unreadable(data, &problem.to_string(), out),
            },
        }
    }

    /// What is no event: an error without its frame, or the answer of a server that does not stream.
    pub fn bare(&mut self, body: &[u8], out: &mut Out) {
        let body = body.trim_ascii();
        if self.state == State::Ended || body.is_empty() {
            return;
        }
        match decode::<ChatCompletion>(body) {
            Ok(completion) if !completion.choices.is_empty() => {
                out.extend(self.chunk(chunk_of(completion)).map(Ok));
                self.state = State::Ended;
            }
            Ok(_) => self.unreadable(body, "there is no choice in it", out),
            Err(problem) => self.unreadable(body, &problem.to_string(), out),
        }
    }

    /// There is nothing more to read.
    pub fn finish(&mut self, out: &mut Out) {
        if self.state == State::Reading {
            self.fail(ModelError::new(ModelCause::Broken, CUT_OFF), out);
        }
        self.state = State::Ended;
    }

    fn fail(&mut self, error: ModelError, out: &mut Out) {
        self.state = State::Ended;
        out.push_back(Err(error));
    }

    pub(super) fn unreadable(&mut self, data: &[u8], problem: &str, out: &mut Out) {
        let page = data.trim_ascii_start().starts_with(b"<");
        let problem = if page { "it is a web page; is that the address of the API?" } else { problem };
        let broken = || {
            let message = format!("{} gave an answer that cannot be read: {problem}", self.who.name);
            ModelError::new(ModelCause::Broken, message)
        };
        let error = error::told(data, &self.who).unwrap_or_else(broken);
        self.fail(error, out);
    }

    /// Some never say why they stopped.
    fn done(&mut self, out: &mut Out) {
        if self.state == State::Reading {
            if self.answers.is_empty() {
                self.fail(ModelError::new(ModelCause::Broken, "the model answered nothing"), out);
                return;
            }
            let choices = self.answers.keys().map(|index| ChunkChoice {
                index: *index,
                finish_reason: Some("stop".to_owned()),
                ..ChunkChoice::default()
            });
            let chunk = ChatCompletionChunk { choices: choices.collect(), ..ChatCompletionChunk::default() };
            out.extend(self.chunk(chunk).map(Ok));
        }
        self.state = State::Ended;
    }

    fn chunk(&mut self, chunk: ChatCompletionChunk) -> Option<GenerateContentResponse> {
        let candidates: Vec<Candidate> =
            chunk.choices.into_iter().filter_map(|choice| self.choice(choice)).collect();
        if self.state == State::Reading
            && candidates.iter().any(|candidate| !candidate.finish_reason.is_empty())
        {
            self.state = State::Finished;
        }
        let usage_metadata = chunk.usage.as_ref().map(usage);
        (!candidates.is_empty() || usage_metadata.is_some()).then(|| GenerateContentResponse {
            candidates,
            usage_metadata,
            model_version: chunk.model,
            response_id: chunk.id,
            ..GenerateContentResponse::default()
        })
    }

    fn choice(&mut self, choice: ChunkChoice) -> Option<Candidate> {
        let answer = self.answers.entry(choice.index).or_default();
        let mut parts = choice.delta.map(|delta| answer.delta(delta)).unwrap_or_default();
        let mut finish = choice.finish_reason.filter(|reason| !reason.is_empty() && !answer.finished);
        let mut candidate = Candidate { index: choice.index, ..Candidate::default() };
        if let Some(reason) = finish.take() {
            answer.finished = true;
            parts.extend(answer.calls.rest());
            (candidate.finish_reason, candidate.finish_message) = finish_reason(&reason, answer.refused);
        }
        candidate.extra = logprobs::result(&choice.logprobs);
        if !parts.is_empty() {
            candidate.content = Some(Content { role: "model".to_owned(), parts });
        }
        let says =
            candidate.content.is_some() || !candidate.finish_reason.is_empty() || !candidate.extra.is_empty();
        says.then_some(candidate)
    }
}

/// Frames with an error have hardly anything else.
fn may_be_error(chunk: &ChatCompletionChunk) -> bool {
    chunk.object == "error" || chunk.extra.contains("\"error\"")
}

impl Answer {
    fn delta(&mut self, delta: Delta) -> Vec<Part> {
        let mut parts = Vec::new();
        // Some send both names, with the same under each.
        let said = |text: Option<String>| text.filter(|text| !text.is_empty());
        if let Some(text) = said(delta.reasoning_content).or_else(|| said(delta.reasoning)) {
            parts.push(Part { thought: true, ..Part::text(text) });
        }
        let refusal = said(delta.refusal);
        self.refused |= refusal.is_some();
        let texts: Vec<String> = text_of(delta.content).into_iter().chain(refusal).collect();
        if !texts.is_empty() {
            parts.extend(self.calls.complete());
        }
        parts.extend(texts.into_iter().map(Part::text));
        sign(&mut parts, calls::signature(&delta.extra_content));
        let old = delta.function_call.map(|function| ToolCallDelta {
            index: Some(0),
            function: Some(function),
            ..ToolCallDelta::default()
        });
        for call in delta.tool_calls.into_iter().chain(old) {
            parts.extend(self.calls.take(call));
        }
        parts
    }
}

/// A signature that belongs to no call belongs to what was just said.
fn sign(parts: &mut Vec<Part>, signature: String) {
    if signature.is_empty() {
        return;
    }
    match parts.last_mut() {
        Some(last) if !last.thought => last.thought_signature = signature,
        _ => parts.push(Part { thought_signature: signature, ..Part::text("") }),
    }
}

fn text_of(content: Option<openai::Content>) -> Vec<String> {
    let texts = match content.and_then(|content| content.kind) {
        None => Vec::new(),
        Some(Kind::Text(text)) => vec![text],
        Some(Kind::Parts(parts)) => parts
            .parts
            .into_iter()
            .filter_map(|part| match part.part {
                Some(Wire::Text(text) | Wire::Refusal(text)) => Some(text),
                _ => None,
            })
            .collect(),
    };
    texts.into_iter().filter(|text| !text.is_empty()).collect()
}

/// The hub's reason, and the server's own word where the hub has none.
fn finish_reason(reason: &str, refused: bool) -> (String, String) {
    let (known, message) = match reason {
        _ if refused => ("SAFETY", ""),
        "stop" | "tool_calls" | "function_call" | "eos" | "end_turn" => ("STOP", ""),
        "length" | "max_tokens" => ("MAX_TOKENS", ""),
        "content_filter" => ("SAFETY", ""),
        other => ("OTHER", other),
    };
    (known.to_owned(), message.to_owned())
}

fn usage(usage: &Usage) -> UsageMetadata {
    let count = |tokens: i64| i32::try_from(tokens.max(0)).unwrap_or(i32::MAX);
    let cached = usage.prompt_tokens_details.as_ref().and_then(|details| details.cached_tokens);
    let thoughts = usage.completion_tokens_details.as_ref().and_then(|details| details.reasoning_tokens);
    let thoughts = thoughts.unwrap_or_default();
    // Thoughts are part of what was completed; who counts them beside it has more of them.
    let said = if thoughts <= usage.completion_tokens {
        usage.completion_tokens.saturating_sub(thoughts)
    } else {
        usage.completion_tokens
    };
    UsageMetadata {
        prompt_token_count: count(usage.prompt_tokens),
        cached_content_token_count: count(cached.unwrap_or_default()),
        candidates_token_count: count(said),
        thoughts_token_count: count(thoughts),
        total_token_count: count(usage.total_tokens),
        ..UsageMetadata::default()
    }
}

/// The answer of a call that does not stream.
pub fn whole(body: &[u8], who: Arc<Who>) -> Result<GenerateContentResponse, ModelError> {
    let mut out = Out::new();
    Stream::new(who).bare(body, &mut out);
    out.pop_front().unwrap_or_else(|| Err(ModelError::new(ModelCause::Broken, "the model answered nothing")))
}

fn chunk_of(completion: ChatCompletion) -> ChatCompletionChunk {
    ChatCompletionChunk {
        id: completion.id,
        model: completion.model,
        choices: completion.choices.into_iter().map(choice_of).collect(),
        usage: completion.usage,
        ..ChatCompletionChunk::default()
    }
}

fn choice_of(choice: Choice) -> ChunkChoice {
    let finish = choice.finish_reason.filter(|reason| !reason.is_empty());
    ChunkChoice {
        index: choice.index,
        delta: choice.message.map(delta_of),
        logprobs: choice.logprobs,
        // It is whole, whatever else it says.
        finish_reason: Some(finish.unwrap_or_else(|| "stop".to_owned())),
        ..ChunkChoice::default()
    }
}

fn delta_of(message: ResponseMessage) -> Delta {
    let call = |(index, call)| call_of(index, call);
    Delta {
        content: message.content,
        refusal: message.refusal,
        reasoning_content: Some(message.reasoning_content),
        reasoning: Some(message.reasoning),
        tool_calls: (0..).zip(message.tool_calls).map(call).collect(),
        function_call: message
            .function_call
            .map(|call| FunctionCallDelta { name: Some(call.name), arguments: Some(call.arguments) }),
        extra_content: message.extra_content,
        ..Delta::default()
    }
}

fn call_of(index: i32, call: ToolCall) -> ToolCallDelta {
    let mut delta = ToolCallDelta {
        index: Some(index),
        id: call.id,
        extra_content: call.extra_content,
        ..Default::default()
    };
    match call.call {
        None => {}
        Some(Call::Function(call)) => {
            delta.function =
                Some(FunctionCallDelta { name: Some(call.name), arguments: Some(call.arguments) });
        }
        Some(Call::Custom(call)) => {
            delta.custom = Some(CustomCallDelta { name: Some(call.name), input: Some(call.input) });
        }
    }
    delta
}
