//! The prompt of a user's own command: text with places for the arguments, the output of commands and the content of
//! files. Read once, so that nothing that is put in is read again. Pure.

/// A piece of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    Args,
    /// `!{...}`: what a command prints. The arguments in it are quoted.
    Shell(Vec<Piece>),
    /// `@{...}`: a file.
    File(String),
}

const ARGS: &str = "{{args}}";

/// The pieces, or what is wrong.
pub(super) fn parse(prompt: &str) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    let mut rest = prompt;
    while let Some(at) = ["!{", "@{", ARGS].iter().filter_map(|mark| rest.find(mark)).min() {
        push(&mut pieces, rest.get(..at).unwrap_or_default());
        let here = rest.get(at..).unwrap_or_default();
        if let Some(behind) = here.strip_prefix(ARGS) {
            pieces.push(Piece::Args);
            rest = behind;
            continue;
        }
        let (mark, body) = here.split_at(2);
        let end = closing(body).ok_or_else(|| format!("{mark} has no closing brace"))?;
        let inner = body.get(..end).unwrap_or_default().trim();
        if inner.is_empty() {
            return Err(format!("{mark}}} is empty"));
        }
        pieces.push(if mark == "@{" {
            Piece::File(inner.to_owned())
        } else {
            Piece::Shell(with_args(inner))
        });
        rest = body.get(end + 1..).unwrap_or_default();
    }
    push(&mut pieces, rest);
    Ok(pieces)
}

fn push(pieces: &mut Vec<Piece>, text: &str) {
    if !text.is_empty() {
        pieces.push(Piece::Text(text.to_owned()));
    }
}

fn with_args(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for (index, part) in text.split(ARGS).enumerate() {
        if index > 0 {
            pieces.push(Piece::Args);
        }
        push(&mut pieces, part);
    }
    pieces
}

/// Where the brace closes that stands open; braces within it are balanced.
fn closing(text: &str) -> Option<usize> {
    let mut open = 1usize;
    for (at, character) in text.char_indices() {
        match character {
            '{' => open += 1,
            '}' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return Some(at);
        }
    }
    None
}

/// A command with the arguments in it, as one word of the shell that stands for nothing else.
pub(super) fn command(pieces: &[Piece], args: &str) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Text(text) => text.clone(),
        Piece::Args => quoted(args),
        Piece::Shell(_) | Piece::File(_) => String::new(),
    };
    pieces.iter().map(piece).collect()
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Whether the arguments have a place of their own.
pub(super) fn takes_args(pieces: &[Piece]) -> bool {
    pieces.iter().any(|piece| match piece {
        Piece::Args => true,
        Piece::Shell(inner) => takes_args(inner),
        Piece::Text(_) | Piece::File(_) => false,
    })
}

/// The whole prompt. `put_in` gives what stands for each command and file, in their order.
pub(super) fn filled(pieces: &[Piece], args: &str, mut put_in: impl Iterator<Item = String>) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Text(text) => text.clone(),
        Piece::Args => args.to_owned(),
        Piece::Shell(_) | Piece::File(_) => put_in.next().unwrap_or_default(),
    };
    pieces.iter().map(piece).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_one_quoted_word_in_a_command_and_plain_elsewhere() {
        let pieces =
            parse("Look at {{args}}: !{grep -- {{args}} a | awk '{print $1}'} and @{b.txt}.").unwrap();
        let Some(Piece::Shell(inner)) = pieces.iter().find(|piece| matches!(piece, Piece::Shell(_))) else {
            panic!("{pieces:?}")
        };
        assert_eq!(command(inner, "x'; rm -rf y"), r"grep -- 'x'\''; rm -rf y' a | awk '{print $1}'");
        let prompt = filled(&pieces, "z", ["!{ls}".to_owned(), "{{args}}".to_owned()].into_iter());
        assert_eq!(prompt, "Look at z: !{ls} and {{args}}.", "what is put in is not read again");
        assert!(takes_args(&pieces) && takes_args(&parse("!{a {{args}}}").unwrap()));
    }

    #[test]
    fn what_does_not_close_is_refused() {
        for (prompt, problem) in [("!{ls", "!{ has no closing brace"), ("a @{ } b", "@{} is empty")] {
            assert_eq!(parse(prompt).unwrap_err(), problem);
        }
        assert_eq!(parse("a ! { b").unwrap(), [Piece::Text("a ! { b".to_owned())]);
    }
}
