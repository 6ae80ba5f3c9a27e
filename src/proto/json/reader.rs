//! Reads parsed JSON by the descriptor of a message: slower than the generated impls, but it takes all that
//! ProtoJSON allows and can say which field is wrong. Knows no concrete type but those with JSON of their own; only
//! `json::decode_tree` calls it. Readers of other dialects use its plain values.

use std::collections::{HashMap, HashSet};

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use bytes::Bytes;
use prost::Message;
use prost_reflect::{DynamicMessage, EnumDescriptor, FieldDescriptor, Kind, MapKey, MessageDescriptor};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::BadJson;
use crate::proto::{gemini, wkt};

type Read<T> = Result<T, BadJson>;

/// How many messages within each other prost reads back.
const MAX_DEPTH: u32 = 100;

pub fn read(tree: Value, kind: &MessageDescriptor) -> Read<DynamicMessage> {
    message(tree, kind, MAX_DEPTH)
}

fn message(tree: Value, kind: &MessageDescriptor, left: u32) -> Read<DynamicMessage> {
    let left = left.checked_sub(1).ok_or_else(|| bad("is nested too deep"))?;
    match kind.package_name() {
        "google.protobuf" => return well_known(tree, kind, left),
        "agena.gemini.v1" => return hub(tree, kind),
        _ => {}
    }
    let Value::Object(members) = tree else { return Err(bad("must be an object")) };
    let mut message = DynamicMessage::new(kind.clone());
    let mut taken = HashSet::new();
    for (name, value) in members {
        let field = kind.get_field_by_json_name(&name).or_else(|| kind.get_field_by_name(&name));
        // Unknown members are ignored, and `null` means "not set" for all but a free value.
        let Some(field) = field.filter(|field| !value.is_null() || is_free_value(field)) else { continue };
        if !taken.insert(slot(&field)) {
            return Err(bad("is set twice, or beside another member of its oneof").below(&name));
        }
        let value = member(value, &field, left).map_err(|e| e.below(&name))?;
        message.set_field(&field, value);
    }
    Ok(message)
}

fn is_free_value(field: &FieldDescriptor) -> bool {
    let free =
        field.kind().as_message().is_some_and(|message| message.full_name() == "google.protobuf.Value");
    free && !field.is_list() && !field.is_map()
}

/// What only one member may fill. A oneof has no name in common with a field beside it.
fn slot(field: &FieldDescriptor) -> String {
    field.containing_oneof().map_or_else(|| field.name().to_owned(), |oneof| oneof.name().to_owned())
}

fn member(tree: Value, field: &FieldDescriptor, left: u32) -> Read<prost_reflect::Value> {
    match tree {
        Value::Object(entries) if field.is_map() => map(entries, &field.kind(), left),
        _ if field.is_map() => Err(bad("must be an object")),
        Value::Array(items) if field.is_list() => list(items, &field.kind(), left),
        _ if field.is_list() => Err(bad("must be an array")),
        other => single(other, &field.kind(), left),
    }
}

fn list(items: Vec<Value>, kind: &Kind, left: u32) -> Read<prost_reflect::Value> {
    let read = |(index, item)| single(item, kind, left).map_err(|e| e.below(&format!("[{index}]")));
    items.into_iter().enumerate().map(read).collect::<Read<_>>().map(prost_reflect::Value::List)
}

fn map(members: Map<String, Value>, kind: &Kind, left: u32) -> Read<prost_reflect::Value> {
    let entry = kind.as_message().ok_or_else(|| bad("has a map without entries"))?;
    let (keys, values) = (entry.map_entry_key_field().kind(), entry.map_entry_value_field().kind());
    // An entry is a message of its own.
    let left = left.saturating_sub(1);
    let mut entries = HashMap::new();
    for (name, value) in members {
        let key = key(&name, &keys).map_err(|e| e.below(&name))?;
        let value = single(value, &values, left).map_err(|e| e.below(&name))?;
        if entries.insert(key, value).is_some() {
            return Err(bad("is the same key as another").below(&name));
        }
    }
    Ok(prost_reflect::Value::Map(entries))
}

fn key(name: &str, kind: &Kind) -> Read<MapKey> {
    let text = Value::from(name);
    Ok(match kind {
        Kind::Bool => MapKey::Bool(name.parse().map_err(|_| bad("must be \"true\" or \"false\""))?),
        Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => MapKey::I32(integer(&text)?),
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => MapKey::I64(integer(&text)?),
        Kind::Uint32 | Kind::Fixed32 => MapKey::U32(integer(&text)?),
        Kind::Uint64 | Kind::Fixed64 => MapKey::U64(integer(&text)?),
        _ => MapKey::String(name.to_owned()),
    })
}

