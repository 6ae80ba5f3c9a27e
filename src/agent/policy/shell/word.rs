//! Words that mean what they say, to every shell. Must not know the grammar; `walk` calls it with the text of a
//! node.

use super::{Why, Word};

/// Where a piece stands in its word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Literal {
    /// It is the word, or begins it.
    Whole,
    /// Something stands before it.
    Rest,
}

/// How a program may be called: no quotes, no escapes, nothing that expands, nothing that only looks like ASCII.
pub(super) fn is_name(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-+./".contains(c);
    text.starts_with(|c: char| c.is_ascii_alphanumeric() || "_./".contains(c)) && text.chars().all(plain)
}

/// A word without quotes. A `~` counts as text only behind a letter or digit, as in `HEAD~1`; a leading `=` is a
/// path to zsh.
pub(super) fn bare(text: &str, at: Literal) -> Result<Word, Why> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-+./:=@%,~".contains(c);
    let mut before = None;
    let tilde = text.chars().any(|c| {
        let expands = c == '~' && !before.is_some_and(|b: char| b.is_ascii_alphanumeric());
        before = Some(c);
        expands
    });
    let expands = tilde || at == Literal::Whole && text.starts_with('=');
    literal(text, !expands && text.chars().all(plain))
}

/// `'..'`, with its quotes.
pub(super) fn single_quoted(text: &str) -> Result<Word, Why> {
    let inner = text.strip_prefix('\'').and_then(|t| t.strip_suffix('\'')).ok_or(Why::Word)?;
    literal(inner, inner.chars().all(|c| c != '\'' && is_readable(c)))
}

/// `".."`, with its quotes: nothing in it that a shell would look at.
pub(super) fn double_quoted(text: &str) -> Result<Word, Why> {
    let inner = text.strip_prefix('"').and_then(|t| t.strip_suffix('"')).ok_or(Why::Word)?;
    literal(inner, inner.chars().all(|c| !"\"$`\\".contains(c) && is_readable(c)))
}

/// Letters of any script, but no blanks, marks or directions that are not seen.
fn is_readable(c: char) -> bool {
    c == ' ' || c.is_ascii_graphic() || c.is_alphanumeric()
}

fn literal(text: &str, is_plain: bool) -> Result<Word, Why> {
    if is_plain { Ok(Word::Literal(text.to_owned())) } else { Err(Why::Word) }
}
