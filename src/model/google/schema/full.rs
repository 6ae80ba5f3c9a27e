//! A JSON schema where one is taken: only what the server would refuse goes. Pure.

use super::losses::Losses;
use super::tree::{Object, Tree};

/// Members that hold schemas by name, lists of them, and single ones.
const NAMED: &[&str] = &["properties", "$defs", "patternProperties", "dependentSchemas"];
const LISTS: &[&str] = &["anyOf", "oneOf", "allOf", "prefixItems", "items"];
const ONE: &[&str] = &[
    "items",
    "additionalProperties",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
];
/// Said to whoever reads the schema, not to whom it binds.
const REMARKS: &[&str] = &["$schema", "$comment"];

/// Whether it changed.
pub(super) fn scrub(schema: &mut Tree, losses: &mut Losses<'_>) -> bool {
    let Tree::Object(node) = schema else { return false };
    let mut changed = remarks(node, losses);
    changed |= definitions(node);
    changed |= constant(node);
    changed |= reference(node, losses);
    for (name, value) in &mut node.0 {
        changed |= member(name, value, losses);
    }
    changed
}

fn member(name: &str, value: &mut Tree, losses: &mut Losses<'_>) -> bool {
    let mut changed = false;
    match value {
        Tree::Object(members) if NAMED.contains(&name) => {
            for (key, schema) in &mut members.0 {
                let mark = losses.enter(&format!(".{name}.{key}"));
                changed |= scrub(schema, losses);
                losses.leave(mark);
            }
        }
        Tree::List(list) if LISTS.contains(&name) => {
            for (at, schema) in list.iter_mut().enumerate() {
                let mark = losses.enter(&format!(".{name}[{at}]"));
                changed |= scrub(schema, losses);
                losses.leave(mark);
            }
        }
        Tree::Object(_) if ONE.contains(&name) => {
            let mark = losses.enter(&format!(".{name}"));
            changed = scrub(value, losses);
            losses.leave(mark);
        }
        _ => {}
    }
    changed
}

fn remarks(node: &mut Object, losses: &mut Losses<'_>) -> bool {
    let mut changed = false;
    for name in REMARKS {
        if node.take(name).is_some() {
            losses.ignored(name, "says nothing to a model");
            changed = true;
        }
    }
    changed
}

/// Only the newer name is known there.
fn definitions(node: &mut Object) -> bool {
    if node.has("$defs") {
        return false;
    }
    let found = node.0.iter_mut().find(|(name, value)| name == "definitions" && value.as_object().is_some());
    found.map(|(name, _)| "$defs".clone_into(name)).is_some()
}

/// One of one is the same, and known there.
fn constant(node: &mut Object) -> bool {
    if node.has("enum") {
        return false;
    }
    let is_one = |value: &Tree| matches!(value, Tree::Text(_) | Tree::Number(_));
    let Some((name, value)) = node.0.iter_mut().find(|(name, value)| name == "const" && is_one(value)) else {
        return false;
    };
    "enum".clone_into(name);
    let one = std::mem::replace(value, Tree::Null);
    *value = Tree::List(vec![one]);
    true
}

/// Beside a reference, nothing but names with a dollar is let pass.
fn reference(node: &mut Object, losses: &mut Losses<'_>) -> bool {
    let Some(Tree::Text(target)) = node.0.iter_mut().find(|(name, _)| name == "$ref").map(|(_, value)| value)
    else {
        return false;
    };
    let renamed = target.strip_prefix("#/definitions/").map(|name| format!("#/$defs/{name}"));
    let mut changed = renamed.is_some();
    *target = renamed.unwrap_or_else(|| std::mem::take(target));
    node.0.retain(|(name, _)| {
        let stays = name.starts_with('$');
        match (stays, super::ANNOTATIONS.contains(&name.as_str())) {
            (true, _) => {}
            (false, true) => losses.ignored(name, "cannot stand beside a reference"),
            (false, false) => losses.dropped(name, "cannot stand beside a reference"),
        }
        changed |= !stays;
        stays
    });
    changed
}
