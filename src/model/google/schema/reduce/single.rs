//! A schema of one kind, keyword by keyword.

use std::collections::HashSet;

use super::super::ANNOTATIONS;
use super::super::tree::{Object, Tree};
use super::Reducer;
use super::values::{inferred, number};

const COUNTS: &[&str] = &["minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"];
/// Nobody is bound by them.
const REMARKS: &[&str] = &[
    "$schema",
    "$id",
    "$comment",
    "$anchor",
    "$dynamicAnchor",
    "$vocabulary",
    "contentEncoding",
    "contentMediaType",
];
/// Cannot be said but in words.
const IN_WORDS: &[&str] = &[
    "propertyNames",
    "patternProperties",
    "unevaluatedProperties",
    "unevaluatedItems",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "if",
    "then",
    "else",
    "not",
    "contains",
    "minContains",
    "maxContains",
    "contentSchema",
];
const FORMATS: &[(&str, &[&str])] =
    &[("STRING", &["enum", "date-time"]), ("NUMBER", &["float", "double"]), ("INTEGER", &["int32", "int64"])];
/// Of a schema that is said in words.
const LONGEST: usize = 200;

/// What is made of a schema.
struct Draft {
    kind: &'static str,
    out: Object,
    description: String,
    notes: Vec<String>,
    items: Option<Tree>,
    required: Vec<Tree>,
}

impl Reducer<'_, '_> {
    pub(super) fn single(&mut self, mut node: Object, kind: Option<&'static str>, nullable: bool) -> Object {
        let kind = kind.or_else(|| inferred(&node)).unwrap_or_else(|| {
            self.losses.altered("type", "any value is asked for as a text");
            "STRING"
        });
        let null =
            node.get("enum").and_then(Tree::as_list).is_some_and(|values| values.contains(&Tree::Null));
        // A flag about a bound is read behind it.
        for name in ["exclusiveMinimum", "exclusiveMaximum"] {
            if let Some(value) = node.take(name) {
                node.set(name, value);
            }
        }
        let out = Object::default().with("type", kind);
        let mut draft = Draft {
            kind,
            out,
            description: String::new(),
            notes: Vec::new(),
            items: None,
            required: Vec::new(),
        };
        for (name, value) in node.0 {
            self.keyword(&name, value, &mut draft);
        }
        self.finish(draft, nullable || null)
    }

    fn keyword(&mut self, name: &str, value: Tree, draft: &mut Draft) {
        match (name, value) {
            ("description", Tree::Text(text)) => draft.description = text,
            ("properties", Tree::Object(members)) => self.properties(members, draft),
            ("required", Tree::List(names)) => draft.required = names,
            ("items" | "prefixItems", value) => {
                draft.items = Some(self.items(name, value, draft.items.take()))
            }
            ("enum", Tree::List(values)) => self.listed(values, draft.kind, &mut draft.out, &mut draft.notes),
            ("format", Tree::Text(format)) => self.format(&format, draft),
            ("pattern", value @ Tree::Text(_)) if draft.kind == "STRING" => draft.out.set(name, value),
            ("minimum" | "maximum", value @ Tree::Number(_)) => draft.out.set(name, value),
            ("propertyOrdering", value @ Tree::List(_)) => draft.out.set(name, value),
            ("exclusiveMinimum" | "exclusiveMaximum", value) => {
                self.exclusive(name, &value, draft.kind, &mut draft.out);
            }
            (_, value) if COUNTS.contains(&name) => self.count(name, &value, draft),
            (_, value) => self.unsaid(name, &value, draft),
        }
    }

    /// What has no place.
    fn unsaid(&mut self, name: &str, value: &Tree, draft: &mut Draft) {
        let mut in_words = |words: String| {
            draft.notes.push(words);
            self.losses.altered(name, "said in the description");
        };
        match (name, value) {
            ("additionalProperties", Tree::Bool(_)) => {
                self.losses.ignored(name, "only members that are named are asked for");
            }
            ("additionalProperties", schema) => in_words(format!("further members: {}", brief(schema))),
            ("multipleOf", value) => in_words(format!("a multiple of {}", value.print())),
            ("uniqueItems", Tree::Bool(true)) => in_words("no item twice".to_owned()),
            ("uniqueItems", _) => {}
            _ if IN_WORDS.contains(&name) => in_words(format!("{name}: {}", brief(value))),
            _ if ANNOTATIONS.contains(&name) || REMARKS.contains(&name) => {
                self.losses.ignored(name, "says nothing to a model");
            }
            _ => self.losses.ignored(name, "is not known to models"),
        }
    }

