//! Which values may come: kinds, lists of values, a single one.

use serde_json::Number;

use super::super::tree::{Object, Tree};
use super::Reducer;

/// As JSON schema names them, and as Gemini does.
pub(super) const KINDS: [(&str, &str); 7] = [
    ("string", "STRING"),
    ("number", "NUMBER"),
    ("integer", "INTEGER"),
    ("boolean", "BOOLEAN"),
    ("array", "ARRAY"),
    ("object", "OBJECT"),
    ("null", "NULL"),
];

/// What a keyword is about, where the kind is not said.
const ABOUT: &[(&str, &[&str])] = &[
    (
        "OBJECT",
        &[
            "properties",
            "additionalProperties",
            "patternProperties",
            "propertyNames",
            "minProperties",
            "maxProperties",
            "required",
        ],
    ),
    ("ARRAY", &["items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"]),
    ("STRING", &["pattern", "minLength", "maxLength", "format", "contentEncoding"]),
    ("NUMBER", &["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]),
];

pub(super) fn kind_of(value: &Tree) -> &'static str {
    match value {
        Tree::Null => "NULL",
        Tree::Bool(_) => "BOOLEAN",
        Tree::Number(number) if number.is_f64() => "NUMBER",
        Tree::Number(_) => "INTEGER",
        Tree::Text(_) => "STRING",
        Tree::List(_) => "ARRAY",
        Tree::Object(_) => "OBJECT",
    }
}

pub(super) fn inferred(node: &Object) -> Option<&'static str> {
    if let Some(Tree::List(values)) = node.get("enum") {
        let mut kinds = values.iter().filter(|value| **value != Tree::Null).map(kind_of);
        let first = kinds.next()?;
        let numbers = |kind: &str| matches!(kind, "NUMBER" | "INTEGER");
        return Some(kinds.fold(first, |all, kind| match () {
            () if all == kind => all,
            () if numbers(all) && numbers(kind) => "NUMBER",
            () => "STRING",
        }));
    }
    ABOUT.iter().find(|(_, keywords)| keywords.iter().any(|name| node.has(name))).map(|(kind, _)| *kind)
}

impl Reducer<'_, '_> {
    /// One value is a list of one.
    pub(super) fn constant(&mut self, node: &mut Object) {
        if let Some(value) = node.take("const") {
            if node.has("enum") {
                self.losses.ignored("enum", "one value is said to be the only one");
            }
            node.set("enum", vec![value]);
        }
    }

    /// Only texts can be listed. Others are told in words, so that their kind stays, or become texts where kinds are mixed.
    pub(super) fn listed(
        &mut self,
        values: Vec<Tree>,
        kind: &str,
        out: &mut Object,
        notes: &mut Vec<String>,
    ) {
        let had = values.len();
        let values: Vec<Tree> =
            values.into_iter().filter(|value| *value != Tree::from("") && *value != Tree::Null).collect();
        if values.is_empty() {
            return self.losses.dropped("enum", "there is nothing in it that could be asked for");
        }
        if kind != "STRING" {
            let said: Vec<String> = values.iter().map(Tree::print).collect();
            self.losses.altered("enum", "only texts can be listed; said in the description");
            return notes.push(format!("one of {}", said.join(", ")));
        }
        if values.len() < had {
            self.losses.altered("enum", "an empty text cannot be asked for");
        }
        if values.iter().any(|value| value.as_text().is_none()) {
            self.losses.altered("enum", "values of several kinds are asked for as texts");
        }
        let text = |value: Tree| if value.as_text().is_some() { value } else { Tree::Text(value.print()) };
        out.set("enum", values.into_iter().map(text).collect::<Vec<_>>());
    }

    /// A bound that is not itself allowed: the next whole number is, and of others the bound must do.
    pub(super) fn exclusive(&mut self, name: &str, value: &Tree, kind: &str, out: &mut Object) {
        let (bound, step) = if name == "exclusiveMinimum" { ("minimum", 1.0) } else { ("maximum", -1.0) };
        // Draft 4 has a flag beside the bound.
        let given = match value {
            Tree::Bool(true) => out.get(bound).and_then(Tree::number),
            value => value.number(),
        };
        let Some(given) = given else {
            return if *value == Tree::Bool(false) {
            } else {
                self.losses.dropped(name, "it is no number")
            };
        };
        let new = match kind {
            "INTEGER" if step > 0.0 => given.floor() + step,
            "INTEGER" => given.ceil() + step,
            _ => {
                self.losses.altered(name, "asked for with the bound itself");
                given
            }
        };
        let known = out.get(bound).and_then(Tree::number).filter(|_| *value != Tree::Bool(true));
        let closer = known.is_none_or(|known| (new - known) * step > 0.0);
        if let Some(number) = number(new).filter(|_| closer) {
            out.set(bound, Tree::Number(number));
        }
    }
}

/// Whole numbers without a point.
#[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)] // Looked at before.
pub(super) fn number(value: f64) -> Option<Number> {
    let whole = value as i64;
    if value.fract() == 0.0 && value.abs() < 9e15 { Some(whole.into()) } else { Number::from_f64(value) }
}
