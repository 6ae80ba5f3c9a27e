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
    while let Some(at) = mark(rest) {
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
            Piece::Shell(quotable(with_args(inner))?)
        });
        rest = body.get(end + 1..).unwrap_or_default();
    }
    push(&mut pieces, rest);
    Ok(pieces)
}

/// Where the next place begins. Looks at nothing twice.
fn mark(text: &str) -> Option<usize> {
    let is_mark = |at: &usize| ["!{", "@{", ARGS].iter().any(|mark| text[*at..].starts_with(mark));
    text.match_indices(['!', '@', '{']).map(|(at, _)| at).find(is_mark)
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

/// The arguments are put in as one quoted word, so they must stand where a quote begins one: not in quotes, not behind
/// what gives a quote another meaning, not in a comment or where quotes mean nothing.
fn quotable(pieces: Vec<Piece>) -> Result<Vec<Piece>, String> {
    let texts =
        || pieces.iter().filter_map(|piece| if let Piece::Text(text) = piece { Some(text) } else { None });
    let odd = ["`", "<<", "(("].into_iter().find(|odd| texts().any(|text| text.contains(odd)));
    if let Some(odd) = odd.filter(|_| takes_args(&pieces)) {
        return Err(format!("{ARGS} cannot be quoted in a command with {odd}; write it another way"));
    }
    let mut shell = Shell::Plain { before: ' ' };
    for piece in &pieces {
        match piece {
            Piece::Text(text) => shell = text.chars().fold(shell, Shell::next),
            _ if shell.begins_a_word() => shell = Shell::Plain { before: '\'' },
            _ => {
                return Err(format!(
                    "{ARGS} is quoted already where it stands in !{{}}; take it out of quotes and comments"
                ));
            }
        }
    }
    Ok(pieces)
}

/// What a shell would make of the next character.
#[derive(Clone, Copy)]
enum Shell {
    Plain { before: char },
    Escaped,
    Single,
    Double,
    DoubleEscaped,
    Comment,
}

impl Shell {
    fn next(self, character: char) -> Self {
        match (self, character) {
            (Self::Plain { before }, '#') if before.is_whitespace() || ";&|(".contains(before) => {
                Self::Comment
            }
            (Self::Plain { .. }, '\\') => Self::Escaped,
            (Self::Plain { .. }, '\'') => Self::Single,
            (Self::Plain { .. }, '"') | (Self::DoubleEscaped, _) => Self::Double,
            (Self::Single, '\'') | (Self::Double, '"') => Self::Plain { before: character },
            (Self::Double, '\\') => Self::DoubleEscaped,
            (Self::Comment, '\n') | (Self::Plain { .. } | Self::Escaped, _) => {
                Self::Plain { before: character }
            }
            (same @ (Self::Single | Self::Double | Self::Comment), _) => same,
        }
    }

    fn begins_a_word(self) -> bool {
        matches!(self, Self::Plain { before } if before != '$')
    }
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

/// Commands and files.
pub(super) fn places(pieces: &[Piece]) -> usize {
    pieces.iter().filter(|piece| matches!(piece, Piece::Shell(_) | Piece::File(_))).count()
}

/// The whole prompt. `put_in` gives what stands for each command and file, in their order. None if it is larger than
/// so many bytes.
pub(super) fn filled(
    pieces: &[Piece],
    args: &str,
    mut put_in: impl Iterator<Item = String>,
    most: usize,
) -> Option<String> {
    let mut prompt = String::new();
    for piece in pieces {
        match piece {
            Piece::Text(text) => prompt.push_str(text),
            Piece::Args => prompt.push_str(args),
            Piece::Shell(_) | Piece::File(_) => prompt.push_str(&put_in.next().unwrap_or_default()),
        }
        if prompt.len() > most {
            return None;
        }
    }
    Some(prompt)
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
        let put_in = || ["!{ls}".to_owned(), "{{args}}".to_owned()].into_iter();
        let prompt = filled(&pieces, "z", put_in(), 100).unwrap();
        assert_eq!(prompt, "Look at z: !{ls} and {{args}}.", "what is put in is not read again");
        assert_eq!(filled(&pieces, "z", put_in(), prompt.len() - 1), None);
        assert!(takes_args(&pieces) && takes_args(&parse("!{a {{args}}}").unwrap()));
    }

    #[test]
    fn what_does_not_close_is_refused() {
        for (prompt, problem) in [("!{ls", "!{ has no closing brace"), ("a @{ } b", "@{} is empty")] {
            assert_eq!(parse(prompt).unwrap_err(), problem);
        }
        assert_eq!(parse("a ! { b").unwrap(), [Piece::Text("a ! { b".to_owned())]);
    }

    #[test]
    fn arguments_stand_only_where_a_quote_quotes() {
        for (command, good) in [
            ("echo {{args}}", true),
            ("echo 'a' \"b\" {{args}} 'c'", true),
            ("echo a#b {{args}} it\\'s", true),
            ("echo # no\n echo {{args}}", true),
            ("echo --at={{args}}", true),
            ("cat <<E\nE", true),
            ("echo '{{args}}'", false),
            ("echo \"{{args}}\"", false),
            ("echo \"\\\"{{args}}\"", false),
            ("echo \\{{args}}", false),
            ("echo ${{args}}", false),
            ("echo x # {{args}}", false),
            ("cat <<E\n{{args}}\nE", false),
            ("echo `echo {{args}}`", false),
            ("echo $(({{args}}))", false),
        ] {
            let parsed = parse(&format!("!{{{command}}}"));
            assert_eq!(parsed.is_ok(), good, "{command}: {parsed:?}");
        }
    }

    #[test]
    fn a_large_prompt_is_read_in_a_moment() {
        let began = std::time::Instant::now();
        assert_eq!(parse(&"{{args}}".repeat(8_000)).unwrap().len(), 8_000);
        assert_eq!(parse(&"{".repeat(64 * 1024)).unwrap().len(), 1);
        assert!(began.elapsed() < std::time::Duration::from_secs(2), "{:?}", began.elapsed());
    }
}
