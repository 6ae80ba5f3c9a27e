//! An edit as people and models read it: the file before and after, and what lies between. Pure.

use std::path::Path;
use std::time::Duration;

use similar::TextDiff;

use crate::proto::devtool::FileDiff;

/// Two large files without anything in common are shown as replaced instead of compared for long.
const PATIENCE: Duration = Duration::from_millis(500);
const FOR_PEOPLE: usize = 3;
const FOR_MODELS: usize = 5;
/// The most of a diff that a model is told; it knows what it asked for.
const TOLD: usize = 8_000;

pub(super) fn file_diff(path: &str, old: Option<String>, new: String) -> FileDiff {
    let formatted = unified(old.as_deref().unwrap_or_default(), &new, FOR_PEOPLE);
    let name = Path::new(path).file_name().unwrap_or_default().to_string_lossy().into_owned();
    FileDiff {
        file_name: name,
        file_path: path.to_owned(),
        old_content: old,
        new_content: new,
        formatted_diff: Some(formatted),
    }
}

/// What the model hears of a file that was written.
pub(super) fn told(edit: &FileDiff, modified: bool) -> String {
    let verb = if edit.old_content.is_some() { "overwrote" } else { "created" };
    let mut told = format!("Successfully {verb} the file {}.", edit.file_path);
    if modified {
        told.push_str(" The user changed the proposed content before agreeing; this is the file now:\n");
        told.push_str(&edit.new_content);
        return told;
    }
    let diff = unified(edit.old_content.as_deref().unwrap_or_default(), &edit.new_content, FOR_MODELS);
    if edit.old_content.is_some() && !diff.is_empty() {
        told.push_str(" What changed:\n");
        match diff.char_indices().nth(TOLD) {
            Some((end, _)) => told.push_str(&format!("{}\n[the diff goes on]", &diff[..end])),
            None => told.push_str(&diff),
        }
    }
    told
}

fn unified(old: &str, new: &str, context: usize) -> String {
    let diff = TextDiff::configure().timeout(PATIENCE).diff_lines(old, new);
    diff.unified_diff().context_radius(context).header("Current", "Proposed").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_holds_the_file_before_and_after() {
        let made = file_diff("/w/src/a.txt", Some("a\nb\n".into()), "a\nc\n".into());
        assert_eq!((made.file_name.as_str(), made.file_path.as_str()), ("a.txt", "/w/src/a.txt"));
        let expected = "--- Current\n+++ Proposed\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n";
        assert_eq!(made.formatted_diff.as_deref(), Some(expected));
        assert!(told(&made, false).ends_with(expected));
        assert!(told(&made, true).ends_with("this is the file now:\na\nc\n"));
        let new = file_diff("/w/n", None, "x".into());
        assert_eq!(told(&new, false), "Successfully created the file /w/n.");
    }
}
