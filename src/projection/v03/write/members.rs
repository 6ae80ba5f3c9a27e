//! A JSON object in the making, member after member. Knows which members are left out, not what they mean; the
//! views call it.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::{Show, V03};

pub struct Members<M>(M);

impl<M: SerializeMap> Members<M> {
    pub fn begin<S>(to: S) -> Result<Self, S::Error>
    where
        S: Serializer<SerializeMap = M, Ok = M::Ok, Error = M::Error>,
    {
        to.serialize_map(None).map(Self)
    }

    /// Printed whatever it is.
    pub fn put<T: Serialize + ?Sized>(mut self, name: &'static str, value: &T) -> Result<Self, M::Error> {
        self.0.serialize_entry(name, value)?;
        Ok(self)
    }

    pub fn some<T: Serialize>(self, name: &'static str, value: Option<T>) -> Result<Self, M::Error> {
        match value {
            Some(value) => self.put(name, &value),
            None => Ok(self),
        }
    }

    pub fn text(self, name: &'static str, text: &str) -> Result<Self, M::Error> {
        self.some(name, Some(text).filter(|text| !text.is_empty()))
    }

    pub fn texts(self, name: &'static str, texts: &[String]) -> Result<Self, M::Error> {
        self.some(name, Some(texts).filter(|texts| !texts.is_empty()))
    }

    pub fn flag(self, name: &'static str, flag: bool) -> Result<Self, M::Error> {
        self.some(name, Some(flag).filter(|flag| *flag))
    }

    /// A list that is left out when it is empty.
    pub fn each<T: Show>(self, name: &'static str, items: &[T]) -> Result<Self, M::Error> {
        if items.is_empty() { Ok(self) } else { self.list(name, items) }
    }

    /// A list that is there even when it is empty.
    pub fn list<T: Show>(self, name: &'static str, items: &[T]) -> Result<Self, M::Error> {
        self.put(name, &List(items))
    }

    pub fn end(self) -> Result<M::Ok, M::Error> {
        self.0.end()
    }
}

struct List<'a, T>(&'a [T]);

impl<T: Show> Serialize for List<'_, T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.0.iter().map(V03))
    }
}
