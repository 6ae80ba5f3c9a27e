//! Path variables and query parameters as members of a JSON object, by the fields of the request message.

use http::HeaderValue;
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use crate::domain::error::Error;
use crate::proto::schema::{Field, Shape};

/// More steps than any message has; without a bound a long key would build a deep tree.
const MAX_STEPS: usize = 32;

/// Said by other layers: where some clients put a key, and A2A's version for those that cannot set headers.
fn is_reserved(key: &str) -> bool {
    key == "key" || key.eq_ignore_ascii_case("a2a-version")
}

/// Names and values in the order of the query, but for those of other layers. None is a value that is no text.
pub(super) fn parameters(query: &str) -> impl Iterator<Item = (String, Option<String>)> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let split = |pair: &str| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        // A name that is no text is no field's either, so it need not be told apart.
        let key = String::from_utf8_lossy(&bytes(key)).into_owned();
        (key, String::from_utf8(bytes(value)).ok())
    };
    pairs.map(split).filter(|(key, _)| !is_reserved(key))
}

fn bytes(text: &str) -> Vec<u8> {
    percent_decode_str(&text.replace('+', " ")).collect()
}

/// A2A's version, where it stands in the query.
pub(super) fn version(query: &str) -> Option<HeaderValue> {
    let mut parameters = form_urlencoded::parse(query.as_bytes());
    let (_, version) = parameters.find(|(key, _)| key.eq_ignore_ascii_case("a2a-version"))?;
    HeaderValue::from_str(&version).ok()
}

/// Who says it. A path stands above everything; two query parameters for one value contradict each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum From {
    Path,
    Query,
}

/// The field of this name, in either spelling.
pub(super) fn find(fields: &'static [Field], name: &str) -> Option<&'static Field> {
    fields.iter().find(|field| field.name == name || field.json == name)
}

/// Sets one field to a JSON value, whichever way it was spelled before.
pub(super) fn put(tree: &mut Map<String, Value>, field: &Field, value: Value) {
    tree.remove(field.name);
    tree.remove(field.json);
    tree.insert(field.printed.to_owned(), value);
}

/// Sets the field that `path` leads to from the text of a parameter.
pub(super) fn set(
    tree: &mut Map<String, Value>,
    fields: &'static [Field],
    path: &[String],
    text: &str,
    from: From,
) -> Result<(), Error> {
    let refuse = |why: &str| Error::field(path.join("."), why);
    let Some((last, holders)) = path.split_last().filter(|_| path.len() <= MAX_STEPS) else {
        return Err(refuse("has more steps than any field"));
    };
    let (mut tree, mut fields) = (tree, fields);
    for step in holders {
        let field = find(fields, step).ok_or_else(|| refuse("is not a field"))?;
        let Shape::Message(inner) = field.shape else {
            return Err(refuse("leads through a field without fields"));
        };
        fields = inner();
        tree = object_at(tree, field).ok_or_else(|| refuse("is set to something else already"))?;
    }
    let field = find(fields, last).ok_or_else(|| refuse("is not a field"))?;
    let value = convert(field, text).map_err(refuse)?;
    match (from, field.repeated) {
        (From::Path, _) => put(tree, field, value),
        (From::Query, true) => append(tree, field, value),
        (From::Query, false) if tree.contains_key(field.printed) => return Err(refuse("is given twice")),
        (From::Query, false) => put(tree, field, value),
    }
    Ok(())
}

/// The object of a field, whichever way a body spelled it. None if it holds something else, or stands there twice.
fn object_at<'a>(tree: &'a mut Map<String, Value>, field: &Field) -> Option<&'a mut Map<String, Value>> {
    let other = if field.printed == field.name { field.json } else { field.name };
    if other != field.printed
        && let Some(value) = tree.remove(other)
        && tree.insert(field.printed.to_owned(), value).is_some()
    {
        return None;
    }
    let entry = tree.entry(field.printed).or_insert(Value::Null);
    if entry.is_null() {
        *entry = Value::Object(Map::new());
    }
    entry.as_object_mut()
}

fn append(tree: &mut Map<String, Value>, field: &Field, value: Value) {
    match tree.entry(field.printed).or_insert_with(|| Value::Array(Vec::new())) {
        Value::Array(items) => items.push(value),
        other => *other = Value::Array(vec![value]),
    }
}

fn convert(field: &Field, text: &str) -> Result<Value, &'static str> {
    match field.shape {
        Shape::Text => Ok(Value::String(text.to_owned())),
        Shape::Bool => text.parse().map(Value::Bool).map_err(|_| "must be true or false"),
        Shape::Enum => Ok(text.parse::<i32>().map_or_else(|_| Value::String(text.to_owned()), Value::from)),
        Shape::Message(_) | Shape::Opaque => Err("cannot be given as one parameter; send it in a body"),
    }
}
