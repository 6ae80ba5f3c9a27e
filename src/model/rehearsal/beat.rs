//! Lines become beats: chunks as they will be sent, and what happens between them. Pure; the answer plays them.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::conversation::{CALL, Conversation, tokens};
use super::fault::{self, Times};
use super::line::{Call, Line, Thinking, Thought, Usage};
use crate::domain::model::ModelError;
use crate::proto::gemini::part::Data;
use crate::proto::gemini::{Candidate, Content, FunctionCall, GenerateContentResponse, Part, UsageMetadata};

/// The name of the model, here and in what it answers.
pub(super) const MODEL: &str = "rehearsal";

/// What happens next in an answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Beat {
    Wait(Duration),
    Chunk(GenerateContentResponse),
    Fail(ModelError, Option<Times>),
    /// Nothing more comes.
    Silence(Option<Times>),
}

/// Makes the beats of one answer, in order.
pub(super) struct Beats {
    made: Vec<Beat>,
    model: String,
    response_id: String,
    next_call: usize,
    /// A call was numbered before, and signed.
    signed: bool,
    /// An estimate of what was asked.
    input: i32,
    usage: Usage,
    /// Why it ends, and that it does.
    finish: Option<String>,
    ended: bool,
}

impl Beats {
    pub(super) fn new(conversation: &Conversation) -> Self {
        Self {
            made: Vec::new(),
            model: MODEL.to_owned(),
            response_id: String::new(),
            next_call: conversation.next_call,
            signed: false,
            input: conversation.tokens,
            usage: Usage::default(),
            finish: None,
            ended: false,
        }
    }

    pub(super) fn push(&mut self, line: Line) {
        match line {
            Line::Wait(time) => self.made.push(Beat::Wait(time)),
            Line::Say(pieces) => pieces.into_vec().into_iter().for_each(|text| self.say(text)),
            Line::Model(name) => self.model = name,
            Line::ResponseId(id) => self.response_id = id,
            Line::Usage(usage) => self.usage = usage,
            Line::Finish(reason) => self.finish = Some(reason),
            Line::End => self.ended = true,
            Line::Chunk(chunk) => self.made.push(Beat::Chunk(*chunk)),
            Line::Together(lines) => self.together(lines),
            Line::Error(fault) => self.made.push(Beat::Fail(fault.error(), fault.times)),
            Line::Reset(again) => {
                let heard = self.made.iter().any(|beat| matches!(beat, Beat::Chunk(_)));
                self.made.push(Beat::Fail(fault::reset(heard), again.map(|again| again.times)));
            }
            Line::Garbage(again) => {
                self.made.push(Beat::Fail(fault::garbage(), again.map(|again| again.times)));
            }
            Line::Silence(again) => self.made.push(Beat::Silence(again.map(|again| again.times))),
            // The agent's own lines, where a model is asked without an agent: what can be said is said.
            Line::Ask(text) | Line::Reply(text) | Line::Reject(text) | Line::Fail(text) => self.say(text),
            Line::Complete(text) => text.into_iter().for_each(|text| self.say(text)),
            Line::Artifact(_) => {}
            line @ (Line::Think(_) | Line::Call(_) | Line::Calls(_) | Line::Signature(_)) => {
                self.together(vec![line]);
            }
        }
    }

    /// The beats so far, and no more.
    pub(super) fn made(self) -> Vec<Beat> {
        self.made
    }

    /// With the end, unless the script told it.
    pub(super) fn finish(mut self) -> Vec<Beat> {
        let tells = |beat: &Beat| match beat {
            Beat::Chunk(chunk) => {
                chunk.candidates.iter().any(|candidate| !candidate.finish_reason.is_empty())
            }
            _ => false,
        };
        if !self.ended && !self.made.iter().any(tells) {
            let end = self.end();
            self.made.push(Beat::Chunk(end));
        }
        self.made
    }

    fn say(&mut self, text: String) {
        let chunk = self.chunk(vec![Part::text(text)]);
        self.made.push(Beat::Chunk(chunk));
    }

