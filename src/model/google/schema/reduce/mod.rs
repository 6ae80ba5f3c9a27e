//! JSON schema as Gemini's own dialect can say it. References are put in place of what they name, kinds become one, and
//! what cannot be said goes into the description or away, and is told. Pure.

mod merge;
mod reference;
mod single;
mod union;
mod values;

use super::losses::Losses;
use super::tree::{Object, Tree};

const DEEPEST: usize = 40;

/// How much may be written twice, in all schemas of a request: references may name the same thing again and again.
pub(super) struct Allowance(usize);

impl Default for Allowance {
    fn default() -> Self {
        Self(100_000)
    }
}

impl Allowance {
    /// False if it is used up.
    fn take(&mut self, weight: usize) -> bool {
        let left = self.0.checked_sub(weight);
        self.0 = left.unwrap_or_default();
        left.is_some()
    }
}

pub(super) struct Reducer<'a, 'l> {
    root: &'a Tree,
    losses: &'a mut Losses<'l>,
    /// References that are being followed.
    following: Vec<String>,
    left: &'a mut Allowance,
    depth: usize,
}

impl<'a, 'l> Reducer<'a, 'l> {
    pub(super) fn new(root: &'a Tree, losses: &'a mut Losses<'l>, left: &'a mut Allowance) -> Self {
        Self { root, losses, following: Vec::new(), left, depth: 0 }
    }

    pub(super) fn reduced(mut self) -> Object {
        let mut root = self.root.clone().into_object();
        // They are reached through references.
        root.0.retain(|(name, _)| !matches!(name.as_str(), "$defs" | "definitions"));
        self.schema(root)
    }

    /// The schema at a member of the one at hand.
    fn within(&mut self, step: &str, schema: Tree) -> Object {
        let mark = self.losses.enter(step);
        let reduced = match &schema {
            Tree::Bool(false) => {
                self.losses.dropped("", "nothing at all cannot be asked for");
                Object::default().with("type", "STRING")
            }
            _ => self.schema(schema.into_object()),
        };
        self.losses.leave(mark);
        reduced
    }

    fn schema(&mut self, node: Object) -> Object {
        if self.depth == DEEPEST {
            self.losses.dropped("", "the schema is too deep; any object is asked for");
            return Object::default().with("type", "OBJECT");
        }
        self.depth += 1;
        let before = self.following.len();
        let node = self.resolved(node);
        let reduced = self.flat(node);
        self.following.truncate(before);
        self.depth -= 1;
        reduced
    }

    /// Without references and unions.
    fn flat(&mut self, mut node: Object) -> Object {
        let mut nullable = node.take("nullable") == Some(Tree::Bool(true));
        self.constant(&mut node);
        let kinds = self.kinds(&mut node, &mut nullable);
        let branches = self.branches(&mut node, &mut nullable);
        if !branches.is_empty() {
            if let [kind] = kinds.as_slice() {
                node.set("type", *kind);
            }
            return self.union(node, branches, nullable);
        }
        match kinds.as_slice() {
            [_, _, ..] => {
                let each = kinds.iter().map(|kind| Object::default().with("type", *kind).into()).collect();
                self.union(node, each, nullable)
            }
            kinds => self.single(node, kinds.first().copied(), nullable),
        }
    }
}
