//! Schemas as Google's servers take them: JSON schema nearly as it is, or reduced to Gemini's own dialect where a model or a
//! server knows nothing else. What is lost is told by its path. Pure; the request is fitted with it.

mod full;
mod losses;
mod reduce;
mod tree;

use self::losses::Losses;
use self::reduce::{Allowance, Reducer};
use self::tree::{Object, Tree};
use crate::domain::change::Change;
use crate::proto::gemini::{FunctionDeclaration, GenerateContentRequest, GenerationConfig};

/// The member that holds a value where arguments would be none.
const VALUE: &str = "value";
/// Keywords that bind nobody.
const ANNOTATIONS: &[&str] = &[
    "title",
    "description",
    "default",
    "examples",
    "example",
    "deprecated",
    "readOnly",
    "writeOnly",
    "enumDescriptions",
];

/// What is wanted.
enum Aim {
    /// JSON schema.
    Full,
    /// Gemini's own dialect.
    Reduced(Allowance),
}

/// Fits all schemas of a request.
pub(super) fn fit(request: &mut GenerateContentRequest, json_schema: bool, changes: &mut Vec<Change>) {
    let mut aim = if json_schema { Aim::Full } else { Aim::Reduced(Allowance::default()) };
    for function in request.tools.iter_mut().flat_map(|tool| &mut tool.function_declarations) {
        declaration(function, &mut aim, changes);
    }
    if let Some(config) = &mut request.generation_config {
        output(config, &mut aim, changes);
    }
}

/// Whether there is a schema that could be reduced.
pub(super) fn is_full(request: &GenerateContentRequest) -> bool {
    let mut functions = request.tools.iter().flat_map(|tool| &tool.function_declarations);
    let full =
        |f: &FunctionDeclaration| !f.parameters_json_schema.is_empty() || !f.response_json_schema.is_empty();
    functions.any(full)
        || request.generation_config.as_ref().is_some_and(|config| !config.response_json_schema.is_empty())
}

fn declaration(function: &mut FunctionDeclaration, aim: &mut Aim, changes: &mut Vec<Change>) {
    let path = format!("tools[{}]", function.name);
    if let Some(schema) = Tree::read(&function.parameters_json_schema) {
        let mut losses = Losses::at(path.clone(), changes);
        if !function.parameters.is_empty() {
            losses.ignored("parameters", "there is a JSON schema, which says more");
            function.parameters.clear();
        }
        let schema = arguments(schema, &mut losses);
        match aim {
            Aim::Full => rewrite(&mut function.parameters_json_schema, schema, &mut losses),
            Aim::Reduced(left) => {
                let reduced = Reducer::new(&schema.0, &mut losses, left).reduced();
                function.parameters_json_schema.clear();
                function.parameters =
                    if is_empty(&reduced) { String::new() } else { Tree::from(reduced).print() };
            }
        }
    }
    if let Some(schema) = Tree::read(&function.response_json_schema) {
        let mut losses = Losses::at(format!("{path}.response"), changes);
        both(schema, aim, &mut function.response_json_schema, &mut function.response, &mut losses);
    }
}

fn output(config: &mut GenerationConfig, aim: &mut Aim, changes: &mut Vec<Change>) {
    if let Some(schema) = Tree::read(&config.response_json_schema) {
        let mut losses = Losses::at("generationConfig.responseJsonSchema".to_owned(), changes);
        both(schema, aim, &mut config.response_json_schema, &mut config.response_schema, &mut losses);
    }
}

fn both(schema: Tree, aim: &mut Aim, full: &mut String, own: &mut String, losses: &mut Losses<'_>) {
    match aim {
        Aim::Full => rewrite(full, (schema, false), losses),
        Aim::Reduced(left) => {
            full.clear();
            *own = Tree::from(Reducer::new(&schema, losses, left).reduced()).print();
        }
    }
}

/// What needs no change stays as it was, to the byte.
fn rewrite(text: &mut String, (mut schema, wrapped): (Tree, bool), losses: &mut Losses<'_>) {
    if full::scrub(&mut schema, losses) || wrapped {
        *text = schema.print();
    }
}

/// Arguments are an object. What is none is put into one, and whether it was.
fn arguments(schema: Tree, losses: &mut Losses<'_>) -> (Tree, bool) {
    let is_object = may_be_object(&schema);
    match schema {
        Tree::Object(node) if is_object => {
            // Of several kinds, only this one can come.
            let several = node.get("type").is_some_and(|kind| kind.as_list().is_some());
            let bare = several || kinds_are_missing(&node);
            (if bare { node.with("type", "object").into() } else { node.into() }, bare)
        }
        Tree::Object(_) => (wrapped(schema, losses), true),
        _ => (Object::default().with("type", "object").into(), true),
    }
}

fn may_be_object(schema: &Tree) -> bool {
    let is_object = |kind: &Tree| kind.as_text().is_some_and(|kind| kind.eq_ignore_ascii_case("object"));
    match schema.as_object().and_then(|node| node.get("type")) {
        None => true,
        Some(Tree::List(kinds)) => kinds.iter().any(is_object),
        Some(kind) => is_object(kind),
    }
}

fn kinds_are_missing(node: &Object) -> bool {
    !["type", "anyOf", "oneOf", "allOf", "$ref"].iter().any(|name| node.has(name))
}

fn wrapped(mut schema: Tree, losses: &mut Losses<'_>) -> Tree {
    losses.altered("", "arguments are an object; the value is asked for as its member `value`");
    let mut root = Object::default().with("type", "object");
    // References lead to the root.
    if let Tree::Object(node) = &mut schema {
        for name in ["$schema", "$defs", "definitions"] {
            if let Some(kept) = node.take(name) {
                root.set(name, kept);
            }
        }
    }
    root.set("properties", Object::default().with(VALUE, schema));
    root.set("required", vec![Tree::from(VALUE)]);
    root.into()
}

fn is_empty(schema: &Object) -> bool {
    let none = |name: &str| schema.get(name).and_then(Tree::as_object).is_none_or(Object::is_empty);
    none("properties") && !schema.has("anyOf")
}

#[cfg(test)]
mod tests;
