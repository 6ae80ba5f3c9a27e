//! An edit as a coloured unified diff.

use similar::TextDiff;

use super::paint::{Ink, Paint};
use super::safe::safe;
use crate::proto::devtool::FileDiff;

/// All of it: nobody should agree to lines that were not shown.
pub fn diff(paint: Paint, edit: &FileDiff) -> String {
    let text = match &edit.formatted_diff {
        Some(formatted) => formatted.clone(),
        None => unified(edit.old_content.as_deref().unwrap_or_default(), &edit.new_content),
    };
    let mut shown = String::new();
    for (at, line) in text.split_inclusive('\n').enumerate() {
        let ink = match line.bytes().next() {
            // A removed line may begin with dashes of its own.
            Some(b'-' | b'+') if at < 2 && (line.starts_with("--- ") || line.starts_with("+++ ")) => {
                Ink::Bold
            }
            Some(b'+') => Ink::Green,
            Some(b'-') => Ink::Red,
            Some(b'@') => Ink::Cyan,
            Some(b'\\') => Ink::Dim,
            _ => Ink::Plain,
        };
        shown.push_str(&paint.ink(ink, &safe(line)));
    }
    if !shown.is_empty() && !text.ends_with('\n') {
        shown.push('\n');
    }
    shown
}

fn unified(old: &str, new: &str) -> String {
    TextDiff::from_lines(old, new).unified_diff().context_radius(3).header("Current", "Proposed").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_the_colour_of_their_sign_and_nothing_else_gets_through() {
        let formatted = "--- Current\n+++ Proposed\n@@ -1,2 +1,2 @@\n same\n--- x\n+\u{1b}[8mhidden\n";
        let edit = FileDiff { formatted_diff: Some(formatted.to_owned()), ..FileDiff::default() };
        assert_eq!(
            diff(Paint(true), &edit),
            "\u{1b}[1m--- Current\u{1b}[0m\n\u{1b}[1m+++ Proposed\u{1b}[0m\n\u{1b}[36m@@ -1,2 +1,2 @@\u{1b}[0m\n same\n\
             \u{1b}[31m--- x\u{1b}[0m\n\u{1b}[32m+␛[8mhidden\u{1b}[0m\n"
        );
    }

    #[test]
    fn without_a_diff_one_is_made() {
        let edit = FileDiff {
            old_content: Some("a\nb\n".to_owned()),
            new_content: "a\nc\n".to_owned(),
            ..FileDiff::default()
        };
        assert_eq!(diff(Paint(false), &edit), "--- Current\n+++ Proposed\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
    }
}
