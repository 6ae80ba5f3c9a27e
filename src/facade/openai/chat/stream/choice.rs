//! One of the answers on its way: parts in, deltas out.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::citations::Said;
use super::{Head, Wants, finish};
use crate::proto::gemini::part::Data;
use crate::proto::gemini::{
    Blob, Candidate, CodeExecutionResult, ExecutableCode, FileData, FunctionCall, Part,
};
use crate::proto::openai::content_part::Part as Wire;
use crate::proto::openai::{
    Content, ContentPart, CustomCallDelta, Delta, FunctionCallDelta, ImageUrl, ToolCallDelta,
};
use crate::proto::vendor;

#[derive(Debug)]
pub struct Choice {
    said: Said,
    /// How many there were in the whole answer, and not in a chunk.
    calls: i32,
    pictures: i32,
    spoken: bool,
    grounding: String,
    /// The reason, and what the model says about it.
    finished: Option<(String, String)>,
}

impl Choice {
    pub fn new() -> Self {
        Self {
            said: Said::default(),
            calls: 0,
            pictures: 0,
            spoken: false,
            grounding: String::new(),
            finished: None,
        }
    }

    pub fn is_finished(&self) -> bool {
        self.finished.is_some()
    }

    /// What is new in it. `id` names the request.
    pub fn take(&mut self, candidate: Candidate, id: &str, wants: &Wants) -> Vec<Delta> {
        if !candidate.finish_reason.is_empty() {
            self.finished = Some((candidate.finish_reason, candidate.finish_message));
        }
        if !candidate.grounding_metadata.is_empty() {
            self.grounding = candidate.grounding_metadata;
        }
        let parts = candidate.content.map(|content| content.parts).unwrap_or_default();
        let mut deltas = Vec::with_capacity(parts.len());
        parts.into_iter().for_each(|part| self.part(part, id, wants, &mut deltas));
        deltas
    }

    fn part(&mut self, part: Part, id: &str, wants: &Wants, out: &mut Vec<Delta>) {
        // Of the others, only texts and calls are told to the model again.
        let carries = matches!(part.data, Some(Data::Text(_) | Data::FunctionCall(_))) && !part.thought;
        let signature = if carries { signed(&part.thought_signature) } else { String::new() };
        self.said.part(&part);
        match part.data {
            Some(Data::FunctionCall(call)) => self.call(call, signature, wants, out),
            data => {
                let mut delta = data.map(|data| self.told(data, part.thought, id)).unwrap_or_default();
                delta.extra_content = signature;
                if delta != Delta::default() {
                    out.push(delta);
                }
            }
        }
    }

    fn told(&mut self, data: Data, thought: bool, id: &str) -> Delta {
        match data {
            Data::Text(text) if text.is_empty() => Delta::default(),
            Data::Text(text) if thought => Delta { reasoning_content: Some(text), ..Delta::default() },
            Data::Text(text) => Delta { content: Some(Content::text(text)), ..Delta::default() },
            _ if thought => Delta::default(),
            Data::InlineData(blob) if blob.mime_type.starts_with("image/") => {
                self.picture(format!("data:{};base64,{}", blob.mime_type, blob.data))
            }
            Data::InlineData(blob) if blob.mime_type.starts_with("audio/") => self.speak(&blob, id),
            Data::FileData(file) if file.mime_type.starts_with("image/") => self.picture(file.file_uri),
            other => {
                let content = shown(&other).filter(|text| !text.is_empty()).map(Content::text);
                Delta { content, ..Delta::default() }
            }
        }
    }

    fn picture(&mut self, url: String) -> Delta {
        let image = ContentPart {
            part: Some(Wire::ImageUrl(ImageUrl { url, ..ImageUrl::default() })),
            extra: json!({"index": self.pictures}).to_string(),
        };
        self.pictures += 1;
        Delta { images: vec![image], ..Delta::default() }
    }

