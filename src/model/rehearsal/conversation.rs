//! What a request tells the rehearsal: what the user said last, how often tools have answered since, and with what. All of
//! it is in the request, so nothing has to be remembered. Pure; the backend asks.

use serde_json::Value;

use crate::domain::tool::unmarked;
use crate::proto::gemini::part::Data;
use crate::proto::gemini::{Content, FunctionResponse, GenerateContentRequest, Part};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Conversation {
    /// What the user said last.
    pub(super) said: String,
    /// That was the so many-th thing that the user said.
    pub(super) turn: usize,
    /// So many answers of the model had calls since then, and all of them came back.
    pub(super) answered: usize,
    /// What the last of these calls gave.
    pub(super) results: Vec<Told>,
    /// What the next call is numbered with.
    pub(super) next_call: usize,
    /// What the user may expect to be called.
    pub(super) tools: Vec<String>,
    /// An estimate of the tokens of it all.
    pub(super) tokens: i32,
}

/// What a call gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) text: String,
    pub(super) failed: bool,
}

/// Ids of calls, so that they do not repeat within a conversation.
pub(super) const CALL: &str = "rehearsal-";

impl Conversation {
    pub(super) fn of(request: &GenerateContentRequest) -> Self {
        let contents = &request.contents;
        let last = contents.iter().rposition(is_said);
        let since = last.map_or(contents.as_slice(), |at| &contents[at + 1..]);
        let answers: Vec<_> = since.iter().filter(|content| responses(content).next().is_some()).collect();
        let declared = request.tools.iter().flat_map(|tool| &tool.function_declarations);
        Self {
            said: last.map(|at| text(&contents[at])).unwrap_or_default(),
            turn: contents.iter().filter(|content| is_said(content)).count(),
            answered: answers.len(),
            results: answers.last().map(|content| responses(content).map(told).collect()).unwrap_or_default(),
            next_call: next_call(contents),
            tools: declared.map(|function| function.name.clone()).collect(),
            tokens: tokens(contents.iter().chain(&request.system_instruction).flat_map(|c| &c.parts)),
        }
    }

    /// What the last call gave, in words.
    pub(super) fn result(&self) -> &str {
        self.results.last().map_or("", |told| told.text.as_str())
    }
}

/// A turn of the user that is no answer of tools.
fn is_said(content: &Content) -> bool {
    content.role != "model" && responses(content).next().is_none()
}

pub(super) fn text(content: &Content) -> String {
    let words = content.parts.iter().filter(|part| !part.thought).filter_map(|part| match &part.data {
        Some(Data::Text(text)) => Some(text.as_str()),
        _ => None,
    });
    words.collect::<Vec<_>>().join("\n")
}

fn responses(content: &Content) -> impl Iterator<Item = &FunctionResponse> {
    content.parts.iter().filter_map(|part| match &part.data {
        Some(Data::FunctionResponse(response)) => Some(response),
        _ => None,
    })
}

/// By convention a response has `output` or `error`; anything else is told as it is.
fn told(response: &FunctionResponse) -> Told {
    let value: Value = serde_json::from_str(&response.response).unwrap_or_default();
    let (member, failed) = match (value.get("error"), value.get("output")) {
        (Some(error), _) => (error.get("message").unwrap_or(error), true),
        (None, Some(output)) => (output, false),
        (None, None) => (&value, false),
    };
    // A model would tell it in its own words; this one repeats it, and people need no marks.
    let text = member.as_str().map_or_else(|| member.to_string(), unmarked);
    Told { text, failed }
}

fn next_call(contents: &[Content]) -> usize {
    let calls = contents.iter().flat_map(|content| &content.parts).filter_map(|part| match &part.data {
        Some(Data::FunctionCall(call)) => Some(call),
        _ => None,
    });
    let numbers = calls.clone().filter_map(|call| call.id.strip_prefix(CALL)?.parse().ok());
    // A shortened conversation has lost some; one with other ids has none that can be read.
    numbers.chain([calls.count()]).max().unwrap_or_default() + 1
}

/// Four characters make a token, more or less.
pub(super) fn tokens<'a>(parts: impl Iterator<Item = &'a Part>) -> i32 {
    let characters = |part: &Part| match &part.data {
        Some(Data::Text(text)) => text.chars().count(),
        Some(Data::FunctionCall(call)) => call.name.len() + call.args.chars().count(),
        Some(Data::FunctionResponse(response)) => response.name.len() + response.response.chars().count(),
        _ => 0,
    };
    let all: usize = parts.map(characters).sum();
    i32::try_from(all.div_ceil(4)).unwrap_or(i32::MAX)
}
