//! What is a text or a list.

use std::fmt;

use serde::de::{Error, SeqAccess, Visitor};
use serde::ser::SerializeSeq;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::content::Kind;
use super::embedding_input::Input;
use super::vector;
use super::{Content, ContentParts, EmbeddingInput, Floats, Texts, Vector};
use crate::proto::vendor::raw;

impl Content {
    pub fn text(text: impl Into<String>) -> Self {
        Self { kind: Some(Kind::Text(text.into())) }
    }
}

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.kind {
            None => serializer.serialize_none(),
            Some(Kind::Text(text)) => serializer.serialize_str(text),
            Some(Kind::Parts(parts)) => parts.parts.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or a list of parts")
    }

    fn visit_str<E>(self, text: &str) -> Result<Content, E> {
        Ok(Content::text(text))
    }

    fn visit_string<E>(self, text: String) -> Result<Content, E> {
        Ok(Content::text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Content, A::Error> {
        Ok(Content { kind: Some(Kind::Parts(ContentParts { parts: all(seq)? })) })
    }
}

fn all<'de, A: SeqAccess<'de>, T: Deserialize<'de>>(mut seq: A) -> Result<Vec<T>, A::Error> {
    let mut items = Vec::new();
    while let Some(item) = seq.next_element()? {
        items.push(item);
    }
    Ok(items)
}

impl Serialize for EmbeddingInput {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.input {
            None => serializer.serialize_none(),
            Some(Input::Text(text)) => serializer.serialize_str(text),
            Some(Input::Texts(texts)) => texts.texts.serialize(serializer),
            Some(Input::Tokens(tokens)) => raw::Raw(tokens).serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for EmbeddingInput {
    /// By its first item, which decides.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Box::<RawValue>::deserialize(deserializer)?;
        let text = json.get();
        let first = text.trim_start_matches(|c: char| c == '[' || c.is_ascii_whitespace());
        let nested = text.len() > 1 && text.starts_with('[');
        let input = match (nested, first.starts_with('"')) {
            (false, true) => Input::Text(serde_json::from_str(text).map_err(D::Error::custom)?),
            (true, true) => {
                Input::Texts(Texts { texts: serde_json::from_str(text).map_err(D::Error::custom)? })
            }
            (true, false) => Input::Tokens(tokens(text).map_err(D::Error::custom)?),
            (false, false) => return Err(D::Error::custom("expected a string, a list of them, or tokens")),
        };
        Ok(Self { input: Some(input) })
    }
}

fn tokens(text: &str) -> Result<String, &'static str> {
    let flat = serde_json::from_str::<Vec<u32>>(text).is_ok();
    let lists = || serde_json::from_str::<Vec<Vec<u32>>>(text).is_ok();
    if flat || lists() { Ok(text.to_owned()) } else { Err("expected strings, tokens or lists of tokens") }
}

impl Serialize for Vector {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.vector {
            None => serializer.serialize_seq(Some(0))?.end(),
            Some(vector::Vector::Floats(floats)) => floats.values.serialize(serializer),
            Some(vector::Vector::Base64(text)) => serializer.serialize_str(text),
        }
    }
}

impl<'de> Deserialize<'de> for Vector {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(VectorVisitor)
    }
}

struct VectorVisitor;

impl<'de> Visitor<'de> for VectorVisitor {
    type Value = Vector;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of numbers, or their bytes in base64")
    }

    fn visit_str<E>(self, text: &str) -> Result<Vector, E> {
        Ok(Vector { vector: Some(vector::Vector::Base64(text.to_owned())) })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Vector, A::Error> {
        Ok(Vector { vector: Some(vector::Vector::Floats(Floats { values: all(seq)? })) })
    }
}
