//! The answer as a whole, put together of what its stream would say.

use base64::Engine;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde_json::{Value, json};

use super::stream::{Head, Sound, Tell};
use crate::facade::one_more;
use crate::proto::openai::content::Kind;
use crate::proto::openai::tool_call::Call;
use crate::proto::openai::{
    ChatCompletion, Choice, Content, CustomCall, Delta, FunctionCall, FunctionCallDelta, ResponseMessage,
    ToolCall, ToolCallDelta, Usage,
};

/// An answer that grows as it is told.
#[derive(Default)]
pub struct Whole {
    choices: Vec<Gathered>,
    usage: Usage,
}

impl Whole {
    fn choice(&mut self, index: i32) -> &mut Gathered {
        let known = self.choices.iter().position(|known| known.choice.index == index);
        let at = known.unwrap_or_else(|| {
            one_more(&mut self.choices).push(Gathered::new(index));
            self.choices.len() - 1
        });
        &mut self.choices[at]
    }

    pub fn finish(self, head: Head, sound: Option<Sound>) -> ChatCompletion {
        ChatCompletion {
            id: head.name,
            object: "chat.completion".to_owned(),
            created: head.created,
            model: head.model,
            choices: self.choices.into_iter().map(|gathered| gathered.finish(sound)).collect(),
            usage: Some(self.usage).filter(|usage| *usage != Usage::default()),
            service_tier: head.tier,
            ..ChatCompletion::default()
        }
    }
}

impl Tell for Whole {
    fn delta(&mut self, _head: &Head, index: i32, delta: Delta, logprobs: String) {
        let choice = self.choice(index);
        choice.logprobs(&logprobs);
        choice.delta(delta);
    }

    fn end(&mut self, _head: &Head, index: i32, reason: &'static str) {
        self.choice(index).choice.finish_reason = Some(reason.to_owned());
    }

    fn usage(&mut self, _head: &Head, usage: Usage) {
        self.usage = usage;
    }
}

#[derive(Default)]
struct Gathered {
    choice: Choice,
    message: ResponseMessage,
    text: String,
    logprobs: Vec<Value>,
    spoken: Vec<Vec<u8>>,
    /// Of the spoken samples.
    rate: Option<u32>,
    audio: Value,
}

impl Gathered {
    fn new(index: i32) -> Self {
        Self { choice: Choice { index, ..Choice::default() }, ..Self::default() }
    }

    fn logprobs(&mut self, logprobs: &str) {
        if !logprobs.is_empty()
            && let Ok(Value::Object(mut logprobs)) = serde_json::from_str(logprobs)
            && let Some(Value::Array(content)) = logprobs.get_mut("content").map(Value::take)
        {
            self.logprobs.extend(content);
        }
    }

    fn delta(&mut self, delta: Delta) {
        let message = &mut self.message;
        replace(&mut message.role, delta.role);
        replace(&mut message.extra_content, delta.extra_content);
        if let Some(Kind::Text(text)) = delta.content.and_then(|content| content.kind) {
            append(&mut self.text, text);
        }
        append(&mut message.reasoning_content, delta.reasoning_content.unwrap_or_default());
        if let Some(refusal) = delta.refusal {
            message.refusal.get_or_insert_default().push_str(&refusal);
        }
        message.images.extend(delta.images);
        message.annotations.extend(delta.annotations);
        delta.tool_calls.into_iter().for_each(|call| grow(&mut message.tool_calls, call));
        if let Some(FunctionCallDelta { name, arguments }) = delta.function_call {
            let call = message.function_call.get_or_insert_default();
            call.name.push_str(&name.unwrap_or_default());
            call.arguments.push_str(&arguments.unwrap_or_default());
        }
        if !delta.audio.is_empty() {
            self.speak(&delta.audio);
        }
    }

    fn speak(&mut self, audio: &str) {
        const LENIENT: GeneralPurposeConfig =
            GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
        let Ok(audio @ Value::Object(_)) = serde_json::from_str(audio) else { return };
        if let Some(data) = audio["data"].as_str() {
            let data = data.replace('-', "+").replace('_', "/");
            let reader = GeneralPurpose::new(&base64::alphabet::STANDARD, LENIENT);
            self.spoken.extend(reader.decode(data).ok());
            self.rate = audio["sample_rate"].as_u64().and_then(|rate| rate.try_into().ok()).or(self.rate);
        } else {
            self.audio = audio;
        }
    }

    fn finish(mut self, sound: Option<Sound>) -> Choice {
        // Beside anything else, no text is no text; alone, it is an empty one.
        let message = &self.message;
        let alone = message.tool_calls.is_empty()
            && message.function_call.is_none()
            && message.refusal.is_none()
            && message.images.is_empty()
            && self.spoken.is_empty();
        self.message.content = (alone || !self.text.is_empty()).then(|| Content::text(self.text));
        if !self.spoken.is_empty() {
            let data = sound.unwrap_or(Sound::Pcm).whole(&self.spoken, self.rate);
            self.audio["data"] = data.into();
            self.message.audio = self.audio.to_string();
        }
        if !self.logprobs.is_empty() {
            self.choice.logprobs = json!({"content": self.logprobs, "refusal": null}).to_string();
        }
        Choice { message: Some(self.message), ..self.choice }
    }
}

fn replace(member: &mut String, new: String) {
    if !new.is_empty() {
        *member = new;
    }
}

/// Most come in one piece, which is then taken as it is.
fn append(text: &mut String, more: String) {
    match text.is_empty() {
        true => *text = more,
        false => text.push_str(&more),
    }
}

/// The first piece of a call has its id and its name, the others go on with the text.
fn grow(calls: &mut Vec<ToolCall>, delta: ToolCallDelta) {
    if !delta.id.is_empty() {
        let call = match (&delta.custom, delta.function.is_some()) {
            (Some(_), _) => Some(Call::Custom(CustomCall::default())),
            (None, true) => Some(Call::Function(FunctionCall::default())),
            (None, false) => None,
        };
        calls.push(ToolCall {
            id: delta.id,
            call,
            extra_content: delta.extra_content,
            ..ToolCall::default()
        });
    }
    match calls.last_mut().and_then(|call| call.call.as_mut()) {
        Some(Call::Function(call)) => {
            let piece = delta.function.unwrap_or_default();
            call.name.push_str(&piece.name.unwrap_or_default());
            call.arguments.push_str(&piece.arguments.unwrap_or_default());
        }
        Some(Call::Custom(call)) => {
            let piece = delta.custom.unwrap_or_default();
            call.name.push_str(&piece.name.unwrap_or_default());
            call.input.push_str(&piece.input.unwrap_or_default());
        }
        None => {}
    }
}
