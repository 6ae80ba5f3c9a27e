//! Path variables and query parameters as members of a JSON object, by the fields of the request message.

use http::HeaderValue;
use serde_json::{Map, Value};

use crate::domain::error::Error;
use crate::proto::schema::{Field, Shape};

/// More steps than any message has; without a bound a long key would build a deep tree.
const MAX_STEPS: usize = 32;

/// Said by other layers: where some clients put a key, and A2A's version for those that cannot set headers.
pub(super) fn is_reserved(key: &str) -> bool {
    key == "key" || key.eq_ignore_ascii_case("a2a-version")
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
pub(super) fn put(tree: &mut Map<String, Value>, fields: &'static [Field], name: &str, value: Value) {
    let json = find(fields, name).map_or(name, |field| field.json);
    tree.remove(name);
    tree.insert(json.to_owned(), value);
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
        (From::Path, _) => put(tree, fields, last, value),
        (From::Query, true) => append(tree, field, value),
        (From::Query, false) if tree.contains_key(field.json) => return Err(refuse("is given twice")),
        (From::Query, false) => put(tree, fields, last, value),
    }
    Ok(())
}

fn object_at<'a>(tree: &'a mut Map<String, Value>, field: &Field) -> Option<&'a mut Map<String, Value>> {
    if field.name != field.json
        && let Some(other) = tree.remove(field.name)
    {
        tree.insert(field.json.to_owned(), other);
    }
    let entry = tree.entry(field.json).or_insert(Value::Null);
    if entry.is_null() {
        *entry = Value::Object(Map::new());
    }
    entry.as_object_mut()
}

fn append(tree: &mut Map<String, Value>, field: &Field, value: Value) {
    match tree.entry(field.json).or_insert_with(|| Value::Array(Vec::new())) {
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
