//! Ids and times differ from run to run. Here they become names, in the order in which they appear, so that what two
//! bindings say can be compared and recorded.

use std::collections::BTreeMap;

use serde_json::Value;

/// Names what was seen, the same name for the same thing.
#[derive(Debug, Default)]
pub struct Names(BTreeMap<String, String>);

impl Names {
    /// The value with every id and time replaced.
    pub fn of(&mut self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => items.iter().map(|item| self.of(item)).collect(),
            Value::Object(members) => {
                members.iter().map(|(name, value)| (name.clone(), self.member(name, value))).collect()
            }
            other => other.clone(),
        }
    }

    fn member(&mut self, name: &str, value: &Value) -> Value {
        match (name, value) {
            ("timestamp", Value::String(time)) => {
                assert!(time.len() <= 24 && time.ends_with('Z'), "{time} is not in milliseconds of UTC");
                Value::from("TIME")
            }
            ("nextPageToken", Value::String(token)) if !token.is_empty() => Value::from("TOKEN"),
            _ => self.of(value),
        }
    }

    /// A UUID may have more behind it, as the ids of pieces have. Behind a `~` stands what only this run says.
    fn text(&mut self, text: &str) -> String {
        let text = text.split('~').next().unwrap_or_default();
        let is_id = |part: &str| part.len() == 36 && part.bytes().filter(|b| *b == b'-').count() == 4;
        match text.get(..36).filter(|part| is_id(part)) {
            Some(id) => {
                let next = format!("ID{}", self.0.len() + 1);
                let name = self.0.entry(id.to_owned()).or_insert(next);
                format!("{name}{}", &text[36..])
            }
            None => text.to_owned(),
        }
    }
}
