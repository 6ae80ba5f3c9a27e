//! Gemini's dialect of schemas as JSON schema: types in lower case, `nullable` as a type, numbers as numbers. Members keep
//! their order, which models follow, and numbers their text.

use serde_json::value::RawValue;

use crate::proto::vendor::Members;

const TYPES: &[&str] = &["STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"];
/// Whole numbers that Google prints as text.
const COUNTS: &[&str] = &["minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"];
/// Members that hold schemas by name, a list of them, or one.
const NAMED: &[&str] = &["properties", "$defs", "defs", "definitions", "patternProperties"];
const LISTS: &[&str] = &["anyOf", "oneOf", "allOf", "prefixItems"];
const ONE: &[&str] = &["items", "not", "additionalProperties"];

/// What is no schema stays as it is.
pub fn json_schema(gemini: &str) -> String {
    match serde_json::from_str(gemini) {
        Ok(Members(members)) => object(&members),
        Err(_) => gemini.to_owned(),
    }
}

fn object(members: &[(String, Box<RawValue>)]) -> String {
    let nullable = members.iter().any(|(name, value)| name == "nullable" && value.get() == "true");
    let printed = members.iter().filter_map(|(name, value)| {
        member(name, value.get(), nullable).map(|value| format!("{}:{value}", quoted(name)))
    });
    format!("{{{}}}", printed.collect::<Vec<_>>().join(","))
}

/// What stands there instead, if anything.
fn member(name: &str, value: &str, nullable: bool) -> Option<String> {
    match name {
        "nullable" | "propertyOrdering" => None,
        "type" => kind(value, nullable),
        "format" if value == "\"enum\"" => None,
        "enum" if nullable => Some(with(value, "null", str::to_owned)),
        "anyOf" if nullable => Some(with(value, r#"{"type":"null"}"#, json_schema)),
        _ if COUNTS.contains(&name) => Some(count(value).to_owned()),
        _ if ONE.contains(&name) => Some(json_schema(value)),
        _ if LISTS.contains(&name) => Some(list(value, json_schema).unwrap_or_else(|| value.to_owned())),
        _ if NAMED.contains(&name) => Some(named(value)),
        _ => Some(value.to_owned()),
    }
}

fn count(value: &str) -> &str {
    let text = value.trim_matches('"');
    if text.parse::<u64>().is_ok_and(|number| number.to_string() == text) { text } else { value }
}

fn kind(value: &str, nullable: bool) -> Option<String> {
    let lower = match value.trim_matches('"') {
        "TYPE_UNSPECIFIED" => return None,
        kind if TYPES.contains(&kind) => value.to_lowercase(),
        _ => value.to_owned(),
    };
    let one = lower.starts_with('"');
    Some(if nullable && one { format!("[{lower},\"null\"]") } else { lower })
}

fn named(value: &str) -> String {
    let Ok(Members(members)) = serde_json::from_str(value) else { return value.to_owned() };
    let printed =
        members.iter().map(|(name, schema)| format!("{}:{}", quoted(name), json_schema(schema.get())));
    format!("{{{}}}", printed.collect::<Vec<_>>().join(","))
}

fn list(value: &str, each: fn(&str) -> String) -> Option<String> {
    let items: Vec<&RawValue> = serde_json::from_str(value).ok()?;
    let printed: Vec<String> = items.iter().map(|item| each(item.get())).collect();
    Some(format!("[{}]", printed.join(",")))
}

/// The list with one more item at its end.
fn with(value: &str, last: &str, each: fn(&str) -> String) -> String {
    match list(value, each).as_deref() {
        None => value.to_owned(),
        Some("[]") => format!("[{last}]"),
        Some(list) => format!("{},{last}]", list.strip_suffix(']').unwrap_or(list)),
    }
}

fn quoted(name: &str) -> String {
    serde_json::Value::from(name).to_string()
}
