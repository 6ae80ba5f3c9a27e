//! What the files of a workspace tell every model: GEMINI.md and AGENTS.md, of the workspace and of the directories
//! above it up to the root of its repository. Only where the operator trusts the directory: such a file is as good as
//! a prompt. Blocks, shortly.

use std::collections::BTreeMap;
use std::path::Path;

use crate::sandbox::{Root, Trusted};

const NAMES: &[&str] = &["GEMINI.md", "AGENTS.md"];
/// Longer ones are not instructions, and cost with every request.
const LIMIT: u64 = 128 * 1024;

/// By absolute path.
pub(super) fn memory(root: &Root, workspace: &Path, trusted: &Trusted) -> BTreeMap<String, String> {
    let Ok(below) = workspace.strip_prefix(root.path()) else { return BTreeMap::new() };
    let mut found = BTreeMap::new();
    for directory in directories(root, below).filter(|at| trusted.holds(&root.path().join(at))) {
        for name in NAMES {
            if let Some(text) = root.text(directory, name, LIMIT).filter(|text| !text.trim().is_empty()) {
                found.insert(root.path().join(directory).join(name).to_string_lossy().into_owned(), text);
            }
        }
    }
    found
}

/// The workspace and what lies above it in the same repository, never above the root.
fn directories<'a>(root: &Root, below: &'a Path) -> impl Iterator<Item = &'a Path> {
    let top = below.ancestors().position(|at| root.holds(at, ".git")).unwrap_or(0);
    below.ancestors().take(top + 1)
}
