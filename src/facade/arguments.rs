//! Arguments of calls against the schemas that the client declared, as it wrote them: what a reduced schema may have changed is
//! turned back, and what still does not fit is told. Pure; the drive of facades calls it.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

use crate::proto::gemini::GenerateContentRequest;

/// A schema that is longer is taken at its word.
const LONGEST: usize = 256 << 10;
/// As many problems as one reads.
const MOST: usize = 3;
/// Schemas refer to themselves.
const DEEPEST: usize = 32;
/// The member that holds a value where the schema is of no object.
const VALUE: &str = "value";

/// What may be called, by name.
#[derive(Debug, Default)]
pub struct Declared(BTreeMap<String, Schema>);

#[derive(Debug)]
struct Schema {
    text: String,
    /// Read when the first call comes. None if nothing can be said by it.
    compiled: OnceLock<Option<(Value, Validator)>>,
}

/// What became of arguments.
#[derive(Debug, PartialEq, Eq)]
pub enum Checked {
    /// They fit as they came, or nobody knows.
    Fine,
    /// They fit now.
    Mended(String),
    /// In words, without the values.
    Wrong(String),
}

impl Declared {
    /// Of a request before it is fitted to a model.
    pub fn of(request: &GenerateContentRequest) -> Self {
        let functions = request.tools.iter().flat_map(|tool| &tool.function_declarations);
        let said = functions.filter(|f| !f.parameters_json_schema.is_empty());
        let schema = |text: &str| Schema { text: text.to_owned(), compiled: OnceLock::new() };
        Self(said.map(|f| (f.name.clone(), schema(&f.parameters_json_schema))).collect())
    }

    pub fn check(&self, function: &str, args: &str) -> Checked {
        let Some((schema, validator)) = self.0.get(function).and_then(Schema::compiled) else {
            return Checked::Fine;
        };
        let text = if args.is_empty() { "{}" } else { args };
        let Ok(given) = serde_json::from_str::<Value>(text) else {
            return Checked::Wrong("they are not JSON".to_owned());
        };
        if validator.is_valid(&given) {
            return Checked::Fine;
        }
        let mended = coerced(unwrapped(given.clone(), schema), schema, schema, 0);
        match validator.is_valid(&mended) {
            true => Checked::Mended(mended.to_string()),
            false => Checked::Wrong(problems(validator, &given)),
        }
    }
}

impl Schema {
    fn compiled(&self) -> Option<&(Value, Validator)> {
        let compile = || {
            let schema: Value =
                serde_json::from_str(&self.text).ok().filter(|_| self.text.len() <= LONGEST)?;
            // Patterns that take time without end are not followed.
            let options = jsonschema::options().with_pattern_options(PatternOptions::regex());
            let validator = options.build(&schema).ok()?;
            Some((schema, validator))
        };
        self.compiled.get_or_init(compile).as_ref()
    }
}

fn problems(validator: &Validator, given: &Value) -> String {
    let told = validator.iter_errors(given).take(MOST).map(|error| {
        let field = error.instance_path().to_string().trim_start_matches('/').replace('/', ".");
        let problem = error.masked_with("the value").to_string();
        if field.is_empty() { problem } else { format!("{field}: {problem}") }
    });
    told.collect::<Vec<_>>().join("; ")
}

/// A value that was asked for as the only member of an object.
fn unwrapped(given: Value, schema: &Value) -> Value {
    let is_object = schema.get("type").is_none_or(|kind| names(kind, "object"));
    match given {
        Value::Object(mut members) if !is_object && members.len() == 1 && members.contains_key(VALUE) => {
            members.remove(VALUE).unwrap_or_default()
        }
        other => other,
    }
}

fn names(kind: &Value, name: &str) -> bool {
    kind.as_str() == Some(name)
        || kind.as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind.as_str() == Some(name)))
}

/// Texts that stand for what the schema wants turn into that.
fn coerced(value: Value, schema: &Value, root: &Value, depth: usize) -> Value {
    let schema = resolved(schema, root);
    if depth == DEEPEST {
        return value;
    }
    if let Some(only) = only_branch(schema) {
        return coerced(value, only, root, depth + 1);
    }
    match value {
        Value::String(text) => text_as(text, schema),
        Value::Array(items) => match schema.get("items") {
            Some(each) => items.into_iter().map(|item| coerced(item, each, root, depth + 1)).collect(),
            None => Value::Array(items),
        },
        Value::Object(members) => {
            let known = schema.get("properties");
            let other = schema.get("additionalProperties");
            let of = |name: &str| known.and_then(|known| known.get(name)).or(other);
            let member = |(name, value): (String, Value)| match of(&name) {
                Some(schema) => {
                    let value = coerced(value, schema, root, depth + 1);
                    (name, value)
                }
                None => (name, value),
            };
            members.into_iter().map(member).collect()
        }
        other => other,
    }
}

