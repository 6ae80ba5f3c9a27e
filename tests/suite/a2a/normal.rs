//! Ids and times differ from run to run. Here they become names, in the order in which they appear, so that what two
//! bindings say can be compared and recorded.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

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

/// A request of a flow: `TASK` and `CONTEXT` become what they stand for. A message that comes again is the same
/// message, so each run has ids of its own; `Names` leaves what is behind the `~` out.
pub fn fill(request: &Value, task: &str, context: &str, run: &str) -> Value {
    let text = request.to_string().replace("\"TASK\"", &json!(task).to_string());
    let text = text.replace("\"CONTEXT\"", &json!(context).to_string());
    let mut request: Value = serde_json::from_str(&text).unwrap();
    if let Some(id) = request.pointer_mut("/message/messageId") {
        *id = json!(format!("{}~{context}{run}", id.as_str().unwrap()));
    }
    request
}

/// Compares with the record, or writes it.
pub fn compare(folder: &str, name: &str, seen: &Value) {
    let path = PathBuf::from(format!("tests/golden/{folder}/{name}.json"));
    let printed = serde_json::to_string_pretty(seen).unwrap() + "\n";
    if std::env::var_os("AGENA_GOLDEN").is_some_and(|mode| mode == "refresh") {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, printed).unwrap();
        return;
    }
    let recorded = fs::read_to_string(&path).unwrap_or_default();
    assert!(recorded == printed, "{name} is not as recorded in {}:\n{printed}", path.display());
}
