//! What it takes to check arguments against a schema, found out without checking any: references make a small text
//! stand for a tree of any size. Pure; `offer` leaves out what is too large, and asks before it checks.
//!
//! A reference within one level of the arguments is followed as often as it stands there, so those multiply. One that
//! leads a level deeper ends where the arguments do, which is why the steps are counted for each depth of them.

use std::collections::{HashMap, HashSet};

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

/// Steps for plain arguments; more is no honest tool.
const STEPS: u64 = 10_000;
/// How deep plain arguments are.
const PLAIN: usize = 4;
/// Steps times values of one call: well below a second.
const WORK: u64 = 20_000_000;
/// Depth of arguments that is counted for.
const DEEPEST: usize = 64;
/// Schemas within each other, references followed: each is a call below the other when arguments are checked.
const LEVELS: usize = 400;

/// Keywords whose schemas are about the same value, and those about what lies in it. What stands under others is not
/// checked against.
const HERE_ONE: &[&str] = &["not", "if", "then", "else"];
const HERE_LIST: &[&str] = &["allOf", "anyOf", "oneOf"];
const HERE_MAP: &[&str] = &["dependentSchemas", "dependencies"];
const BELOW_ONE: &[&str] = &[
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "items",
    "additionalItems",
    "unevaluatedItems",
    "contains",
];
const BELOW_LIST: &[&str] = &["items", "prefixItems"];
const BELOW_MAP: &[&str] = &["properties", "patternProperties"];
/// They lead to places that are not known before arguments are there.
const MOVING: &[&str] = &["$dynamicRef", "$recursiveRef"];

/// Steps by the depth of the arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cost {
    steps: Vec<u64>,
    /// Whatever is deeper takes no more: the schema ends there.
    ends: bool,
}

impl Cost {
    /// Of a schema, or why it cannot be used.
    pub(super) fn of(schema: &Value) -> Result<Self, String> {
        let mut count = Count { root: schema, known: HashMap::new(), open: HashSet::new() };
        let mut cost = Self { steps: Vec::new(), ends: false };
        for depth in 0..=DEEPEST {
            match count.steps(schema, depth, 0) {
                // A level without anything has nothing below it either.
                Ok((all, _)) if cost.steps.last() == Some(&all) => {
                    cost.ends = true;
                    break;
                }
                Ok((all, _)) if all <= WORK => cost.steps.push(all),
                // What is deeper cannot be checked; what is plain can.
                Ok(_) | Err(Bad::Deep) if depth > PLAIN => break,
                Ok(_) => return Err(Bad::Deep.words()),
                Err(bad) => return Err(bad.words()),
            }
        }
        match cost.at(PLAIN) {
            Some(plain) if plain <= STEPS => Ok(cost),
            _ => Err(Bad::Deep.words()),
        }
    }

    fn at(&self, depth: usize) -> Option<u64> {
        let last = || self.steps.last().filter(|_| self.ends);
        self.steps.get(depth).or_else(last).copied()
    }

    /// Whether these arguments can be checked in a moment.
    pub(super) fn allows(&self, arguments: &Value) -> bool {
        let (depth, values) = extent(arguments);
        self.at(depth).is_some_and(|steps| steps.saturating_mul(values) <= WORK)
    }
}

/// Levels and values.
fn extent(value: &Value) -> (usize, u64) {
    let of = |members: &mut dyn Iterator<Item = &Value>| {
        let (depth, values) = members.map(extent).fold((0, 1), |(a, b), (c, d)| (a.max(c), b + d));
        (depth + 1, values)
    };
    match value {
        Value::Array(items) => of(&mut items.iter()),
        Value::Object(members) => of(&mut members.values()),
        _ => (0, 1),
    }
}

enum Bad {
    Deep,
    Circle,
    Elsewhere,
}

impl Bad {
    fn words(&self) -> String {
        match self {
            Self::Deep => format!("its schema takes more than {STEPS} steps to check, references followed"),
            Self::Circle => "its schema leads back to itself before it says anything".to_owned(),
            Self::Elsewhere => "its schema refers to something that is not in it".to_owned(),
        }
    }
}

/// Schemas are told apart by where they are.
type At = (*const Value, usize);

struct Count<'a> {
    root: &'a Value,
    /// Steps and levels of what was counted.
    known: HashMap<At, (u64, usize)>,
    open: HashSet<At>,
}

impl Count<'_> {
    fn steps(&mut self, schema: &Value, depth: usize, level: usize) -> Result<(u64, usize), Bad> {
        let Value::Object(members) = schema else { return Ok((1, 1)) };
        let at = (std::ptr::from_ref(schema), depth);
        if let Some(known) = self.known.get(&at) {
            return if level + known.1 > LEVELS { Err(Bad::Deep) } else { Ok(*known) };
        }
        if level > LEVELS {
            return Err(Bad::Deep);
        }
        if !self.open.insert(at) {
            return Err(Bad::Circle);
        }
        let (mut steps, mut levels) = (1_u64, 0);
        for (next, depth) in self.members(schema, members, depth)? {
            let (more, deeper) = self.steps(next, depth, level + 1)?;
            steps = steps.saturating_add(more);
            levels = levels.max(deeper);
        }
        self.open.remove(&at);
        self.known.insert(at, (steps, levels + 1));
        Ok((steps, levels + 1))
    }
}

