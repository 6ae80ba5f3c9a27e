//! One of several: kinds, and schemas of which any may hold.

use super::super::tree::{Object, Tree};
use super::Reducer;
use super::merge::merged;
use super::values::KINDS;

/// They say what the whole is, not what its branches are.
const OF_THE_WHOLE: &[&str] =
    &["title", "default", "examples", "example", "$comment", "$schema", "$id", "$anchor"];

impl Reducer<'_, '_> {
    /// The kinds of values, without null, which is told apart.
    pub(super) fn kinds(&mut self, node: &mut Object, nullable: &mut bool) -> Vec<&'static str> {
        let said = match node.take("type") {
            None => return Vec::new(),
            Some(Tree::List(said)) => said,
            Some(one) => vec![one],
        };
        let mut kinds = Vec::new();
        for one in said.iter().filter_map(Tree::as_text) {
            match KINDS.iter().find(|(name, _)| name.eq_ignore_ascii_case(one)) {
                Some((_, "NULL")) => *nullable = true,
                Some((_, kind)) if !kinds.contains(kind) => kinds.push(*kind),
                Some(_) => {}
                None => self.losses.dropped("type", "there is no such kind of value"),
            }
        }
        if kinds.is_empty() && *nullable && !node.has("anyOf") && !node.has("oneOf") && !node.has("enum") {
            self.losses.altered("type", "nothing but null is asked for as a text that may be null");
            kinds.push("STRING");
        }
        kinds
    }

    /// What may hold, without null and without what holds always.
    pub(super) fn branches(&mut self, node: &mut Object, nullable: &mut bool) -> Vec<Tree> {
        let any = node.take("anyOf").map(Tree::into_list).unwrap_or_default();
        let one = node.take("oneOf").map(Tree::into_list).unwrap_or_default();
        let (name, all) = if any.is_empty() { ("oneOf", one) } else { self.only(one, any) };
        let had = all.len();
        let all: Vec<Tree> = all.into_iter().filter(|branch| !is_null(branch)).collect();
        *nullable |= all.len() < had;
        if name == "oneOf" && all.len() > 1 {
            self.losses.altered(name, "asked for as anyOf");
        }
        let had = all.len();
        let all: Vec<Tree> = all.into_iter().filter(says_something).collect();
        if all.len() < had {
            self.losses.dropped(name, "a branch that takes anything cannot be asked for");
        }
        all
    }

    fn only(&mut self, one: Vec<Tree>, any: Vec<Tree>) -> (&'static str, Vec<Tree>) {
        if !one.is_empty() {
            self.losses.dropped("oneOf", "only one choice can be asked for at a time");
        }
        ("anyOf", any)
    }

    /// What stands beside the branches holds in each of them: Vertex wants a choice to stand alone.
    pub(super) fn union(&mut self, mut node: Object, mut branches: Vec<Tree>, nullable: bool) -> Object {
        if let Some(values) = enumerated(&branches).filter(|_| !node.has("enum")) {
            node.set("enum", values);
            return self.single(node, Some("STRING"), nullable);
        }
        let nullable = |node: Object| if nullable { node.with("nullable", true) } else { node };
        if branches.len() == 1 {
            let branch = branches.remove(0).into_object();
            let node = merged(nullable(node), branch, self.losses);
            return self.again(node);
        }
        for name in OF_THE_WHOLE {
            if node.take(name).is_some() {
                self.losses.ignored(name, "says nothing to a model");
            }
        }
        if !self.left.take(node.weight() * branches.len()) {
            self.losses.dropped("anyOf", "the schemas are too large; what is common to all is asked for");
            return self.single(node, None, false);
        }
        let description = node.take("description");
        let mut all = Vec::new();
        for (at, branch) in branches.into_iter().enumerate() {
            let mut branch = nullable(merged(node.clone(), branch.into_object(), self.losses));
            if let Some(description) = description.clone().filter(|_| !branch.has("description")) {
                branch.set("description", description);
            }
            all.push(self.within(&format!(".anyOf[{at}]"), branch.into()).into());
        }
        Object::default().with("anyOf", Tree::List(all))
    }

    /// A branch may bring references and branches of its own. It stands where it stood.
    fn again(&mut self, node: Object) -> Object {
        self.within("", node.into())
    }
}

fn is_null(branch: &Tree) -> bool {
    let Tree::Object(node) = branch else { return false };
    node.text("type").is_some_and(|kind| kind.eq_ignore_ascii_case("null"))
        || node.get("const") == Some(&Tree::Null)
        || node.get("enum").and_then(Tree::as_list) == Some(&[Tree::Null])
}

fn says_something(branch: &Tree) -> bool {
    let says = |name: &str| !OF_THE_WHOLE.contains(&name) && name != "description";
    branch.as_object().is_some_and(|node| node.0.iter().any(|(name, _)| says(name)))
}

/// Texts of which each branch is one, or several, are one list.
fn enumerated(branches: &[Tree]) -> Option<Vec<Tree>> {
    let mut all = Vec::new();
    for branch in branches {
        let node = branch.as_object()?;
        let known = |name: &str| matches!(name, "const" | "enum" | "type" | "title" | "description");
        if !node.0.iter().all(|(name, _)| known(name)) {
            return None;
        }
        match (node.get("const"), node.get("enum")) {
            (Some(one), None) => all.push(one.clone()),
            (None, Some(Tree::List(some))) => all.extend(some.iter().cloned()),
            _ => return None,
        }
    }
    let texts = branches.len() > 1 && all.iter().all(|value| value.as_text().is_some());
    texts.then_some(all)
}
