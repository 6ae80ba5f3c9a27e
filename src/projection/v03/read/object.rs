//! A JSON object that is read member by member, and what members hold. Knows no message; the reader uses it.

use serde_json::{Map, Value};

use super::Read;
use crate::proto::json::{self, BadJson};
use crate::proto::wkt::Struct;

/// What has not been read yet. In the end that is what 0.3 does not know, and nobody looks at it.
pub struct Object(Map<String, Value>);

impl Object {
    pub fn of(value: Value) -> Read<Self> {
        match value {
            Value::Object(members) => Ok(Self(members)),
            _ => Err(BadJson::whole("must be an object")),
        }
    }

    /// The params of a method. Without a name of their own they would pass for an unreadable request.
    pub fn params(value: Value) -> Read<Self> {
        Self::of(value).map_err(|bad| bad.below("params"))
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|value| !value.is_null())
    }

    /// The member, unless it is absent or null. Snake case is read too, as in 1.0.
    pub fn take<T>(&mut self, name: &str, read: impl FnOnce(Value) -> Read<T>) -> Read<Option<T>> {
        let spelled = [name.to_owned(), snake(name)].into_iter().find(|name| self.has(name));
        let Some(spelled) = spelled else { return Ok(None) };
        let value = self.0.remove(&spelled).unwrap_or_default();
        read(value).map(Some).map_err(|bad| bad.below(&spelled))
    }

    /// The member under the first of its names that is there.
    pub fn any<T>(&mut self, names: &[&str], read: fn(Value) -> Read<T>) -> Read<Option<T>> {
        let taken = names.iter().map(|name| self.take(name, read)).find_map(Result::transpose);
        taken.transpose()
    }

    pub fn need<T>(&mut self, name: &str, read: impl FnOnce(Value) -> Read<T>) -> Read<T> {
        self.take(name, read)?.ok_or_else(|| BadJson::whole("is required").below(name))
    }

    /// Fills a text that is still empty.
    pub fn fill(&mut self, name: &str, into: &mut String) -> Read<()> {
        let found = self.take(name, text)?.unwrap_or_default();
        if into.is_empty() {
            *into = found;
        }
        Ok(())
    }
}

/// `message_id` for `messageId`.
fn snake(camel: &str) -> String {
    let step =
        |c: char| if c.is_ascii_uppercase() { format!("_{}", c.to_ascii_lowercase()) } else { c.into() };
    camel.chars().map(step).collect()
}

pub fn text(value: Value) -> Read<String> {
    json::typed(value)
}

pub fn filled(value: Value) -> Read<String> {
    let text = text(value)?;
    if text.is_empty() { Err(BadJson::whole("must not be empty")) } else { Ok(text) }
}

pub fn texts(value: Value) -> Read<Vec<String>> {
    json::typed(value)
}

pub fn flag(value: Value) -> Read<bool> {
    json::typed(value)
}

pub fn metadata(value: Value) -> Read<Struct> {
    json::typed(value)
}
