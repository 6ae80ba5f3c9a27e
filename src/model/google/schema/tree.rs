//! JSON with its members in their order, which models follow. Pure.

use std::collections::HashMap;
use std::fmt;

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Number;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Tree {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Tree>),
    Object(Object),
}

/// Of members with one name the last counts, as everywhere.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Object(pub(super) Vec<(String, Tree)>);

impl Object {
    pub(super) fn get(&self, name: &str) -> Option<&Tree> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    pub(super) fn take(&mut self, name: &str) -> Option<Tree> {
        let at = self.0.iter().position(|(known, _)| known == name)?;
        Some(self.0.remove(at).1)
    }

    /// In its old place, or as the last.
    pub(super) fn set(&mut self, name: &str, value: impl Into<Tree>) {
        let value = value.into();
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name.to_owned(), value)),
        }
    }

    #[must_use]
    pub(super) fn with(mut self, name: &str, value: impl Into<Tree>) -> Self {
        self.set(name, value);
        self
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.as_text()
    }

    pub(super) fn weight(&self) -> usize {
        self.0.iter().map(|(_, value)| value.weight()).sum()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Tree {
    pub(super) fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    pub(super) fn as_text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    pub(super) fn as_list(&self) -> Option<&[Self]> {
        if let Self::List(list) = self { Some(list) } else { None }
    }

    pub(super) fn as_object(&self) -> Option<&Object> {
        if let Self::Object(object) = self { Some(object) } else { None }
    }

    pub(super) fn into_list(self) -> Vec<Self> {
        if let Self::List(list) = self { list } else { Vec::new() }
    }

    /// A schema may also be `true` or `false`, which say nothing that could be kept.
    pub(super) fn into_object(self) -> Object {
        if let Self::Object(object) = self { object } else { Object::default() }
    }

    pub(super) fn number(&self) -> Option<f64> {
        if let Self::Number(number) = self { number.as_f64() } else { None }
    }

    /// How much there is to copy.
    pub(super) fn weight(&self) -> usize {
        match self {
            Self::List(list) => 1 + list.iter().map(Self::weight).sum::<usize>(),
            Self::Object(object) => 1 + object.weight(),
            _ => 1,
        }
    }

    pub(super) fn print(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl From<&str> for Tree {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<bool> for Tree {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<Object> for Tree {
    fn from(object: Object) -> Self {
        Self::Object(object)
    }
}

impl From<Vec<Tree>> for Tree {
    fn from(list: Vec<Tree>) -> Self {
        Self::List(list)
    }
}

impl Serialize for Tree {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(number) => number.serialize(serializer),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(list) => serializer.collect_seq(list),
            Self::Object(Object(members)) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                for (name, value) in members {
                    map.serialize_entry(name, value)?;
                }
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Grower)
    }
}

struct Grower;

impl<'de> Visitor<'de> for Grower {
    type Value = Tree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Tree, E> {
        Ok(Tree::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Tree, E> {
        Ok(Tree::Number(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Tree, E> {
        Ok(Tree::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Tree, E> {
        Ok(Number::from_f64(value).map_or(Tree::Null, Tree::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Tree, E> {
        Ok(Tree::from(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Tree, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Tree::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Tree, A::Error> {
        let mut object = Object::default();
        let mut known: HashMap<String, usize> = HashMap::new();
        while let Some((name, value)) = members.next_entry::<String, Tree>()? {
            match known.get(&name).and_then(|at| object.0.get_mut(*at)) {
                Some((_, old)) => *old = value,
                None => {
                    known.insert(name.clone(), object.0.len());
                    object.0.push((name, value));
                }
            }
        }
        Ok(Tree::Object(object))
    }
}
