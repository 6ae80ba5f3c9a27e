//! The entries of `do:`. One with a single key is a line; one with several is what comes at once, in one chunk. A wait in it
//! comes first. A line that holds nothing may stand as a bare word.

use std::fmt;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, MapDeserializer, StringDeserializer};
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, IntoDeserializer, MapAccess, VariantAccess, Visitor,
};

use super::line::Line;

pub(super) fn lines<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Line>, D::Error> {
    let entries = Vec::<Entry>::deserialize(deserializer)?;
    Ok(entries.into_iter().flat_map(|entry| entry.0).collect())
}

/// Its waits, then the rest as one line.
#[derive(Debug)]
pub(super) struct Entry(pub(super) Vec<Line>);

impl Entry {
    fn of(lines: Vec<Line>) -> Self {
        let (mut all, mut rest): (Vec<Line>, _) =
            lines.into_iter().partition(|line| matches!(line, Line::Wait(_)));
        match rest.len() {
            0 | 1 => all.append(&mut rest),
            _ => all.push(Line::Together(rest)),
        }
        Self(all)
    }
}

impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(EntryVisitor)
    }
}

struct EntryVisitor;

impl<'de> Visitor<'de> for EntryVisitor {
    type Value = Entry;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a step such as `say: Hello`")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Entry, E> {
        let alone = MapDeserializer::new(std::iter::once((name, ())));
        Line::deserialize(MapAccessDeserializer::new(alone)).map(|line| Entry(vec![line]))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entry, A::Error> {
        let mut lines = Vec::new();
        while let Some(name) = map.next_key::<String>()? {
            lines.push(Line::deserialize(Member { name, map: &mut map })?);
        }
        if lines.is_empty() {
            return Err(A::Error::custom("a step has at least one key, such as `say`"));
        }
        Ok(Entry::of(lines))
    }
}

/// One member of the map, read as the map that has only this one would be.
struct Member<'a, A> {
    name: String,
    map: &'a mut A,
}

impl<'de, A: MapAccess<'de>> Deserializer<'de> for Member<'_, A> {
    type Error = A::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, A::Error> {
        visitor.visit_enum(self)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de, 'a, A: MapAccess<'de>> EnumAccess<'de> for Member<'a, A> {
    type Error = A::Error;
    type Variant = Held<'a, A>;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Held<'a, A>), A::Error> {
        let name: StringDeserializer<A::Error> = self.name.into_deserializer();
        seed.deserialize(name).map(|name| (name, Held(self.map)))
    }
}

struct Held<'a, A>(&'a mut A);

impl<'de, A: MapAccess<'de>> VariantAccess<'de> for Held<'_, A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        self.0.next_value()
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, A::Error> {
        self.0.next_value_seed(seed)
    }

    // No line is of these kinds.
    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, A::Error> {
        Err(A::Error::custom("a step holds one value"))
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], _: V) -> Result<V::Value, A::Error> {
        Err(A::Error::custom("a step holds one value"))
    }
}
