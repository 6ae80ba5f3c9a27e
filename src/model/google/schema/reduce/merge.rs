//! Two schemas that both hold, as one.

use std::collections::{HashMap, HashSet};

use super::super::losses::Losses;
use super::super::tree::{Object, Tree};

/// Of two bounds, the closer one.
const LOWER: &[&str] = &["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"];
const UPPER: &[&str] = &["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"];
const UNIONS: &[&str] = &["anyOf", "oneOf"];

/// Where they speak of the same thing and nothing better is known, `more` counts.
pub(super) fn merged(mut base: Object, more: Object, losses: &mut Losses<'_>) -> Object {
    for (name, value) in more.0 {
        let merged = match base.take(&name) {
            None => value,
            Some(old) => member(&name, old, value, losses),
        };
        base.set(&name, merged);
    }
    base
}

fn member(name: &str, old: Tree, new: Tree, losses: &mut Losses<'_>) -> Tree {
    match name {
        "properties" => properties(old, new),
        "allOf" => [old.into_list(), new.into_list()].concat().into(),
        "required" => together(old.into_list(), new.into_list()),
        "enum" => common(old, new),
        "type" => kind(old, new),
        "description" => described(old, new),
        _ if LOWER.contains(&name) && old.number() > new.number() => old,
        _ if UPPER.contains(&name) && old.number() < new.number() => old,
        _ if UNIONS.contains(&name) => {
            losses.dropped(name, "only one choice can be asked for at a time");
            old
        }
        _ => new,
    }
}

fn properties(old: Tree, new: Tree) -> Tree {
    let mut all = old.into_object();
    let known: HashMap<String, usize> = all.0.iter().map(|(name, _)| name.clone()).zip(0..).collect();
    for (name, schema) in new.into_object().0 {
        match known.get(&name).and_then(|at| all.0.get_mut(*at)) {
            None => all.0.push((name, schema)),
            Some((_, known)) => {
                let both = vec![std::mem::replace(known, Tree::Null), schema];
                *known = Object::default().with("allOf", both).into();
            }
        }
    }
    all.into()
}

/// Names, each once.
fn together(all: Vec<Tree>, more: Vec<Tree>) -> Tree {
    let mut known = HashSet::new();
    let mut is_new = |item: &Tree| item.as_text().is_some_and(|name| known.insert(name.to_owned()));
    all.into_iter().chain(more).filter(|item| is_new(item)).collect::<Vec<_>>().into()
}

/// If nothing is in both, either is as wrong.
fn common(old: Tree, new: Tree) -> Tree {
    let (old, new) = (old.into_list(), new.into_list());
    let both: Vec<Tree> = old.iter().filter(|item| new.contains(item)).cloned().collect();
    if both.is_empty() { new.into() } else { both.into() }
}

fn kind(old: Tree, new: Tree) -> Tree {
    let list = |kind: Tree| if let Tree::List(list) = kind { list } else { vec![kind] };
    let (old, new) = (list(old), list(new));
    let is = |kind: &Tree, name: &str| kind.as_text().is_some_and(|kind| kind.eq_ignore_ascii_case(name));
    let fits = |kind: &Tree, others: &[Tree]| {
        others.iter().any(|other| kind == other || is(kind, "integer") && is(other, "number"))
    };
    let mut both: Vec<Tree> = new.iter().filter(|kind| fits(kind, &old)).cloned().collect();
    both.extend(old.iter().filter(|kind| fits(kind, &new) && !new.contains(kind)).cloned());
    match both.len() {
        0 => new.into_iter().next().unwrap_or(Tree::Null),
        1 => both.remove(0),
        _ => both.into(),
    }
}

fn described(old: Tree, new: Tree) -> Tree {
    match (&old, &new) {
        (Tree::Text(a), Tree::Text(b)) if a != b => Tree::Text(format!("{a} {b}")),
        _ => new,
    }
}
