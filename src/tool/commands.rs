//! The user's own slash commands: TOML files in a directory of the operator and in `.gemini/commands` of a workspace that
//! is trusted. Only reads them; what they mean is the agent's business. Blocks, shortly.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::sandbox::{FoundKind, Workspace};

const DIRECTORY: &str = ".gemini/commands";
const ENDING: &str = "toml";
/// Of one file, in bytes.
const LARGEST: u64 = 64 * 1024;
/// Of all, in files.
const MOST: usize = 200;
/// Directories below each other.
const DEEPEST: usize = 8;
/// Of one part of a name, in characters.
const LONGEST: usize = 50;

/// The text of each, by its name. The workspace's own stand before those of the operator.
pub(super) fn commands(user: Option<&Path>, workspace: Option<&Workspace>) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    if let Some(workspace) = workspace {
        of_workspace(workspace, Path::new(DIRECTORY), DEEPEST, &mut found);
    }
    if let Some(user) = user {
        of_user(user, user, DEEPEST, &mut found);
    }
    found
}

fn of_workspace(workspace: &Workspace, at: &Path, deeper: usize, found: &mut BTreeMap<String, String>) {
    let Ok(mut entries) = workspace.list(at) else { return };
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    for entry in entries {
        match entry.kind {
            FoundKind::Directory if deeper > 0 => of_workspace(workspace, &entry.path, deeper - 1, found),
            FoundKind::File => {
                let Some(name) = entry.path.strip_prefix(DIRECTORY).ok().and_then(name) else { continue };
                let text = workspace.read(&entry.path, LARGEST).ok().and_then(|b| String::from_utf8(b).ok());
                keep(found, name, text);
            }
            _ => {}
        }
    }
}

/// The operator's directory is believed, symlinks in it are not followed all the same.
fn of_user(top: &Path, at: &Path, deeper: usize, found: &mut BTreeMap<String, String>) {
    let Ok(entries) = std::fs::read_dir(at) else { return };
    let mut paths: Vec<PathBuf> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let Ok(metadata) = path.symlink_metadata() else { continue };
        if metadata.is_dir() && deeper > 0 {
            of_user(top, &path, deeper - 1, found);
        } else if metadata.is_file() && metadata.len() <= LARGEST {
            let Some(name) = path.strip_prefix(top).ok().and_then(name) else { continue };
            keep(found, name, std::fs::read_to_string(&path).ok());
        }
    }
}

fn keep(found: &mut BTreeMap<String, String>, name: String, text: Option<String>) {
    if found.len() < MOST
        && let Some(text) = text
    {
        found.entry(name).or_insert(text);
    }
}

/// `git/commit.toml` is `git:commit`.
fn name(path: &Path) -> Option<String> {
    if path.extension()? != ENDING {
        return None;
    }
    let part = |part: &std::ffi::OsStr| {
        let plain = |c: char| if c.is_ascii_alphanumeric() || "_.-".contains(c) { c } else { '_' };
        part.to_string_lossy().chars().take(LONGEST).map(plain).collect::<String>()
    };
    let bare = path.with_extension("");
    let parts: Vec<String> = bare.iter().map(part).collect();
    parts.iter().all(|part| !part.is_empty()).then(|| parts.join(":"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_the_path_without_its_ending() {
        for (path, expected) in [
            ("a.toml", Some("a")),
            ("git/commit.toml", Some("git:commit")),
            ("x/y z.toml", Some("x:y_z")),
            ("a.md", None),
            ("a", None),
        ] {
            assert_eq!(name(Path::new(path)).as_deref(), expected, "{path}");
        }
    }
}
