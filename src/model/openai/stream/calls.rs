//! Calls put together from their pieces. Servers differ: OpenAI and vLLM count them by `index`, Ollama has sent several
//! whole calls with index 0, others leave the index out.

use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::proto::gemini::part::Data;
use crate::proto::gemini::{FunctionCall, Part};
use crate::proto::openai::{CustomCallDelta, FunctionCallDelta, ToolCallDelta};

/// The calls of one answer that are not passed on yet, in their order.
#[derive(Debug, Default)]
pub struct Calls(Vec<Open>);

#[derive(Debug, Default)]
struct Open {
    index: Option<i32>,
    id: String,
    name: String,
    arguments: String,
    signature: String,
    /// It takes a text, no arguments.
    custom: bool,
}

impl Calls {
    /// Takes a piece. What begins another call shows which ones before it are complete.
    pub fn take(&mut self, delta: ToolCallDelta) -> Vec<Part> {
        let piece = Piece::of(delta);
        if let Some(open) = self.find(&piece) {
            open.add(piece);
            return Vec::new();
        }
        // What is left of a call that is already passed on: nothing that counts.
        if piece.id.is_empty() && piece.name.is_empty() && piece.text.trim().is_empty() {
            return Vec::new();
        }
        let done = self.complete();
        let mut open = Open { index: piece.index, ..Open::default() };
        open.add(piece);
        self.0.push(open);
        done
    }

    fn find(&mut self, piece: &Piece) -> Option<&mut Open> {
        let other = |open: &Open| !piece.id.is_empty() && !open.id.is_empty() && open.id != piece.id;
        let found = match piece.index {
            Some(_) => self.0.iter().rposition(|open| open.index == piece.index),
            None if !piece.id.is_empty() => self.0.iter().rposition(|open| open.id == piece.id),
            // Without a name it goes on, with one it begins.
            None if piece.name.is_empty() => self.0.len().checked_sub(1),
            None => None,
        };
        self.0.get_mut(found?).filter(|open| !other(open))
    }

    /// Those at the front that have all their arguments. Pieces of several may come in turn.
    pub fn complete(&mut self) -> Vec<Part> {
        let count = self.0.iter().take_while(|open| !open.custom && is_object(&open.arguments)).count();
        self.0.drain(..count).map(Open::into_part).collect()
    }

    /// All that are left: there is nothing more to come.
    pub fn rest(&mut self) -> Vec<Part> {
        self.0.drain(..).map(Open::into_part).collect()
    }
}

/// A piece, whatever kind of tool it calls.
struct Piece {
    index: Option<i32>,
    id: String,
    name: String,
    text: String,
    signature: String,
    custom: bool,
}

impl Piece {
    fn of(delta: ToolCallDelta) -> Self {
        let custom = delta.custom.is_some() || delta.r#type == "custom";
        let FunctionCallDelta { name, arguments } = delta.function.unwrap_or_default();
        let CustomCallDelta { name: custom_name, input } = delta.custom.unwrap_or_default();
        Self {
            index: delta.index,
            id: delta.id,
            name: name.or(custom_name).unwrap_or_default(),
            text: arguments.or(input).unwrap_or_default(),
            signature: signature(&delta.extra_content),
            custom,
        }
    }
}

impl Open {
    fn add(&mut self, piece: Piece) {
        // Some repeat the name with each piece.
        if self.name != piece.name {
            self.name.push_str(&piece.name);
        }
        if self.id.is_empty() {
            self.id = piece.id;
        }
        if !piece.signature.is_empty() {
            self.signature = piece.signature;
        }
        self.arguments.push_str(&piece.text);
        self.custom |= piece.custom;
    }

    fn into_part(self) -> Part {
        let args = match self.arguments.trim() {
            _ if self.custom => json!({"input": self.arguments}).to_string(),
            "" | "null" => "{}".to_owned(),
            text if is_object(text) => text.to_owned(),
            // The model wrote nonsense; it will be told so by who reads it.
            _ => json!({"_raw": self.arguments}).to_string(),
        };
        let call = FunctionCall { id: self.id, name: self.name, args };
        Part { thought_signature: self.signature, ..Part::of(Data::FunctionCall(call)) }
    }
}

fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{') && serde_json::from_str::<&RawValue>(text).is_ok()
}

/// Google's thought signature in what a vendor adds.
pub fn signature(extra_content: &str) -> String {
    if extra_content.is_empty() {
        return String::new();
    }
    let extra: Value = serde_json::from_str(extra_content).unwrap_or_default();
    let signature = extra.pointer("/google/thought_signature").and_then(Value::as_str);
    signature.unwrap_or_default().to_owned()
}