    fn together(&mut self, lines: Vec<Line>) {
        let (mut parts, mut usage, mut finish) = (Vec::<Part>::new(), None, String::new());
        for line in lines {
            match line {
                Line::Say(pieces) => parts.extend(pieces.into_vec().into_iter().map(Part::text)),
                Line::Think(thinking) => parts.push(think(thinking)),
                Line::Call(call) => parts.push(self.call(call)),
                Line::Calls(calls) => parts.extend(calls.into_iter().map(|call| self.call(call))),
                Line::Signature(signature) => {
                    parts
                        .iter_mut()
                        .last()
                        .into_iter()
                        .for_each(|part| part.thought_signature.clone_from(&signature));
                }
                Line::Usage(told) => usage = Some(told),
                Line::Finish(reason) => finish = reason,
                _ => {}
            }
        }
        let mut chunk = self.chunk(parts);
        for candidate in &mut chunk.candidates {
            candidate.finish_reason.clone_from(&finish);
            candidate.content = candidate.content.take().filter(|content| !content.parts.is_empty());
        }
        chunk.usage_metadata = usage.map(|usage| counted(&usage, 0, 0, 0));
        self.made.push(Beat::Chunk(chunk));
    }

    fn chunk(&self, parts: Vec<Part>) -> GenerateContentResponse {
        let content = Content { role: "model".to_owned(), parts };
        GenerateContentResponse {
            candidates: vec![Candidate { content: Some(content), ..Candidate::default() }],
            model_version: self.model.clone(),
            response_id: self.response_id.clone(),
            ..GenerateContentResponse::default()
        }
    }

    /// The first call of an answer is signed, as Gemini does it, unless it is given as it is.
    fn call(&mut self, call: Call) -> Part {
        let number = self.next_call;
        self.next_call += 1;
        let numbered = format!("{CALL}{number}");
        let own = match call.id.is_none() && !self.signed {
            true => STANDARD.encode(&numbered),
            false => String::new(),
        };
        self.signed = true;
        let id = call.id.unwrap_or(numbered);
        let function = FunctionCall { id, name: call.tool, args: call.with.to_json() };
        let thought_signature = call.signature.unwrap_or(own);
        Part { thought_signature, ..Part::of(Data::FunctionCall(function)) }
    }

    /// Why it ended and what it took, beside an empty text, as Gemini does it.
    fn end(&self) -> GenerateContentResponse {
        let parts = || {
            let chunks = self.made.iter().filter_map(|beat| match beat {
                Beat::Chunk(chunk) => Some(chunk),
                _ => None,
            });
            let contents = chunks.flat_map(|chunk| &chunk.candidates).filter_map(|it| it.content.as_ref());
            contents.flat_map(|content| &content.parts)
        };
        let output = tokens(parts().filter(|part| !part.thought));
        let thoughts = tokens(parts().filter(|part| part.thought));
        let mut end = self.chunk(vec![Part::text("")]);
        for candidate in &mut end.candidates {
            candidate.finish_reason = self.finish.clone().unwrap_or_else(|| "STOP".to_owned());
        }
        end.usage_metadata = Some(counted(&self.usage, self.input, output, thoughts));
        end
    }
}

/// What is told, and otherwise what is estimated.
fn counted(told: &Usage, input: i32, output: i32, thoughts: i32) -> UsageMetadata {
    let input = told.input.unwrap_or(input);
    let output = told.output.unwrap_or(output);
    let thoughts = told.thoughts.unwrap_or(thoughts);
    let tools = told.tools.unwrap_or_default();
    let sum = || [output, thoughts, tools].into_iter().fold(input, i32::saturating_add);
    UsageMetadata {
        prompt_token_count: input,
        cached_content_token_count: told.cached.unwrap_or_default(),
        candidates_token_count: output,
        thoughts_token_count: thoughts,
        tool_use_prompt_token_count: tools,
        total_token_count: told.total.unwrap_or_else(sum),
        extra: told.more.as_ref().map(|more| more.to_json()).unwrap_or_default(),
    }
}

fn think(thinking: Thinking) -> Part {
    let text = match thinking {
        Thinking::Text(text) => text,
        Thinking::Thought(Thought { subject, description }) if subject.is_empty() => {
            description.trim_end().to_owned()
        }
        Thinking::Thought(Thought { subject, description }) => {
            format!("**{subject}** {description}").trim_end().to_owned()
        }
    };
    Part { thought: true, ..Part::text(text) }
}
