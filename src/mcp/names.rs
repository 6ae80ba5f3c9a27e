//! Names of tools as the model calls them: `mcp_<server>_<tool>`, in characters that every model takes, 63 of them at the
//! most. Pure. A name depends on the tool alone and on its siblings of the same server, never on an order or on another
//! server: what a user allowed for ever cannot come to mean something else.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

pub(super) const PREFIX: &str = "mcp_";
const LONGEST: usize = 63;
const MARK: usize = 8;

/// Full names for the tools of a server, in their order. None for one that was named before.
pub(super) fn full(server: &str, tools: &[&str]) -> Vec<Option<String>> {
    let plain: Vec<String> = tools.iter().map(|tool| format!("{PREFIX}{server}_{}", cleaned(tool))).collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut seen = std::collections::BTreeSet::new();
    let first: Vec<bool> = tools.iter().map(|tool| seen.insert(*tool)).collect();
    for (name, _) in plain.iter().zip(&first).filter(|(_, first)| **first) {
        *counts.entry(name).or_default() += 1;
    }
    let name = |at: usize| {
        let (name, tool) = (&plain[at], tools[at]);
        // Of several with one name, the one whose own name it is keeps it.
        let is_shared = counts.get(name.as_str()).is_some_and(|count| *count > 1) && cleaned(tool) != tool;
        match is_shared || name.len() > LONGEST {
            true => marked(name, tool),
            false => name.clone(),
        }
    };
    (0..tools.len()).map(|at| first[at].then(|| name(at))).collect()
}

fn cleaned(tool: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    tool.chars().map(|c| if fits(c) { c } else { '_' }).collect()
}

/// Cut, and told apart by what it stands for.
fn marked(name: &str, tool: &str) -> String {
    let digest = Sha256::digest(tool.as_bytes());
    let mark: String = digest.iter().take(MARK / 2).map(|byte| format!("{byte:02x}")).collect();
    let kept = name.len().min(LONGEST - MARK - 1);
    format!("{}_{mark}", &name[..kept])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_carry_their_server_and_stay_apart() {
        let long = "x".repeat(90);
        let other = format!("{}y", "x".repeat(90));
        let tools = ["echo", "a b", "a_b", "a.b", "echo", "", "ünï", &long, &other];
        let names = full("hub", &tools);
        assert_eq!(names[0].as_deref(), Some("mcp_hub_echo"));
        assert_eq!(names[2].as_deref(), Some("mcp_hub_a_b"), "keeps the name that it has");
        assert_eq!(names[4], None, "named before");
        let kept: Vec<&String> = names.iter().flatten().collect();
        let distinct: std::collections::BTreeSet<_> = kept.iter().collect();
        assert_eq!(kept.len(), distinct.len(), "{names:?}");
        assert!(names[1].as_deref().is_some_and(|name| name.starts_with("mcp_hub_a_b_")));
    }

    proptest! {
        #[test]
        fn every_name_is_valid_and_no_order_matters(mut tools in proptest::collection::vec(".{0,80}", 0..12)) {
            let named = |tools: &[String]| {
                let texts: Vec<&str> = tools.iter().map(String::as_str).collect();
                let names = full("a-1", &texts);
                tools.iter().cloned().zip(names).filter_map(|(t, n)| Some((t, n?))).collect::<BTreeMap<_, _>>()
            };
            let before = named(&tools);
            for name in before.values() {
                prop_assert!(name.len() <= LONGEST && name.starts_with("mcp_a-1_"));
                prop_assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-'));
            }
            let distinct: std::collections::BTreeSet<_> = before.values().collect();
            prop_assert_eq!(distinct.len(), before.len());
            tools.reverse();
            prop_assert_eq!(named(&tools), before);
        }
    }
}