    fn properties(&mut self, members: Object, draft: &mut Draft) {
        let mut all = Object::default();
        for (name, schema) in members.0 {
            let reduced = self.within(&format!(".properties.{name}"), schema);
            all.0.push((name, reduced.into()));
        }
        if !all.is_empty() {
            draft.out.set("properties", all);
        }
    }

    /// A schema for all items. Where each place has its own, any of them.
    fn items(&mut self, name: &str, value: Tree, before: Option<Tree>) -> Tree {
        let mut places = match value {
            Tree::List(places) => places,
            Tree::Bool(_) => return before.unwrap_or(Tree::Bool(true)),
            one if before.is_none() => return one,
            one => vec![one],
        };
        self.losses.altered(name, "places with schemas of their own are asked for as items of any of them");
        if let Some(before) = before {
            places.insert(0, before);
        }
        let mut different: Vec<Tree> = Vec::new();
        places.into_iter().for_each(|place| {
            if !different.contains(&place) {
                different.push(place);
            }
        });
        match different.len() {
            1 => different.remove(0),
            _ => Object::default().with("anyOf", different).into(),
        }
    }

    fn format(&mut self, format: &str, draft: &mut Draft) {
        let known = FORMATS.iter().find(|(kind, _)| *kind == draft.kind).map_or(&[][..], |(_, known)| known);
        if known.contains(&format) {
            return draft.out.set("format", format);
        }
        self.losses.altered("format", "said in the description");
        draft.notes.push(format!("format: {format}"));
    }

    fn count(&mut self, name: &str, value: &Tree, draft: &mut Draft) {
        let given = value.number().or_else(|| value.as_text()?.parse().ok());
        match given.filter(|count| *count >= 0.0 && count.fract() == 0.0).and_then(number) {
            Some(count) => draft.out.set(name, Tree::Number(count)),
            None => self.losses.dropped(name, "it is no count"),
        }
    }

    fn finish(&mut self, draft: Draft, nullable: bool) -> Object {
        let Draft { kind, mut out, mut description, notes, items, required } = draft;
        if !notes.is_empty() {
            let space = if description.is_empty() { "" } else { " " };
            description += &format!("{space}({})", notes.join("; "));
        }
        if !description.is_empty() {
            out.set("description", description.as_str());
        }
        if kind == "ARRAY" {
            out.set("items", self.every_item(items));
        }
        if let Some(required) = self.required(required, &out) {
            out.set("required", required);
        }
        if nullable {
            out.set("nullable", true);
        }
        out
    }

    fn every_item(&mut self, items: Option<Tree>) -> Object {
        match items {
            Some(items @ Tree::Object(_)) => self.within(".items", items),
            _ => {
                self.losses.guessed("items", "it must be said what items are; asked for as texts");
                Object::default().with("type", "STRING")
            }
        }
    }

    /// Those that are there.
    fn required(&mut self, names: Vec<Tree>, out: &Object) -> Option<Tree> {
        let members = out.get("properties").and_then(Tree::as_object).into_iter().flat_map(|all| &all.0);
        let known: HashSet<&str> = members.map(|(name, _)| name.as_str()).collect();
        let had = names.len();
        let is_known = |name: &Tree| name.as_text().is_some_and(|name| known.contains(name));
        let names: Vec<Tree> = names.into_iter().filter(is_known).collect();
        if names.len() < had {
            self.losses.dropped("required", "a name is not among the properties");
        }
        (!names.is_empty()).then(|| names.into())
    }
}

fn brief(schema: &Tree) -> String {
    let printed = schema.print();
    match printed.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", printed.get(..end).unwrap_or_default()),
        None => printed,
    }
}
