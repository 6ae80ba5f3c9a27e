//! Free JSON as protobuf: Struct, Value and ListValue.
//!
//! Against pbjson-types: members keep a stable order, integers print as integers, `null` stays a value, a key
//! that stands twice is refused, and nothing can nest so deep that protobuf could not read it back.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{self, Serialize, Serializer};
use serde::{Deserialize, ser::SerializeMap};

use crate::proto::schema::{Inspect, Inspector};

/// How many protobuf levels a value may take. prost reads 100 of them; the rest is for the messages around it.
pub const MAX_NESTING: u32 = 84;
/// An object is a Struct with an entry with a Value.
const OBJECT_LEVELS: u32 = 3;
/// An array is a ListValue with a Value.
const ARRAY_LEVELS: u32 = 2;
const TOO_DEEP: &str = "is nested too deep: 28 objects or 42 arrays within each other are the most";

#[derive(Clone, PartialEq, prost::Message)]
pub struct Struct {
    #[prost(btree_map = "string, message", tag = "1")]
    pub fields: BTreeMap<String, Value>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct ListValue {
    #[prost(message, repeated, tag = "1")]
    pub values: Vec<Value>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Value {
    #[prost(oneof = "Kind", tags = "1, 2, 3, 4, 5, 6")]
    pub kind: Option<Kind>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub enum Kind {
    /// The number of google.protobuf.NullValue, which has only 0.
    #[prost(int32, tag = "1")]
    Null(i32),
    #[prost(double, tag = "2")]
    Number(f64),
    #[prost(string, tag = "3")]
    String(String),
    #[prost(bool, tag = "4")]
    Bool(bool),
    #[prost(message, tag = "5")]
    Struct(Struct),
    #[prost(message, tag = "6")]
    List(ListValue),
}

impl From<Kind> for Value {
    fn from(kind: Kind) -> Self {
        Self { kind: Some(kind) }
    }
}

// === writing ===

impl Serialize for Struct {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.fields.len()))?;
        for (key, value) in &self.fields {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl Serialize for ListValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(&self.values)
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.kind {
            // A peer may send a Value with no kind; JSON has nothing nearer than null.
            None | Some(Kind::Null(_)) => serializer.serialize_unit(),
            Some(Kind::Number(number)) => serialize_number(*number, serializer),
            Some(Kind::String(text)) => serializer.serialize_str(text),
            Some(Kind::Bool(flag)) => serializer.serialize_bool(*flag),
            Some(Kind::Struct(object)) => object.serialize(serializer),
            Some(Kind::List(list)) => list.serialize(serializer),
        }
    }
}

/// Below 2^53 every whole double is an exact integer, and tools expect to get `5` back for `5`.
fn serialize_number<S: Serializer>(number: f64, serializer: S) -> Result<S::Ok, S::Error> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if !number.is_finite() {
        return Err(ser::Error::custom("NaN and infinity have no JSON"));
    }
    let whole =
        number.fract() == 0.0 && number.abs() < EXACT && !(number == 0.0 && number.is_sign_negative());
    #[allow(clippy::cast_possible_truncation, reason = "checked to be whole and exact")]
    if whole { serializer.serialize_i64(number as i64) } else { serializer.serialize_f64(number) }
}

// === reading ===

impl<'de> Deserialize<'de> for Struct {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // The Struct itself is one of an object's levels; its entries and their values are the other two.
        deserializer.deserialize_map(ObjectVisitor { left: MAX_NESTING })
    }
}

impl<'de> Deserialize<'de> for ListValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(ListVisitor { left: MAX_NESTING })
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ValueSeed { left: MAX_NESTING }.deserialize(deserializer)
    }
}

/// Reads a value that may take `left` more levels.
#[derive(Clone, Copy)]
struct ValueSeed {
    left: u32,
}

impl<'de> DeserializeSeed<'de> for ValueSeed {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueSeed {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        Ok(Kind::Null(0).into())
    }

    fn visit_bool<E: de::Error>(self, flag: bool) -> Result<Value, E> {
        Ok(Kind::Bool(flag).into())
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Value, E> {
        Ok(Kind::Number(number).into())
    }

    #[allow(clippy::cast_precision_loss, reason = "google.protobuf.Value holds doubles, here as everywhere")]
    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Value, E> {
        Ok(Kind::Number(number as f64).into())
    }

    #[allow(clippy::cast_precision_loss, reason = "google.protobuf.Value holds doubles, here as everywhere")]
    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Value, E> {
        Ok(Kind::Number(number as f64).into())
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Value, E> {
        self.visit_string(text.to_owned())
    }

    fn visit_string<E: de::Error>(self, text: String) -> Result<Value, E> {
        Ok(Kind::String(text).into())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Value, A::Error> {
        ObjectVisitor { left: self.left }.visit_map(map).map(|object| Kind::Struct(object).into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Value, A::Error> {
        ListVisitor { left: self.left }.visit_seq(seq).map(|list| Kind::List(list).into())
    }
}

struct ObjectVisitor {
    left: u32,
}

impl<'de> Visitor<'de> for ObjectVisitor {
    type Value = Struct;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Struct, A::Error> {
        let left = self.left.checked_sub(OBJECT_LEVELS).ok_or_else(|| de::Error::custom(TOO_DEEP))?;
        let mut fields = BTreeMap::new();
        while let Some(key) = map.next_key::<String>()? {
            if fields.contains_key(&key) {
                return Err(de::Error::custom(format_args!("the key {key:?} stands twice")));
            }
            fields.insert(key, map.next_value_seed(ValueSeed { left })?);
        }
        Ok(Struct { fields })
    }
}

struct ListVisitor {
    left: u32,
}

impl<'de> Visitor<'de> for ListVisitor {
    type Value = ListValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<ListValue, A::Error> {
        let left = self.left.checked_sub(ARRAY_LEVELS).ok_or_else(|| de::Error::custom(TOO_DEEP))?;
        let mut values = Vec::new();
        while let Some(value) = seq.next_element_seed(ValueSeed { left })? {
            values.push(value);
        }
        Ok(ListValue { values })
    }
}

// === checking what came over gRPC ===

impl Inspect for Value {
    fn inspect(&self, at: &mut Inspector) {
        inspect_value(self, MAX_NESTING, at);
    }
}

impl Inspect for Struct {
    fn inspect(&self, at: &mut Inspector) {
        inspect_each(self.fields.values(), MAX_NESTING.checked_sub(OBJECT_LEVELS), at);
    }
}

impl Inspect for ListValue {
    fn inspect(&self, at: &mut Inspector) {
        inspect_each(self.values.iter(), MAX_NESTING.checked_sub(ARRAY_LEVELS), at);
    }
}

fn inspect_value(value: &Value, left: u32, at: &mut Inspector) {
    match &value.kind {
        Some(Kind::Number(number)) if !number.is_finite() => {
            at.violation("NOT_FINITE", "must be a finite number: NaN and infinity have no JSON");
        }
        Some(Kind::Struct(object)) => {
            inspect_each(object.fields.values(), left.checked_sub(OBJECT_LEVELS), at)
        }
        Some(Kind::List(list)) => inspect_each(list.values.iter(), left.checked_sub(ARRAY_LEVELS), at),
        _ => {}
    }
}

fn inspect_each<'a>(values: impl Iterator<Item = &'a Value>, left: Option<u32>, at: &mut Inspector) {
    match left {
        Some(left) => values.for_each(|value| inspect_value(value, left, at)),
        None => at.violation("TOO_DEEP", TOO_DEEP),
    }
}
