//! Unknown members: collected while a message is read, and printed behind its own. serde's `flatten` would do the same
//! but for the text of numbers, which it loses.

use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IntoDeserializer, MapAccess, Visitor};
use serde::ser::{Error as _, SerializeMap};
use serde::{Deserialize, Serializer, forward_to_deserialize_any};
use serde_json::value::RawValue;

use super::raw::Raw;

/// Puts the keeping of `extra` around the derived impls of messages (`remote = "Self"` in `build/vendor.rs`).
macro_rules! keep_extra {
    ($($message:ty),+ $(,)?) => {$(
        impl serde::Serialize for $message {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if self.extra.is_empty() {
                    return Self::serialize(self, serializer);
                }
                $crate::proto::vendor::with_extra(
                    |out| Self::serialize(self, &mut serde_json::Serializer::new(out)),
                    &self.extra,
                    serializer,
                )
            }
        }

        impl<'de> serde::Deserialize<'de> for $message {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let mut extra = $crate::proto::vendor::Extra::default();
                let mut message = Self::deserialize($crate::proto::vendor::Keep::new(deserializer, &mut extra))?;
                message.extra = extra.into_text();
                Ok(message)
            }
        }
    )+};
}
pub(crate) use keep_extra;

/// Prints an object with the members of `extra` behind its own. Only what has any pays for the second reading.
pub(crate) fn with_extra<S: Serializer>(
    own: impl FnOnce(&mut Vec<u8>) -> serde_json::Result<()>,
    extra: &str,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut printed = Vec::new();
    own(&mut printed).map_err(S::Error::custom)?;
    let own: Members = serde_json::from_slice(&printed).map_err(S::Error::custom)?;
    let extra: Members = serde_json::from_str(extra)
        .map_err(|e| S::Error::custom(format_args!("extra is not a JSON object: {e}")))?;
    let taken: HashSet<&str> = own.0.iter().map(|(name, _)| name.as_str()).collect();
    let mut map = serializer.serialize_map(None)?;
    // What is known here is not said twice in two ways.
    let further = extra.0.iter().filter(|(name, _)| !taken.contains(name.as_str()));
    for (name, value) in own.0.iter().chain(further) {
        map.serialize_entry(name, &Raw(value.get()))?;
    }
    map.end()
}

/// The members of an object in their order, each as its text.
pub struct Members(pub Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Members(members))
    }
}

/// The unknown members of one object, as the text of an object.
#[derive(Debug, Default)]
pub struct Extra {
    text: String,
    names: HashSet<String>,
}

impl Extra {
    /// Takes the value that stands behind `name`.
    pub fn keep<'de, A: MapAccess<'de>>(&mut self, name: String, map: &mut A) -> Result<(), A::Error> {
        let value: Box<RawValue> = map.next_value()?;
        if self.names.contains(&name) {
            return Err(A::Error::custom(format_args!("{name:?} stands twice")));
        }
        self.text.push(if self.names.is_empty() { '{' } else { ',' });
        self.text += &serde_json::to_string(&name).map_err(A::Error::custom)?;
        self.text.push(':');
        self.text += value.get();
        self.names.insert(name);
        Ok(())
    }

    /// Empty if nothing was kept.
    pub fn into_text(mut self) -> String {
        if !self.text.is_empty() {
            self.text.push('}');
        }
        self.text
    }
}

/// The name of a member.
pub(crate) enum Key {
    Known(&'static str),
    Unknown(String),
}

/// Reads a name and looks it up, so that known ones cost no allocation.
pub(crate) struct KeyOf(pub(crate) &'static [&'static str]);

impl<'de> DeserializeSeed<'de> for KeyOf {
    type Value = Key;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Key, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for KeyOf {
    type Value = Key;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a member")
    }

    fn visit_str<E>(self, name: &str) -> Result<Key, E> {
        let known = self.0.iter().find(|known| **known == name);
        Ok(known.map_or_else(|| Key::Unknown(name.to_owned()), |known| Key::Known(known)))
    }
}

/// A reader of a struct that is shown only the members it knows; the others are kept.
pub(crate) struct Keep<'a, D> {
    inner: D,
    extra: &'a mut Extra,
}

impl<'a, D> Keep<'a, D> {
    pub(crate) fn new(inner: D, extra: &'a mut Extra) -> Self {
        Self { inner, extra }
    }
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Keep<'_, D> {
    type Error = D::Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.inner.deserialize_map(KeepVisitor { visitor, fields, extra: self.extra })
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.inner.deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

struct KeepVisitor<'a, V> {
    visitor: V,
    fields: &'static [&'static str],
    extra: &'a mut Extra,
}

impl<'de, V: Visitor<'de>> Visitor<'de> for KeepVisitor<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.visitor.expecting(f)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_map(KeepMap { map, fields: self.fields, extra: self.extra })
    }
}

struct KeepMap<'a, A> {
    map: A,
    fields: &'static [&'static str],
    extra: &'a mut Extra,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for KeepMap<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        loop {
            match self.map.next_key_seed(KeyOf(self.fields))? {
                None => return Ok(None),
                Some(Key::Known(name)) => return seed.deserialize(name.into_deserializer()).map(Some),
                Some(Key::Unknown(name)) => self.extra.keep(name, &mut self.map)?,
            }
        }
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}
