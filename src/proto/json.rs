//! ProtoJSON. The generated impls do the work; where they are stricter than the standard, a message goes the
//! slow way through its descriptor, which also finds the name of the field that is wrong.

use std::fmt;

use prost_reflect::{DeserializeOptions, DynamicMessage, Kind, MessageDescriptor, SerializeOptions};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::schema::Schema;

/// What cannot be read, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}{}{problem}", if field.is_empty() { "" } else { ": " })]
pub struct BadJson {
    /// The path of the field, or nothing when it is the document itself.
    pub field: String,
    pub problem: String,
}

/// What cannot be printed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} cannot be written as JSON: {problem}")]
pub struct Unprintable {
    pub message: String,
    pub problem: String,
}

/// Appends the message to `out`, which is left as it was if the message cannot be printed.
pub fn encode<T: Schema>(message: &T, out: &mut Vec<u8>) -> Result<(), Unprintable> {
    let start = out.len();
    if serde_json::to_writer(&mut *out, message).is_ok() {
        return Ok(());
    }
    out.truncate(start);
    // Most likely an enum number that is newer than this build: the descriptor's way prints it as it is.
    encode_by_descriptor(message, out).map_err(|problem| {
        out.truncate(start);
        Unprintable { message: T::full_name(), problem }
    })
}

fn encode_by_descriptor<T: Schema>(message: &T, out: &mut Vec<u8>) -> Result<(), String> {
    let mut dynamic = DynamicMessage::new(T::descriptor().ok_or("its type is not in the pool")?);
    dynamic.transcode_from(message).map_err(|e| e.to_string())?;
    let options = SerializeOptions::new().use_proto_field_name(T::SNAKE);
    let mut writer = serde_json::Serializer::new(out);
    dynamic.serialize_with_options(&mut writer, &options).map_err(|e| e.to_string())
}

/// Reads a message. Unknown members are ignored, as A2A asks; everything else must be right.
pub fn decode<T: Schema>(text: &[u8]) -> Result<T, BadJson> {
    match serde_json::from_slice(text) {
        Ok(message) => Ok(message),
        Err(_) => decode_tree(parse(text)?),
    }
}

/// Reads a message from parsed JSON.
pub fn decode_tree<T: Schema>(mut tree: Value) -> Result<T, BadJson> {
    let whole = |problem: String| BadJson { field: String::new(), problem };
    let descriptor =
        T::descriptor().ok_or_else(|| whole(format!("{} is not in the pool", T::full_name())))?;
    prune(&mut tree, &descriptor);
    let mut track = serde_path_to_error::Track::new();
    let read = Strict(descriptor).deserialize(serde_path_to_error::Deserializer::new(tree, &mut track));
    let dynamic = read.map_err(|e| BadJson { field: path(&track.path()), problem: plain(&e) })?;
    dynamic.transcode_to().map_err(|e| whole(e.to_string()))
}

/// Parses JSON and refuses what a plain parser lets through: a key that stands twice.
pub fn parse(text: &[u8]) -> Result<Value, BadJson> {
    let mut track = serde_path_to_error::Track::new();
    let mut reader = serde_json::Deserializer::from_slice(text);
    let tree = Tree.deserialize(serde_path_to_error::Deserializer::new(&mut reader, &mut track));
    let tree = tree.map_err(|e| BadJson { field: path(&track.path()), problem: e.to_string() })?;
    reader.end().map_err(|e| BadJson { field: String::new(), problem: e.to_string() })?;
    Ok(tree)
}

/// serde_path_to_error prints `.` for the document itself.
fn path(path: &serde_path_to_error::Path) -> String {
    if path.iter().next().is_none() { String::new() } else { path.to_string() }
}

/// A tree has no positions, and serde_json says "at line 0 column 0" for that.
fn plain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.strip_suffix(" at line 0 column 0").map(str::to_owned).unwrap_or(text)
}

/// prost-reflect has one switch for unknown members and unknown enum names. We want the second refused and the
/// first ignored, so the first are taken out beforehand.
fn prune(tree: &mut Value, message: &MessageDescriptor) {
    let Value::Object(members) = tree else { return };
    if message.full_name().starts_with("google.protobuf.") {
        return;
    }
    let field = |name: &str| message.get_field_by_json_name(name).or_else(|| message.get_field_by_name(name));
    members.retain(|name, _| field(name).is_some());
    for (name, value) in members {
        let Some(field) = field(name) else { continue };
        let Kind::Message(inner) = field.kind() else { continue };
        match value {
            Value::Array(items) if field.is_list() => items.iter_mut().for_each(|item| prune(item, &inner)),
            Value::Object(entries) if field.is_map() => prune_entries(entries, &inner),
            other => prune(other, &inner),
        }
    }
}

fn prune_entries(entries: &mut Map<String, Value>, entry: &MessageDescriptor) {
    if let Kind::Message(inner) = entry.map_entry_value_field().kind() {
        entries.values_mut().for_each(|value| prune(value, &inner));
    }
}

/// Reads a message and refuses unknown enum names.
struct Strict(MessageDescriptor);

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = DynamicMessage;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<DynamicMessage, D::Error> {
        let options = DeserializeOptions::new().deny_unknown_fields(true);
        DynamicMessage::deserialize_with_options(self.0, deserializer, &options)
    }
}

/// Builds a tree and refuses keys that stand twice.
struct Tree;

impl<'de> DeserializeSeed<'de> for Tree {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Tree {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(flag.into())
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(Tree)? {
            items.push(item);
        }
        Ok(items.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            if members.contains_key(&key) {
                return Err(serde::de::Error::custom(format_args!("the key {key:?} stands twice")));
            }
            members.insert(key, map.next_value_seed(Tree)?);
        }
        Ok(members.into())
    }
}
