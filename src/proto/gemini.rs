//! The hub: conversations in the shape of Gemini's API, whose REST JSON is the JSON of these types. Derives do most of it
//! (`build/vendor.rs`); here is what they cannot: the union of a part, unknown members, and the name of a model.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use super::generated::agena::gemini::v1::*;
use super::vendor::{Extra, Key, KeyOf, keep_extra, with_extra};
use part::Data;

#[cfg(test)]
mod tests;

keep_extra!(
    GenerateContentRequest,
    Tool,
    ToolConfig,
    GenerationConfig,
    GenerateContentResponse,
    Candidate,
    UsageMetadata,
    CountTokensRequest,
    CountTokensResponse,
    EmbedContentRequest,
    EmbedContentResponse,
    BatchEmbedContentsResponse,
    Model,
);

/// `models/` stands before the name in paths and in some bodies.
pub(super) mod model_name {
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
        let name = Option::<String>::deserialize(deserializer)?.unwrap_or_default();
        Ok(name.strip_prefix("models/").map(str::to_owned).unwrap_or(name))
    }

    pub fn serialize<S: Serializer>(name: &str, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("models/{name}"))
    }
}

impl Serialize for Part {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.extra.is_empty() {
            return self.known(serializer);
        }
        with_extra(|out| self.known(&mut serde_json::Serializer::new(out)), &self.extra, serializer)
    }
}

impl Part {
    pub fn of(data: Data) -> Self {
        Self { data: Some(data), ..Self::default() }
    }

    pub fn text(text: impl Into<String>) -> Self {
        Self::of(Data::Text(text.into()))
    }

    /// Text and nothing else: no thought, no signature, nothing unknown.
    pub fn is_plain_text(&self) -> bool {
        matches!(self.data, Some(Data::Text(_)))
            && !self.thought
            && self.thought_signature.is_empty()
            && self.extra.is_empty()
    }

    fn known<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match &self.data {
            None => {}
            Some(Data::Text(text)) => map.serialize_entry("text", text)?,
            Some(Data::InlineData(blob)) => map.serialize_entry("inlineData", blob)?,
            Some(Data::FileData(file)) => map.serialize_entry("fileData", file)?,
            Some(Data::FunctionCall(call)) => map.serialize_entry("functionCall", call)?,
            Some(Data::FunctionResponse(response)) => map.serialize_entry("functionResponse", response)?,
            Some(Data::ExecutableCode(code)) => map.serialize_entry("executableCode", code)?,
            Some(Data::CodeExecutionResult(result)) => map.serialize_entry("codeExecutionResult", result)?,
        }
        if self.thought {
            map.serialize_entry("thought", &true)?;
        }
        if !self.thought_signature.is_empty() {
            map.serialize_entry("thoughtSignature", &self.thought_signature)?;
        }
        map.end()
    }
}

impl Content {
    /// Takes the next part of a streamed answer: pieces of plain text grow together.
    pub fn grow(&mut self, part: Part) {
        if let (Some(Data::Text(text)), Some(last)) = (&part.data, self.parts.last_mut())
            && part.is_plain_text()
            && last.is_plain_text()
            && let Some(Data::Text(before)) = &mut last.data
        {
            before.push_str(text);
            return;
        }
        self.parts.push(part);
    }
}

impl<'de> Deserialize<'de> for Part {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(PartVisitor)
    }
}

const MEMBERS: &[&str] = &[
    "text",
    "inlineData",
    "inline_data",
    "fileData",
    "file_data",
    "functionCall",
    "function_call",
    "functionResponse",
    "function_response",
    "executableCode",
    "executable_code",
    "codeExecutionResult",
    "code_execution_result",
    "thought",
    "thoughtSignature",
    "thought_signature",
];

struct PartVisitor;

impl<'de> Visitor<'de> for PartVisitor {
    type Value = Part;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a part")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Part, A::Error> {
        let (mut part, mut extra) = (Part::default(), Extra::default());
        while let Some(key) = map.next_key_seed(KeyOf(MEMBERS))? {
            match key {
                Key::Known("thought") => part.thought = value(&mut map)?.unwrap_or_default(),
                Key::Known("thoughtSignature" | "thought_signature") => {
                    part.thought_signature = value(&mut map)?.unwrap_or_default();
                }
                Key::Known(name) => take(&mut part, data(name, &mut map)?)?,
                Key::Unknown(name) => extra.keep(name, &mut map)?,
            }
        }
        part.extra = extra.into_text();
        Ok(part)
    }
}

fn value<'de, A: MapAccess<'de>, T: Deserialize<'de>>(map: &mut A) -> Result<Option<T>, A::Error> {
    map.next_value()
}

fn data<'de, A: MapAccess<'de>>(name: &str, map: &mut A) -> Result<Option<Data>, A::Error> {
    Ok(match name {
        "text" => value(map)?.map(Data::Text),
        "inlineData" | "inline_data" => value(map)?.map(Data::InlineData),
        "fileData" | "file_data" => value(map)?.map(Data::FileData),
        "functionCall" | "function_call" => value(map)?.map(Data::FunctionCall),
        "functionResponse" | "function_response" => value(map)?.map(Data::FunctionResponse),
        "executableCode" | "executable_code" => value(map)?.map(Data::ExecutableCode),
        _ => value(map)?.map(Data::CodeExecutionResult),
    })
}

fn take<E: serde::de::Error>(part: &mut Part, data: Option<Data>) -> Result<(), E> {
    match (&part.data, data) {
        (_, None) => Ok(()),
        (Some(_), Some(_)) => Err(E::custom("a part holds one thing: text, a call, an answer or another")),
        (None, data) => {
            part.data = data;
            Ok(())
        }
    }
}