    fn speak(&mut self, blob: &Blob, id: &str) -> Delta {
        self.spoken = true;
        let mut audio = json!({"id": format!("audio_{id}"), "data": blob.data});
        if let Some(rate) = super::sound::rate(&blob.mime_type) {
            audio["sample_rate"] = rate.into();
        }
        Delta { audio: audio.to_string(), ..Delta::default() }
    }

    fn call(&mut self, call: FunctionCall, extra_content: String, wants: &Wants, out: &mut Vec<Delta>) {
        let index = self.calls;
        self.calls += 1;
        if wants.single && index > 0 {
            return;
        }
        let FunctionCall { id, name, args } = call;
        let args = if args.is_empty() { "{}".to_owned() } else { args };
        if wants.legacy {
            return out.extend([(Some(name), Some(String::new())), (None, Some(args))].map(old));
        }
        let custom = wants.custom.contains(&name);
        let text = if custom { input(&args) } else { args };
        let kind = if custom { "custom" } else { "function" }.to_owned();
        let first = ToolCallDelta {
            id,
            r#type: kind,
            extra_content,
            ..piece(index, custom, Some(name), String::new())
        };
        out.extend([first, piece(index, custom, None, text)].map(delta));
    }

    /// What only the end tells, and the reason in OpenAI's words.
    pub fn end(&mut self, head: &Head, wants: &Wants) -> (Vec<Delta>, &'static str) {
        let (reason, message) = self.finished.take().unwrap_or_default();
        let mut deltas = Vec::new();
        let annotations = self.said.citations(&self.grounding);
        if !annotations.is_empty() {
            deltas.push(Delta { annotations, ..Delta::default() });
        }
        if self.spoken {
            let id = format!("audio_{}", head.id);
            let audio = json!({"id": id, "transcript": "", "expires_at": head.created}).to_string();
            deltas.push(Delta { audio, ..Delta::default() });
        }
        let calls = (self.calls > 0).then_some(wants.legacy);
        let (word, refusal) = finish::reason(&reason, &message, calls);
        deltas.extend(refusal.map(|refusal| Delta { refusal: Some(refusal), ..Delta::default() }));
        (deltas, word)
    }
}

fn delta(call: ToolCallDelta) -> Delta {
    Delta { tool_calls: vec![call], ..Delta::default() }
}

fn old((name, arguments): (Option<String>, Option<String>)) -> Delta {
    Delta { function_call: Some(FunctionCallDelta { name, arguments }), ..Delta::default() }
}

fn piece(index: i32, custom: bool, name: Option<String>, text: String) -> ToolCallDelta {
    let text = Some(text);
    let mut delta = ToolCallDelta { index: Some(index), ..ToolCallDelta::default() };
    match custom {
        true => delta.custom = Some(CustomCallDelta { name, input: text }),
        false => delta.function = Some(FunctionCallDelta { name, arguments: text }),
    }
    delta
}

/// A custom tool takes the text that stands in the one member of its function.
fn input(args: &str) -> String {
    let object: Value = vendor::kept(args).unwrap_or_default();
    object.get("input").and_then(Value::as_str).map_or_else(|| args.to_owned(), str::to_owned)
}

/// Where Google's own server of this dialect puts it.
fn signed(signature: &str) -> String {
    if signature.is_empty() {
        return String::new();
    }
    json!({"google": {"thought_signature": signature}}).to_string()
}

/// What is shown of a part that is no text, where it is shown as text.
pub fn shown(data: &Data) -> Option<Cow<'_, str>> {
    match data {
        Data::Text(text) => Some(text.as_str().into()),
        Data::ExecutableCode(ExecutableCode { language, code, .. }) => {
            Some(format!("\n```{}\n{}\n```\n", language.to_lowercase(), code.trim_end()).into())
        }
        Data::CodeExecutionResult(CodeExecutionResult { output, .. }) => {
            Some(format!("\n```\n{}\n```\n", output.trim_end()).into())
        }
        Data::FileData(FileData { mime_type, file_uri }) if !mime_type.starts_with("image/") => {
            Some(file_uri.as_str().into())
        }
        _ => None,
    }
}
