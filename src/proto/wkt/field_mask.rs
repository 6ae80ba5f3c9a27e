//! google.protobuf.FieldMask: one string of paths in lowerCamelCase.

use std::fmt;

use serde::de::{self, Deserializer, Visitor};
use serde::ser::{self, Serializer};
use serde::{Deserialize, Serialize};

#[derive(Clone, PartialEq, Eq, Hash, prost::Message)]
pub struct FieldMask {
    #[prost(string, repeated, tag = "1")]
    pub paths: Vec<String>,
}

impl Serialize for FieldMask {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let paths: Option<Vec<String>> = self.paths.iter().map(|path| to_camel(path)).collect();
        let paths = paths.ok_or_else(|| ser::Error::custom("a field mask path is not in snake_case"))?;
        serializer.serialize_str(&paths.join(","))
    }
}

impl<'de> Deserialize<'de> for FieldMask {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(FieldMaskVisitor)
    }
}

struct FieldMaskVisitor;

impl Visitor<'_> for FieldMaskVisitor {
    type Value = FieldMask;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("field paths in lowerCamelCase, separated by commas")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<FieldMask, E> {
        if text.is_empty() {
            return Ok(FieldMask::default());
        }
        let paths: Option<Vec<String>> = text.split(',').map(to_snake).collect();
        paths
            .map(|paths| FieldMask { paths })
            .ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
    }
}

/// None where the way back would give another path.
fn to_camel(path: &str) -> Option<String> {
    let mut camel = String::with_capacity(path.len());
    let mut chars = path.chars();
    while let Some(c) = chars.next() {
        match c {
            '_' => camel.push(chars.next().filter(char::is_ascii_lowercase)?.to_ascii_uppercase()),
            'A'..='Z' => return None,
            _ => camel.push(c),
        }
    }
    Some(camel)
}

fn to_snake(path: &str) -> Option<String> {
    let mut snake = String::with_capacity(path.len() + 4);
    for c in path.chars() {
        match c {
            '_' => return None,
            'A'..='Z' => {
                snake.push('_');
                snake.push(c.to_ascii_lowercase());
            }
            _ => snake.push(c),
        }
    }
    Some(snake)
}
