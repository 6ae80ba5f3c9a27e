//! A chunk in the words of a script: the members of its entry. Whether that says all of it, the caller finds out by reading it
//! again. Pure.

use super::yaml::{quoted, verbatim};
use crate::proto::gemini::part::Data;
use crate::proto::gemini::{FunctionCall, GenerateContentResponse, Part, UsageMetadata};

/// How JSON is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// As YAML, of which JSON is a part.
    Members,
    /// As a text, where YAML would change it.
    Text,
}

impl Form {
    fn json(self, json: &str) -> Option<String> {
        match self {
            Self::Text => Some(verbatim(json)),
            // An entry is one line.
            Self::Members if json.contains(['\n', '\r']) => None,
            Self::Members => Some(json.to_owned()),
        }
    }
}

/// None if there is something in it that has no words.
pub(super) fn spoken(chunk: &GenerateContentResponse, form: Form) -> Option<Vec<String>> {
    let [candidate] = chunk.candidates.as_slice() else { return None };
    let parts = candidate.content.as_ref().map(|content| content.parts.as_slice()).unwrap_or_default();
    let mut members = Vec::new();
    // A signature belongs to one text; calls have their own.
    let same = |one: &Part, next: &Part| {
        kind(one) == kind(next) && (kind(one) == Kind::Call || one.thought_signature.is_empty())
    };
    for group in parts.chunk_by(same) {
        members.extend(group_members(group, form)?);
    }
    if !candidate.finish_reason.is_empty() {
        members.push(format!("finish: {}", quoted(&candidate.finish_reason)));
    }
    if let Some(told) = &chunk.usage_metadata {
        members.push(usage(told, form)?);
    }
    Some(members)
}

#[derive(PartialEq)]
enum Kind {
    Say,
    Think,
    Call,
    Other,
}

fn kind(part: &Part) -> Kind {
    match &part.data {
        Some(Data::Text(_)) if part.thought => Kind::Think,
        Some(Data::Text(_)) => Kind::Say,
        Some(Data::FunctionCall(_)) => Kind::Call,
        _ => Kind::Other,
    }
}

fn group_members(group: &[Part], form: Form) -> Option<Vec<String>> {
    let texts: Vec<String> = group.iter().filter_map(text).map(quoted).collect();
    let mut members = match (kind(group.first()?), texts.as_slice()) {
        (Kind::Think, [text]) => vec![format!("think: {text}")],
        (Kind::Say, [text]) => vec![format!("say: {text}")],
        (Kind::Say, texts) => vec![format!("say: [{}]", texts.join(", "))],
        (Kind::Call, _) => return calls(group, form).map(|calls| vec![calls]),
        _ => return None,
    };
    let signature = &group.last()?.thought_signature;
    if !signature.is_empty() {
        members.push(format!("signature: {}", quoted(signature)));
    }
    Some(members)
}

fn text(part: &Part) -> Option<&str> {
    match &part.data {
        Some(Data::Text(text)) => Some(text),
        _ => None,
    }
}

fn calls(group: &[Part], form: Form) -> Option<String> {
    let calls = group.iter().map(|part| match &part.data {
        Some(Data::FunctionCall(function)) => call(function, &part.thought_signature, form),
        _ => None,
    });
    let calls: Vec<String> = calls.collect::<Option<_>>()?;
    Some(match calls.as_slice() {
        [call] => format!("call: {call}"),
        calls => format!("calls: [{}]", calls.join(", ")),
    })
}

fn call(call: &FunctionCall, signature: &str, form: Form) -> Option<String> {
    let (tool, id, with) = (quoted(&call.name), quoted(&call.id), form.json(&call.args)?);
    let signature = match signature.is_empty() {
        true => String::new(),
        false => format!(", signature: {}", quoted(signature)),
    };
    Some(format!("{{tool: {tool}, with: {with}, id: {id}{signature}}}"))
}

fn usage(told: &UsageMetadata, form: Form) -> Option<String> {
    let (input, output, thoughts) =
        (told.prompt_token_count, told.candidates_token_count, told.thoughts_token_count);
    let tools = told.tool_use_prompt_token_count;
    let sum = [output, thoughts, tools].into_iter().fold(input, i32::saturating_add);
    let counts = [
        ("input", input),
        ("output", output),
        ("thoughts", thoughts),
        ("cached", told.cached_content_token_count),
        ("tools", tools),
    ];
    let counts = counts.into_iter().filter(|(_, count)| *count != 0);
    let total = (told.total_token_count != sum).then_some(("total", told.total_token_count));
    let mut members: Vec<String> =
        counts.chain(total).map(|(name, count)| format!("{name}: {count}")).collect();
    if !told.extra.is_empty() {
        members.push(format!("more: {}", form.json(&told.extra)?));
    }
    Some(format!("usage: {{{}}}", members.join(", ")))
}
