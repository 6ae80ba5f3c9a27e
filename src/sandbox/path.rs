//! What a path means that a model or a client wrote. Pure: it is only read here, and every access goes through the
//! handle of the workspace, which holds against symlinks and races too.

use std::path::{Component, Path, PathBuf};

/// Relative to the workspace, with nothing but names in it; empty for the workspace itself. The error says why not.
pub(super) fn inside(given: &str, workspace: &[PathBuf]) -> Result<PathBuf, &'static str> {
    if given.trim().is_empty() {
        return Err("is empty");
    }
    if given.contains('\0') {
        return Err("holds a NUL");
    }
    if is_url(given) {
        return Err("is a URL; write a plain path");
    }
    if given == "~" || given.starts_with("~/") {
        return Err("begins at a home directory; write it from the workspace");
    }
    let path = Path::new(given);
    // Before the prefix is taken off: `/workspace/../etc` begins like the workspace and is not in it.
    if path.components().any(|part| part == Component::ParentDir) {
        return Err("holds `..`; write it without");
    }
    let path = match path.is_absolute() {
        true => workspace.iter().find_map(|root| path.strip_prefix(root).ok()).ok_or("lies outside")?,
        false => path,
    };
    Ok(path.components().filter(|part| matches!(part, Component::Normal(_))).collect())
}

/// `file:///etc/passwd`, `https://...`: what stands before the first `:` is a scheme.
fn is_url(given: &str) -> bool {
    let scheme = given.split_once("://").map(|(scheme, _)| scheme);
    scheme
        .is_some_and(|s| !s.is_empty() && s.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b)))
        || given.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("file:"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_below_the_workspace_are_left() {
        let roots = [PathBuf::from("/root/ws"), PathBuf::from("/alias")];
        for (given, expected) in [
            ("a.txt", Ok("a.txt")),
            ("./a//b/./c", Ok("a/b/c")),
            (".", Ok("")),
            ("/root/ws", Ok("")),
            ("/root/ws/", Ok("")),
            ("/root/ws/a", Ok("a")),
            ("/root//ws/./a", Ok("a")),
            ("/alias/a", Ok("a")),
            ("%2e%2e/a", Ok("%2e%2e/a")),
            ("...", Ok("...")),
            ("a\\..\\b", Ok("a\\..\\b")),
            ("~a", Ok("~a")),
            ("", Err("is empty")),
            ("  ", Err("is empty")),
            ("a\0b", Err("holds a NUL")),
            ("..", Err("holds `..`; write it without")),
            ("a/../b", Err("holds `..`; write it without")),
            ("/root/ws/../etc", Err("holds `..`; write it without")),
            ("/root/wsx/a", Err("lies outside")),
            ("/root", Err("lies outside")),
            ("/etc/passwd", Err("lies outside")),
            ("//etc/passwd", Err("lies outside")),
            ("/proc/self/root/root/ws/a", Err("lies outside")),
            ("file:///root/ws/a", Err("is a URL; write a plain path")),
            ("FILE:/etc/passwd", Err("is a URL; write a plain path")),
            ("https://example.com/a", Err("is a URL; write a plain path")),
            ("~", Err("begins at a home directory; write it from the workspace")),
            ("~/.ssh/id", Err("begins at a home directory; write it from the workspace")),
        ] {
            assert_eq!(inside(given, &roots), expected.map(PathBuf::from), "{given:?}");
        }
    }
}