fn resolved<'s>(schema: &'s Value, root: &'s Value) -> &'s Value {
    let target = schema.get("$ref").and_then(Value::as_str).and_then(|reference| reference.strip_prefix('#'));
    target.and_then(|pointer| root.pointer(pointer)).unwrap_or(schema)
}

/// Where nothing else but null may stand.
fn only_branch(schema: &Value) -> Option<&Value> {
    let branches = schema.get("anyOf").or_else(|| schema.get("oneOf"))?.as_array()?;
    let mut real = branches.iter().filter(|branch| !branch.get("type").is_some_and(|kind| kind == "null"));
    let first = real.next()?;
    real.next().is_none().then_some(first)
}

/// Exactly so, and not just as much.
fn prints_as(value: &Value, text: &str) -> bool {
    let printed = value.to_string();
    printed == text
}

fn text_as(text: String, schema: &Value) -> Value {
    let is = |name: &str| schema.get("type").is_some_and(|kind| names(kind, name));
    let listed =
        schema.get("enum").and_then(Value::as_array).into_iter().flatten().chain(schema.get("const"));
    let mut stood_for = listed.filter(|value| !value.is_string() && prints_as(value, &text));
    if let Some(value) = stood_for.next() {
        return value.clone();
    }
    if is("string") {
        return Value::String(text);
    }
    let read = serde_json::from_str::<Value>(&text).ok().filter(|value| prints_as(value, &text));
    match read {
        Some(value) if value.is_i64() || value.is_u64() => {
            if is("integer") || is("number") {
                value
            } else {
                Value::String(text)
            }
        }
        Some(value @ Value::Number(_)) if is("number") => value,
        Some(value @ Value::Bool(_)) if is("boolean") => value,
        _ => Value::String(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::gemini::{FunctionDeclaration, Tool};

    fn check(schema: &str, args: &str) -> Checked {
        let function = FunctionDeclaration {
            name: "f".to_owned(),
            parameters_json_schema: schema.to_owned(),
            ..FunctionDeclaration::default()
        };
        let tool = Tool { function_declarations: vec![function], extra: String::new() };
        let request = GenerateContentRequest { tools: vec![tool], ..GenerateContentRequest::default() };
        Declared::of(&request).check("f", args)
    }

    #[test]
    fn arguments_are_held_to_what_the_client_declared() {
        let of = |x: &str| format!(r#"{{"type":"object","properties":{{"x":{x}}},"required":["x"]}}"#);
        let mended = |text: &str| Checked::Mended(text.to_owned());
        for (schema, args, expected) in [
            (of(r#"{"type":"integer"}"#), r#"{ "x": 5 }"#, Checked::Fine),
            (of(r#"{"type":"integer"}"#), r#"{"x":"5"}"#, mended(r#"{"x":5}"#)),
            (of(r#"{"type":"number"}"#), r#"{"x":"0.5"}"#, mended(r#"{"x":0.5}"#)),
            (of(r#"{"type":"boolean"}"#), r#"{"x":"true"}"#, mended(r#"{"x":true}"#)),
            (of(r#"{"enum":["a",1,true]}"#), r#"{"x":"1"}"#, mended(r#"{"x":1}"#)),
            (of(r#"{"const":5}"#), r#"{"x":"5"}"#, mended(r#"{"x":5}"#)),
            (of(r#"{"anyOf":[{"type":"integer"},{"type":"null"}]}"#), r#"{"x":"5"}"#, mended(r#"{"x":5}"#)),
            (
                of(r#"{"type":"array","items":{"type":"integer"}}"#),
                r#"{"x":["5",6]}"#,
                mended(r#"{"x":[5,6]}"#),
            ),
            (
                r#"{"type":"array","items":{"type":"string"}}"#.to_owned(),
                r#"{"value":["a"]}"#,
                mended(r#"["a"]"#),
            ),
            (
                of(r#"{"type":"integer"}"#),
                r#"{"x":"5.0"}"#,
                Checked::Wrong("x: the value is not of type \"integer\"".to_owned()),
            ),
            (of(r#"{"type":"integer"}"#), "", Checked::Wrong("\"x\" is a required property".to_owned())),
            (of(r#"{"type":"string"}"#), r#"{"x":"5"}"#, Checked::Fine),
            (
                of(r##"{"$ref":"#/properties/y"},"y":{"type":"integer"}"##),
                r#"{"x":"5"}"#,
                mended(r#"{"x":5}"#),
            ),
            (r#"{"type":"nonsense"}"#.to_owned(), r#"{"x":"5"}"#, Checked::Fine),
            (r#"{"$ref":"https://example.com/schema"}"#.to_owned(), "{}", Checked::Fine),
        ] {
            assert_eq!(check(&schema, args), expected, "{schema} {args}");
        }
        assert_eq!(Declared::default().check("g", "{"), Checked::Fine);
    }
}
