//! The answer as a whole: its own stream put together, as any client would.

use base64::Engine;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde_json::{Value, json};

use super::stream::Sound;
use crate::proto::openai::content::Kind;
use crate::proto::openai::tool_call::Call;
use crate::proto::openai::{
    ChatCompletion, ChatCompletionChunk, Choice, ChunkChoice, Content, CustomCall, Delta, FunctionCall,
    FunctionCallDelta, ResponseMessage, ToolCall, ToolCallDelta, Usage,
};

pub fn whole(chunks: Vec<ChatCompletionChunk>, sound: Option<Sound>) -> ChatCompletion {
    let mut answer = ChatCompletion { object: "chat.completion".to_owned(), ..ChatCompletion::default() };
    let mut gathered: Vec<Gathered> = Vec::new();
    for chunk in chunks {
        (answer.id, answer.created, answer.model) = (chunk.id, chunk.created, chunk.model);
        answer.service_tier = chunk.service_tier;
        answer.usage = chunk.usage.filter(|usage| *usage != Usage::default()).or(answer.usage.take());
        for choice in chunk.choices {
            match gathered.iter_mut().find(|known| known.choice.index == choice.index) {
                Some(known) => known.take(choice),
                None => {
                    let mut new = Gathered::new(choice.index);
                    new.take(choice);
                    gathered.push(new);
                }
            }
        }
    }
    answer.choices = gathered.into_iter().map(|gathered| gathered.finish(sound)).collect();
    answer
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

    fn take(&mut self, choice: ChunkChoice) {
        self.choice.finish_reason = choice.finish_reason.or(self.choice.finish_reason.take());
        if let Ok(Value::Object(mut logprobs)) = serde_json::from_str(&choice.logprobs)
            && let Some(Value::Array(content)) = logprobs.get_mut("content").map(Value::take)
        {
            self.logprobs.extend(content);
        }
        choice.delta.into_iter().for_each(|delta| self.delta(delta));
    }

    fn delta(&mut self, delta: Delta) {
        let message = &mut self.message;
        replace(&mut message.role, delta.role);
        replace(&mut message.extra_content, delta.extra_content);
        if let Some(Kind::Text(text)) = delta.content.and_then(|content| content.kind) {
            self.text.push_str(&text);
        }
        message.reasoning_content.push_str(&delta.reasoning_content.unwrap_or_default());
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
        self.speak(&delta.audio);
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
