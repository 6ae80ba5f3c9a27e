//! JSON in a script: written as YAML, whose members keep their order and are filled in, or as a text, which is taken as it
//! stands, down to the digits of a number. Pure.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Number, Value};

/// An object.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Object {
    Members(Vec<(String, Node)>),
    Text(String),
}

/// Any value, with its members in the order in which they were written.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Node>),
    Members(Vec<(String, Node)>),
}

impl Object {
    pub(super) fn to_json(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            // Maps with names as keys cannot fail.
            Self::Members(members) => serde_json::to_string(&Members(members)).unwrap_or_default(),
        }
    }

    /// With every text changed. What was given as it stands stays so.
    pub(super) fn map(&self, change: &impl Fn(&str) -> String) -> Self {
        match self {
            Self::Members(members) => Self::Members(changed(members, change)),
            Self::Text(text) => Self::Text(text.clone()),
        }
    }
}

impl Default for Object {
    fn default() -> Self {
        Self::Members(Vec::new())
    }
}

impl From<Map<String, Value>> for Object {
    fn from(members: Map<String, Value>) -> Self {
        Self::Members(members.into_iter().map(|(name, value)| (name, value.into())).collect())
    }
}

impl From<Value> for Node {
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(value),
            Value::Number(number) => Self::Number(number),
            Value::String(text) => Self::Text(text),
            Value::Array(items) => Self::List(items.into_iter().map(Self::from).collect()),
            Value::Object(members) => {
                Self::Members(members.into_iter().map(|(name, value)| (name, value.into())).collect())
            }
        }
    }
}

impl Node {
    fn map(&self, change: &impl Fn(&str) -> String) -> Self {
        match self {
            Self::Text(text) => Self::Text(change(text)),
            Self::List(items) => Self::List(items.iter().map(|item| item.map(change)).collect()),
            Self::Members(members) => Self::Members(changed(members, change)),
            other => other.clone(),
        }
    }
}

fn changed(members: &[(String, Node)], change: &impl Fn(&str) -> String) -> Vec<(String, Node)> {
    members.iter().map(|(name, value)| (name.clone(), value.map(change))).collect()
}

struct Members<'a>(&'a [(String, Node)]);

impl Serialize for Members<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(number) => number.serialize(serializer),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(items) => serializer.collect_seq(items),
            Self::Members(members) => Members(members).serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Node::deserialize(deserializer)? {
            Node::Members(members) => Ok(Self::Members(members)),
            Node::Text(text) if is_object(&text) => Ok(Self::Text(text)),
            _ => Err(D::Error::custom("a map is wanted here, or the text of a JSON object")),
        }
    }
}

fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{') && serde_json::from_str::<&RawValue>(text).is_ok()
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value as JSON has it")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_none<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        Node::deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Bool(value))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Node, E> {
        Ok(Node::Number(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Node, E> {
        Ok(Node::Number(number.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<Node, E> {
        let number = Number::from_f64(number).ok_or_else(|| E::custom("JSON has no such number"))?;
        Ok(Node::Number(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Node, E> {
        Ok(Node::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Node, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Node::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Node::Members(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_keep_their_order_and_a_text_its_digits() {
        for (yaml, json) in [
            (
                "{b: 1, a: [x, 2.5, true, null, {d: {}, c: -3}]}",
                r#"{"b":1,"a":["x",2.5,true,null,{"d":{},"c":-3}]}"#,
            ),
            (
                r#"'{"n": 1.10, "big": 12345678901234567890123}'"#,
                r#"{"n": 1.10, "big": 12345678901234567890123}"#,
            ),
            ("{}", "{}"),
            (r#"{"a":"1","b":18446744073709551615}"#, r#"{"a":"1","b":18446744073709551615}"#),
        ] {
            assert_eq!(serde_saphyr::from_str::<Object>(yaml).unwrap().to_json(), json);
        }
        for yaml in ["[1]", "5", "'[1]'", "'{'", "'{} {}'", "text"] {
            assert!(serde_saphyr::from_str::<Object>(yaml).is_err(), "{yaml}");
        }
    }
}
