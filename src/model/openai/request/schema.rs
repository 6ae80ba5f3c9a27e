//! Gemini's dialect of schemas as JSON schema: types in lower case, `nullable` as a type, numbers as numbers.

use serde_json::{Map, Value};

const TYPES: &[&str] = &["STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"];
/// Whole numbers that Google prints as text.
const COUNTS: &[&str] = &["minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"];
/// Members that hold schemas by name, a list of them, or one.
const NAMED: &[&str] = &["properties", "$defs", "defs", "definitions", "patternProperties"];
const LISTS: &[&str] = &["anyOf", "oneOf", "allOf", "prefixItems"];
const ONE: &[&str] = &["items", "not", "additionalProperties"];

/// What cannot be read stays as it is.
pub fn json_schema(gemini: &str) -> String {
    match serde_json::from_str(gemini) {
        Ok(mut schema) => {
            walk(&mut schema);
            schema.to_string()
        }
        Err(_) => gemini.to_owned(),
    }
}

fn walk(schema: &mut Value) {
    // `true` and `false` are schemas too.
    let Value::Object(members) = schema else { return };
    lower(members);
    nullable(members);
    members.remove("propertyOrdering");
    if members.get("format").is_some_and(|format| format == "enum") {
        members.remove("format");
    }
    for count in COUNTS {
        if let Some(Value::String(text)) = members.get(*count)
            && let Ok(number) = text.parse::<u64>()
        {
            members.insert((*count).to_owned(), number.into());
        }
    }
    for (name, value) in members.iter_mut() {
        match value {
            Value::Object(named) if NAMED.contains(&name.as_str()) => named.values_mut().for_each(walk),
            Value::Array(list) if LISTS.contains(&name.as_str()) => list.iter_mut().for_each(walk),
            one if ONE.contains(&name.as_str()) => walk(one),
            _ => {}
        }
    }
}

fn lower(members: &mut Map<String, Value>) {
    let Some(Value::String(kind)) = members.get_mut("type") else { return };
    if TYPES.contains(&kind.as_str()) {
        kind.make_ascii_lowercase();
    } else if kind == "TYPE_UNSPECIFIED" {
        members.remove("type");
    }
}

fn nullable(members: &mut Map<String, Value>) {
    if members.remove("nullable") != Some(Value::Bool(true)) {
        return;
    }
    if let Some(kind @ Value::String(_)) = members.get_mut("type") {
        *kind = Value::Array(vec![kind.take(), "null".into()]);
    }
    if let Some(Value::Array(values)) = members.get_mut("enum") {
        values.push(Value::Null);
    }
    if let Some(Value::Array(schemas)) = members.get_mut("anyOf") {
        schemas.push(serde_json::json!({"type": "null"}));
    }
}
