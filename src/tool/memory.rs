//! What the files of a workspace tell every model: GEMINI.md and AGENTS.md, of the workspace and of the directories
//! above it up to the root of its repository. Only where the operator trusts the directory: such a file is as good as
//! a prompt. Blocks, shortly.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::sandbox::Root;

const NAMES: &[&str] = &["GEMINI.md", "AGENTS.md"];
/// Longer ones are not instructions, and cost with every request.
const LIMIT: u64 = 128 * 1024;

/// By absolute path.
pub(super) fn memory(root: &Root, workspace: &Path, trusted: &[PathBuf]) -> BTreeMap<String, String> {
    let Ok(below) = workspace.strip_prefix(root.path()) else { return BTreeMap::new() };
    let mut found = BTreeMap::new();
    for directory in directories(root, below).filter(|at| is_trusted(&root.path().join(at), trusted)) {
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

/// It, or a directory that it lies in.
pub(super) fn is_trusted(directory: &Path, trusted: &[PathBuf]) -> bool {
    trusted.iter().any(|path| directory.starts_with(path))
}