fn single(tree: Value, kind: &Kind, left: u32) -> Read<prost_reflect::Value> {
    use prost_reflect::Value as Field;
    Ok(match kind {
        Kind::Bool => Field::Bool(typed(tree)?),
        Kind::String => Field::String(typed(tree)?),
        Kind::Bytes => Field::Bytes(bytes(&tree)?),
        Kind::Double => Field::F64(double(&tree)?),
        Kind::Float => Field::F32(float(&tree)?),
        Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => Field::I32(integer(&tree)?),
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => Field::I64(integer(&tree)?),
        Kind::Uint32 | Kind::Fixed32 => Field::U32(integer(&tree)?),
        Kind::Uint64 | Kind::Fixed64 => Field::U64(integer(&tree)?),
        Kind::Enum(names) => Field::EnumNumber(enumerated(&tree, names)?),
        Kind::Message(inner) => Field::Message(message(tree, inner, left)?),
    })
}

fn well_known(tree: Value, kind: &MessageDescriptor, left: u32) -> Read<DynamicMessage> {
    match kind.name() {
        "Any" => dynamic::<wkt::Any>(&typed(tree)?, kind),
        "Duration" => dynamic::<wkt::Duration>(&typed(tree)?, kind),
        "Empty" => dynamic::<wkt::Empty>(&typed(tree)?, kind),
        "FieldMask" => dynamic::<wkt::FieldMask>(&typed(tree)?, kind),
        "ListValue" => dynamic::<wkt::ListValue>(&typed(tree)?, kind),
        "Struct" => dynamic::<wkt::Struct>(&typed(tree)?, kind),
        "Timestamp" => dynamic::<wkt::Timestamp>(&typed(tree)?, kind),
        "Value" => dynamic::<wkt::Value>(&typed(tree)?, kind),
        _ => boxed(tree, kind, left),
    }
}

/// The hub's own JSON, of the messages that others hold.
fn hub(tree: Value, kind: &MessageDescriptor) -> Read<DynamicMessage> {
    match kind.name() {
        "Content" => dynamic::<gemini::Content>(&typed(tree)?, kind),
        "Part" => dynamic::<gemini::Part>(&typed(tree)?, kind),
        _ => Err(bad("is not read here")),
    }
}

fn dynamic<T: Message>(read: &T, kind: &MessageDescriptor) -> Read<DynamicMessage> {
    DynamicMessage::decode(kind.clone(), read.encode_to_vec().as_slice()).map_err(|e| bad(&e.to_string()))
}

/// StringValue and the like, which JSON shows as their content.
fn boxed(tree: Value, kind: &MessageDescriptor, left: u32) -> Read<DynamicMessage> {
    let field = kind.get_field_by_name("value").ok_or_else(|| bad("has no JSON"))?;
    let mut message = DynamicMessage::new(kind.clone());
    message.set_field(&field, single(tree, &field.kind(), left)?);
    Ok(message)
}

pub fn typed<T: DeserializeOwned>(tree: Value) -> Read<T> {
    serde_path_to_error::deserialize(tree)
        .map_err(|e| BadJson { field: super::path(e.path()), problem: e.into_inner().to_string() })
}

pub fn integer<T: TryFrom<i128>>(tree: &Value) -> Read<T> {
    let whole = match tree {
        Value::Number(number) => whole(&number.to_string()),
        Value::String(text) => whole(text),
        _ => None,
    };
    let fits = whole.and_then(|number| T::try_from(number).ok());
    fits.ok_or_else(|| bad(&format!("must be a whole number that fits, not {tree}")))
}

/// `5`, and also `5.0` and `5e0`.
fn whole(text: &str) -> Option<i128> {
    // A tree holds what is less than the least int64 as a double, and the nearest one is that int64.
    const BELOW: f64 = -9_223_372_036_854_775_808.0;
    let whole = |number: &f64| number.fract() == 0.0 && *number > BELOW;
    #[allow(clippy::cast_possible_truncation, reason = "what does not fit here fits no field either")]
    let from_double = || text.parse().ok().filter(whole).map(|number| number as i128);
    text.parse().ok().or_else(from_double)
}

/// Both alphabets of base64, with padding or without.
pub fn bytes(tree: &Value) -> Read<Bytes> {
    const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    let text = tree.as_str().ok_or_else(|| bad("must be a string of base64"))?;
    let read = GeneralPurpose::new(&STANDARD, LENIENT).decode(text.replace('-', "+").replace('_', "/"));
    read.map(Bytes::from).map_err(|e| bad(&format!("must be base64: {e}")))
}

fn double(tree: &Value) -> Read<f64> {
    let number = match tree {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    };
    number.ok_or_else(|| bad(&format!("must be a number, not {tree}")))
}

fn float(tree: &Value) -> Read<f32> {
    let number = double(tree)?;
    #[allow(clippy::cast_possible_truncation, reason = "a float is less exact; whether it fits is checked")]
    let float = number as f32;
    (float.is_finite() || !number.is_finite())
        .then_some(float)
        .ok_or_else(|| bad(&format!("must be a number that fits, not {tree}")))
}

/// By name, or by a number that may be newer than this build.
fn enumerated(tree: &Value, names: &EnumDescriptor) -> Read<i32> {
    match tree {
        Value::String(name) => names
            .get_value_by_name(name)
            .map(|value| value.number())
            .ok_or_else(|| bad(&format!("{name:?} is not a value of {}", names.full_name()))),
        other => integer(other),
    }
}

fn bad(problem: &str) -> BadJson {
    BadJson { field: String::new(), problem: problem.to_owned() }
}
