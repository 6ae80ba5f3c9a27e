//! One answer of the model: the lines up to the next calls, as chunks in their time. What is said is decided before the
//! first chunk; only the waiting is left to the stream.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures::StreamExt;
use futures::stream;

use super::conversation::{CALL, Conversation, tokens};
use super::line::{Call, Fault, Line, Thought, Usage};
use crate::domain::model::{Chunks, ModelCause, ModelError};
use crate::proto::gemini::part::Data;
use crate::proto::gemini::{Candidate, Content, FunctionCall, GenerateContentResponse, Part, UsageMetadata};

/// The name of the model, here and in what it answers.
pub(super) const MODEL: &str = "rehearsal";

/// What happens next in an answer.
#[derive(Debug, Clone, PartialEq)]
enum Beat {
    Wait(Duration),
    Chunk(Vec<Part>),
    Fail(ModelError),
}

/// The lines of the answer that is due: behind each call, the tools speak first.
pub(super) fn due(lines: &[Line], answered: usize) -> &[Line] {
    lines.split_inclusive(Line::calls).nth(answered).unwrap_or_default()
}

pub(super) fn chunks(lines: Vec<Line>, conversation: &Conversation) -> Chunks {
    let told = lines.iter().find_map(|line| match line {
        Line::Usage(usage) => Some(*usage),
        _ => None,
    });
    let beats: Vec<Beat> = lines.into_iter().flat_map(|line| beats(line, conversation.next_call)).collect();
    let fails = beats.iter().any(|beat| matches!(beat, Beat::Fail(_)));
    let end = (!fails).then(|| Ok(last(&beats, conversation.tokens, told.unwrap_or_default())));
    let said = stream::iter(beats).filter_map(|beat| async move {
        match beat {
            Beat::Wait(time) => {
                tokio::time::sleep(time).await;
                None
            }
            Beat::Chunk(parts) => Some(Ok(chunk(parts))),
            Beat::Fail(error) => Some(Err(error)),
        }
    });
    said.chain(stream::iter(end)).boxed()
}

fn beats(line: Line, next_call: usize) -> Vec<Beat> {
    match line {
        Line::Say(pieces) => pieces.into_vec().into_iter().map(said).collect(),
        Line::Think(thought) => vec![Beat::Chunk(vec![think(&thought)])],
        Line::Wait(time) => vec![Beat::Wait(time)],
        Line::Call(call) => vec![Beat::Chunk(calls(vec![call], next_call))],
        Line::Calls(several) => vec![Beat::Chunk(calls(several, next_call))],
        Line::Error(fault) => vec![Beat::Fail(error(fault))],
        // The agent's own lines, where a model is asked without an agent: what can be said is said.
        Line::Ask(text) | Line::Reply(text) | Line::Reject(text) | Line::Fail(text) => vec![said(text)],
        Line::Complete(text) => text.into_iter().map(said).collect(),
        Line::Usage(_) | Line::Artifact(_) => Vec::new(),
    }
}

fn said(text: String) -> Beat {
    Beat::Chunk(vec![Part::of(Data::Text(text))])
}

fn think(thought: &Thought) -> Part {
    let subject =
        if thought.subject.is_empty() { String::new() } else { format!("**{}** ", thought.subject) };
    let text = format!("{subject}{}", thought.description).trim_end().to_owned();
    Part { thought: true, ..Part::of(Data::Text(text)) }
}

/// The first call of an answer is signed, as Gemini does it.
fn calls(calls: Vec<Call>, first: usize) -> Vec<Part> {
    let part = |(number, call): (usize, Call)| {
        let args = serde_json::Value::Object(call.with).to_string();
        let function = FunctionCall { id: format!("{CALL}{number}"), name: call.tool, args };
        let signature = if number == first { STANDARD.encode(&function.id) } else { String::new() };
        Part { thought_signature: signature, ..Part::of(Data::FunctionCall(function)) }
    };
    (first..).zip(calls).map(part).collect()
}

fn error(fault: Fault) -> ModelError {
    let message = match fault.message.is_empty() {
        true => format!("the rehearsal fails with {}, as its script asks", fault.status),
        false => fault.message.clone(),
    };
    let cause = fault.cause().unwrap_or(ModelCause::Broken);
    ModelError { retry_after: fault.after, ..ModelError::new(cause, message) }
}

fn chunk(parts: Vec<Part>) -> GenerateContentResponse {
    let content = Content { role: "model".to_owned(), parts };
    GenerateContentResponse {
        candidates: vec![Candidate { content: Some(content), ..Candidate::default() }],
        model_version: MODEL.to_owned(),
        ..GenerateContentResponse::default()
    }
}

/// Why it ended and what it took, beside an empty text, as Gemini does it.
fn last(beats: &[Beat], input: i32, told: Usage) -> GenerateContentResponse {
    let parts = || {
        beats.iter().flat_map(|beat| match beat {
            Beat::Chunk(parts) => parts.as_slice(),
            _ => &[],
        })
    };
    let prompt = told.input.unwrap_or(input);
    let output = told.output.unwrap_or_else(|| tokens(parts().filter(|part| !part.thought)));
    let thoughts = tokens(parts().filter(|part| part.thought));
    let mut end = chunk(vec![Part::of(Data::Text(String::new()))]);
    end.candidates.iter_mut().for_each(|candidate| candidate.finish_reason = "STOP".to_owned());
    end.usage_metadata = Some(UsageMetadata {
        prompt_token_count: prompt,
        candidates_token_count: output,
        thoughts_token_count: thoughts,
        total_token_count: prompt.saturating_add(output).saturating_add(thoughts),
        ..UsageMetadata::default()
    });
    end
}
