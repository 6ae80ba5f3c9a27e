//! Patterns of words: `a|b` one of these, `[a|b]` perhaps one of these, `{name}` some words, `<name>` one word that looks
//! like what it is called. Knows nothing of what the words mean.

/// What stood in the slots of a pattern.
#[derive(Debug, Default)]
pub(super) struct Slots<'a>(Vec<(&'static str, &'a str)>);

impl<'a> Slots<'a> {
    pub(super) fn get(&self, name: &str) -> Option<&'a str> {
        self.0.iter().find(|(slot, _)| *slot == name).map(|(_, text)| *text)
    }
}

/// Where a word begins and ends.
pub(super) type Span = (usize, usize);

/// May stand before any request.
const POLITELY: [&str; 3] = ["[please|now|then]", "[can|could|would]", "[you]"];

pub(super) fn words(text: &str) -> Vec<Span> {
    let start = |word: &str| word.as_ptr() as usize - text.as_ptr() as usize;
    text.split_whitespace().map(|word| (start(word), start(word) + word.len())).collect()
}

/// What stands in the slots, if the pattern fits the whole text.
pub(super) fn slots<'a>(pattern: &'static str, text: &'a str, words: &[Span]) -> Option<Slots<'a>> {
    let tokens: Vec<Token> =
        POLITELY.into_iter().chain(["[please]"]).chain(pattern.split_whitespace()).map(Token::of).collect();
    let mut found = Slots::default();
    fits(&tokens, words, text, &mut found).then_some(found)
}

enum Token {
    Word(&'static str),
    Perhaps(&'static str),
    One(&'static str),
    Some(&'static str),
}

impl Token {
    fn of(text: &'static str) -> Self {
        let inside = |open, close| text.strip_prefix(open).and_then(|rest: &str| rest.strip_suffix(close));
        match (inside('[', ']'), inside('<', '>'), inside('{', '}')) {
            (Some(any), ..) => Self::Perhaps(any),
            (_, Some(name), _) => Self::One(name),
            (.., Some(name)) => Self::Some(name),
            _ => Self::Word(text),
        }
    }
}

fn fits<'a>(tokens: &[Token], words: &[Span], text: &'a str, found: &mut Slots<'a>) -> bool {
    let Some((token, tokens)) = tokens.split_first() else { return words.is_empty() };
    match token {
        Token::Word(any) => first_is(words, any, text) && fits(tokens, &words[1..], text, found),
        Token::Perhaps(any) => {
            first_is(words, any, text) && fits(tokens, &words[1..], text, found)
                || fits(tokens, words, text, found)
        }
        Token::One(name) => words.split_first().is_some_and(|((start, end), words)| {
            let word = bare(&text[*start..*end]);
            looks_like(name, word) && fill(name, word, tokens, words, text, found)
        }),
        Token::Some(name) => (1..=words.len()).any(|count| {
            let (start, end) = (words[0].0, words[count - 1].1);
            fill(name, unquoted(&text[start..end]), tokens, &words[count..], text, found)
        }),
    }
}

/// Goes on with the slot filled, and empties it again if that leads nowhere.
fn fill<'a>(
    name: &'static str,
    value: &'a str,
    tokens: &[Token],
    words: &[Span],
    text: &'a str,
    found: &mut Slots<'a>,
) -> bool {
    found.0.push((name, value));
    let fit = fits(tokens, words, text, found);
    if !fit {
        found.0.pop();
    }
    fit
}

fn first_is(words: &[Span], any: &str, text: &str) -> bool {
    let plain = |word: &str| word.trim_end_matches([',', ':', '?', '!', '.']).to_lowercase();
    words.first().is_some_and(|(start, end)| any.split('|').any(|one| one == plain(&text[*start..*end])))
}

/// Without quotes and without what ends a sentence.
fn bare(word: &str) -> &str {
    let inner = word.trim_end_matches(['?', '!', ',', ';', ':']).trim_matches(QUOTES);
    let without_dot = inner.strip_suffix('.').filter(|rest| !rest.is_empty() && !rest.ends_with('.'));
    without_dot.unwrap_or(inner)
}

const QUOTES: [char; 3] = ['"', '\'', '`'];

/// What stands in quotes, or all of it.
fn unquoted(text: &str) -> &str {
    let inside = |quote| text.strip_prefix(quote).and_then(|rest: &str| rest.strip_suffix(quote));
    QUOTES.into_iter().find_map(inside).filter(|inner| !inner.is_empty()).unwrap_or(text)
}

/// What a slot is called, and what a word in it looks like.
type Look = (&'static str, fn(&str) -> bool);

const LOOKS: [Look; 4] = [
    ("file", |word| is_path(word) && !is_url(word) && !is_glob(word) || is_known(word)),
    ("path", |word| is_path(word) && !is_url(word)),
    ("url", is_url),
    ("glob", |word| is_glob(word) || is_path(word) && !is_url(word)),
];

fn looks_like(name: &str, word: &str) -> bool {
    LOOKS.iter().any(|(look, holds)| *look == name && holds(word))
}

fn is_path(word: &str) -> bool {
    word.contains(['.', '/'])
}

fn is_glob(word: &str) -> bool {
    word.contains(['*', '?'])
}

fn is_url(word: &str) -> bool {
    word.starts_with("http://") || word.starts_with("https://")
}

/// Files that have no point in their name.
fn is_known(word: &str) -> bool {
    ["readme", "license", "makefile", "dockerfile", "changelog"].contains(&word.to_lowercase().as_str())
}

/// A regular expression for just this text.
pub(super) fn literally(text: &str) -> String {
    let escaped = |c: char| if r"\.+*?()|[]{}^$".contains(c) { vec!['\\', c] } else { vec![c] };
    text.chars().flat_map(escaped).collect()
}
