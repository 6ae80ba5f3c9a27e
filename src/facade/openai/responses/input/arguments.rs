//! Arguments of calls, as the object that the model takes.

use serde_json::{Map, Value, json};

use crate::facade::Report;
use crate::proto::vendor;

/// A call is never dropped, whatever stands in its arguments.
pub(super) fn object(text: &str, at: &str, report: &mut Report) -> String {
    if text.trim().is_empty() {
        return "{}".to_owned();
    }
    match serde_json::from_str::<Value>(text) {
        // As it stands, so that numbers keep their digits.
        Ok(Value::Object(_)) => text.to_owned(),
        Ok(value) => {
            report.altered(at, "the model takes an object: it stands in `value` of one");
            json!({ "value": value }).to_string()
        }
        Err(_) => {
            report.altered(at, "it is no JSON: its text stands in `_raw` of an object");
            json!({ "_raw": text }).to_string()
        }
    }
}

/// The members of an action but for its type, of which there is one.
pub(super) fn without_type(action: &str) -> String {
    let mut action: Map<String, Value> = vendor::kept(action).unwrap_or_default();
    action.remove("type");
    Value::Object(action).to_string()
}
