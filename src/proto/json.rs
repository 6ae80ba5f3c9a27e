//! ProtoJSON. The generated impls do the work; where they are stricter than the standard, a message goes the
//! slow way through its descriptor, which also finds the name of the field that is wrong. Knows no transport; the
//! transcoder calls it, and the generated impls use its small types.

mod reader;

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use serde_path_to_error::Segment;

use super::schema::Schema;
/// Plain values, for dialects whose objects are not ProtoJSON but whose numbers and bytes are.
pub(crate) use reader::{bytes, integer, typed};

/// What cannot be read, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}{}{problem}", if field.is_empty() { "" } else { ": " })]
pub struct BadJson {
    /// The path of the field, or nothing when it is the document itself.
    pub field: String,
    pub problem: String,
}

impl BadJson {
    /// The same, seen from the message that has it in `name`.
    #[must_use]
    pub fn below(self, name: &str) -> Self {
        let dot = if self.field.is_empty() || self.field.starts_with('[') { "" } else { "." };
        Self { field: format!("{name}{dot}{}", self.field), problem: self.problem }
    }

    /// Something about the value itself, not about a member of it.
    pub fn whole(problem: impl fmt::Display) -> Self {
        Self { field: String::new(), problem: problem.to_string() }
    }
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
    serde_json::to_writer(&mut *out, message).map_err(|e| {
        out.truncate(start);
        Unprintable { message: T::full_name(), problem: e.to_string() }
    })
}

/// An enum value as the generated impls print it: a number that is newer than this build stays a number.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Open<T> {
    Name(T),
    Number(i32),
}

/// Reads a message. Unknown members are ignored, as A2A asks; everything else must be right.
pub fn decode<T: Schema>(text: &[u8]) -> Result<T, BadJson> {
    // Checked as a whole, or what is wrong in an ignored member would pass.
    let Ok(text) = std::str::from_utf8(text) else { return Err(not_utf8(text)) };
    match serde_json::from_str(text) {
        Ok(message) => Ok(message),
        Err(_) => decode_tree(parse(text.as_bytes())?),
    }
}

/// The parser knows the field, unless it is one that it skips.
pub(super) fn not_utf8(text: &[u8]) -> BadJson {
    parse(text).err().unwrap_or_else(|| BadJson::whole("is not UTF-8"))
}

/// Reads a message from parsed JSON.
pub fn decode_tree<T: Schema>(tree: Value) -> Result<T, BadJson> {
    let kind = T::descriptor()
        .ok_or_else(|| BadJson::whole(format_args!("{} is not in the pool", T::full_name())))?;
    reader::read(tree, &kind)?.transcode_to().map_err(BadJson::whole)
}

/// Parses JSON and refuses what a plain parser lets through: a key that stands twice.
pub fn parse(text: &[u8]) -> Result<Value, BadJson> {
    let mut track = serde_path_to_error::Track::new();
    let mut reader = serde_json::Deserializer::from_slice(text);
    let tree = Tree.deserialize(serde_path_to_error::Deserializer::new(&mut reader, &mut track));
    let tree = tree.map_err(|e| BadJson { field: path(&track.path()), problem: e.to_string() })?;
    reader.end().map_err(BadJson::whole)?;
    Ok(tree)
}

/// The way to a field. serde_path_to_error prints `.` for the document itself, and `?` for a member whose name
/// it has not read; the object that was to have it is the nearest that can be named then.
pub(super) fn path(path: &serde_path_to_error::Path) -> String {
    match path.iter().next_back() {
        None => String::new(),
        Some(Segment::Unknown) => path.to_string().trim_end_matches('?').trim_end_matches('.').to_owned(),
        Some(_) => path.to_string(),
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
            let value = map.next_value_seed(Once { stands: members.contains_key(&key), seed: Tree })?;
            members.insert(key, value);
        }
        Ok(members.into())
    }
}

/// The entries of a map, as the generated impls read them: each key at most once.
#[derive(Debug)]
pub struct Entries<K, V>(pub BTreeMap<K, V>);

impl<'de, K: Deserialize<'de> + Ord, V: Deserialize<'de>> Deserialize<'de> for Entries<K, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EntriesVisitor(PhantomData))
    }
}

struct EntriesVisitor<K, V>(PhantomData<(K, V)>);

impl<'de, K: Deserialize<'de> + Ord, V: Deserialize<'de>> Visitor<'de> for EntriesVisitor<K, V> {
    type Value = Entries<K, V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = BTreeMap::new();
        while let Some(key) = map.next_key()? {
            let value =
                map.next_value_seed(Once { stands: entries.contains_key(&key), seed: PhantomData })?;
            entries.insert(key, value);
        }
        Ok(Entries(entries))
    }
}

/// Refuses the value of a key that stands there already. Refusing it as a value puts the key into the path.
struct Once<S> {
    stands: bool,
    seed: S,
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Once<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<S::Value, D::Error> {
        if self.stands {
            return Err(serde::de::Error::custom("the key stands twice"));
        }
        self.seed.deserialize(deserializer)
    }
}
