//! References, and parts that all hold.

use percent_encoding::percent_decode_str;

use super::super::tree::{Object, Tree};
use super::Reducer;
use super::merge::merged;

impl Reducer<'_, '_> {
    /// The node with what it refers to, and without `$ref` and `allOf`.
    pub(super) fn resolved(&mut self, mut node: Object) -> Object {
        // Each round follows one reference, and none is followed twice.
        while let Some(Tree::Text(reference)) = node.take("$ref").or_else(|| node.take("$dynamicRef")) {
            let Some(target) = self.follow(&reference) else {
                if !node.has("type") {
                    node.set("type", "object");
                }
                continue;
            };
            let mut target = target;
            // Whoever refers knows better what it is here.
            if node.has("description") {
                target.take("description");
            }
            node = merged(target, node, self.losses);
        }
        let Some(parts) = node.take("allOf") else { return node };
        for part in parts.into_list() {
            let before = self.following.len();
            let part = self.resolved(part.into_object());
            self.following.truncate(before);
            node = merged(node, part, self.losses);
        }
        node
    }

    fn follow(&mut self, reference: &str) -> Option<Object> {
        if self.following.iter().any(|known| known == reference) {
            self.losses.altered("$ref", "it refers to itself; from here on any object is asked for");
            return None;
        }
        let Some(target) = find(self.root, reference) else {
            self.losses.dropped("$ref", "it leads nowhere in this schema");
            return None;
        };
        if !self.left.take(target.weight()) {
            self.losses.dropped("$ref", "the schemas are too large; any object is asked for");
            return None;
        }
        self.following.push(reference.to_owned());
        let mut target = target.clone().into_object();
        target.0.retain(|(name, _)| !matches!(name.as_str(), "$defs" | "definitions"));
        Some(target)
    }
}

/// By a pointer or by an anchor, in the same schema.
fn find<'t>(root: &'t Tree, reference: &str) -> Option<&'t Tree> {
    let own = root.as_object().and_then(|root| root.text("$id"));
    let fragment = reference.strip_prefix(own.unwrap_or_default()).unwrap_or(reference);
    let fragment = fragment.strip_prefix('#')?;
    let fragment = percent_decode_str(fragment).decode_utf8().ok()?;
    match fragment.strip_prefix('/') {
        None if fragment.is_empty() => Some(root),
        None => anchored(root, &fragment, 0),
        Some(pointer) => pointer.split('/').try_fold(root, step),
    }
}

fn step<'t>(at: &'t Tree, name: &str) -> Option<&'t Tree> {
    match at {
        Tree::Object(members) => members.get(&name.replace("~1", "/").replace("~0", "~")),
        Tree::List(items) => items.get(name.parse::<usize>().ok()?),
        _ => None,
    }
}

fn anchored<'t>(at: &'t Tree, name: &str, depth: usize) -> Option<&'t Tree> {
    if depth > 128 {
        return None;
    }
    match at {
        Tree::Object(members) => {
            let is_it = |keyword| members.text(keyword) == Some(name);
            if is_it("$anchor") || is_it("$dynamicAnchor") || members.text("$id") == Some(&format!("#{name}"))
            {
                return Some(at);
            }
            members.0.iter().find_map(|(_, value)| anchored(value, name, depth + 1))
        }
        Tree::List(items) => items.iter().find_map(|item| anchored(item, name, depth + 1)),
        _ => None,
    }
}