impl<'a> Count<'a> {
    /// The schemas that are checked with this one, each with what is left of the depth.
    fn members<'b>(
        &self,
        schema: &Value,
        members: &'b Map<String, Value>,
        depth: usize,
    ) -> Result<Vec<(&'b Value, usize)>, Bad>
    where
        'a: 'b,
    {
        let moves = MOVING.iter().any(|name| members.contains_key(*name));
        let is_root = std::ptr::eq(schema, self.root);
        // Another base for the references below it.
        let is_base = !is_root && ["$id", "id"].iter().any(|n| members.get(*n).is_some_and(Value::is_string));
        if moves || is_base {
            return Err(Bad::Elsewhere);
        }
        let mut found: Vec<(&'b Value, usize)> =
            under(members, HERE_ONE, HERE_LIST, HERE_MAP).map(|s| (s, depth)).collect();
        if let Some(Value::String(reference)) = members.get("$ref") {
            found.push((self.target(reference).ok_or(Bad::Elsewhere)?, depth));
        }
        if let Some(left) = depth.checked_sub(1) {
            found.extend(under(members, BELOW_ONE, BELOW_LIST, BELOW_MAP).map(|schema| (schema, left)));
        }
        Ok(found)
    }

    fn target(&self, reference: &str) -> Option<&'a Value> {
        let pointer = percent_decode_str(reference.strip_prefix('#')?).decode_utf8().ok()?;
        self.root.pointer(&pointer)
    }
}

fn under<'b>(
    members: &'b Map<String, Value>,
    one: &'static [&str],
    list: &'static [&str],
    map: &'static [&str],
) -> impl Iterator<Item = &'b Value> {
    let values = move |names: &'static [&str]| names.iter().filter_map(move |name| members.get(*name));
    let ones = values(one).filter(|schema| schema.is_object());
    let lists = values(list).filter_map(Value::as_array).flatten();
    let maps = values(map).filter_map(Value::as_object).flat_map(Map::values);
    ones.chain(lists).chain(maps)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn chain(length: usize, link: impl Fn(Value) -> Value) -> Value {
        let name = |n: usize| json!({"$ref": format!("#/$defs/d{n}")});
        let mut all: Map<String, Value> = (0..length).map(|n| (format!("d{n}"), link(name(n + 1)))).collect();
        all.insert(format!("d{length}"), json!({"type": "string"}));
        json!({"type": "object", "properties": {"x": name(0)}, "$defs": all})
    }

    #[test]
    fn what_unfolds_without_end_is_refused_and_what_nests_is_counted_by_its_depth() {
        let twice = |next: Value| json!({"allOf": [next.clone(), next]});
        let tree = json!({"type": "object", "properties": {"v": {"type": "string"},
            "kids": {"type": "array", "items": {"$ref": "#"}}}});
        let union = json!({"$ref": "#/$defs/e", "$defs": {"e": {"oneOf": [
            {"properties": {"a": {"items": {"$ref": "#/$defs/e"}}}}, {"properties": {"b": {"$ref": "#/$defs/e"}}}]}}});
        for (schema, refused) in [
            (chain(10, twice), None),
            (chain(40, twice), Some("steps")),
            (chain(60, |next| json!({"anyOf": [{"properties": {"x": next}}, next]})), Some("steps")),
            (chain(300, |next| next), None),
            (chain(3_000, |next| next), Some("steps")),
            (json!({"$ref": "#"}), Some("back to itself")),
            (
                json!({"$ref": "#/$defs/a", "$defs": {"a": {"not": {"$ref": "#/$defs/a"}}}}),
                Some("back to itself"),
            ),
            (json!({"$ref": "https://example.com/schema"}), Some("not in it")),
            (json!({"$ref": "#/$defs/none"}), Some("not in it")),
            (json!({"properties": {"x": {"$dynamicRef": "#x"}}}), Some("not in it")),
            (json!({"properties": {"x": {"$id": "y", "$ref": "#/z"}}}), Some("not in it")),
            (json!({"properties": {"$ref": {"type": "string"}, "$id": {"type": "string"}}}), None),
            (json!({"$ref": "#/$defs/a%20b", "$defs": {"a b": true}}), None),
            (tree, None),
            (union, None),
        ] {
            match (Cost::of(&schema), refused) {
                (Ok(_), None) => {}
                (Err(problem), Some(word)) => assert!(problem.contains(word), "{problem}: {schema}"),
                (other, _) => panic!("{other:?}: {schema}"),
            }
        }
    }

    #[test]
    fn arguments_that_would_take_too_long_are_refused_by_their_depth_and_number() {
        let doubling =
            json!({"properties": {"x": {"$ref": "#"}}, "allOf": [{"properties": {"x": {"$ref": "#"}}}]});
        let cost = Cost::of(&doubling).unwrap();
        let around = |inner: Value, levels: usize| (0..levels).fold(inner, |inner, _| json!({ "x": inner }));
        let nested = |levels: usize| around(json!(1), levels);
        assert!(cost.allows(&nested(10)) && !cost.allows(&nested(40)) && !cost.allows(&nested(200)));
        let list =
            Cost::of(&json!({"properties": {"x": {"type": "array", "items": {"type": "number"}}}})).unwrap();
        assert!(list.allows(&json!({"x": vec![1; 100_000]})));
        assert!(!cost.allows(&around(json!(vec![1; 100_000]), 9)));
    }
}
