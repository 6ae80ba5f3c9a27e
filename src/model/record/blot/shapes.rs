//! What secrets look like that nobody has told the server: keys of well-known services, tokens and private keys. Pure.

use std::ops::Range;

/// Begins with `prefix`; `length` says how much behind it belongs to the secret, if it is one.
struct Shape {
    prefix: &'static str,
    length: fn(&str) -> Option<usize>,
    /// The prefix is no part of the secret.
    apart: bool,
}

const fn key(prefix: &'static str, length: fn(&str) -> Option<usize>) -> Shape {
    Shape { prefix, length, apart: false }
}

const fn behind(prefix: &'static str) -> Shape {
    Shape { prefix, length: bearer, apart: true }
}

const SHAPES: &[Shape] = &[
    // Google
    key("AIza", |rest| run(rest, is_word, 30)),
    key("ya29.", |rest| run(rest, is_token, 20)),
    // OpenAI, Anthropic and others
    key("sk-", |rest| run(rest, is_word, 20)),
    // GitHub
    key("ghp_", |rest| run(rest, is_word, 30)),
    key("gho_", |rest| run(rest, is_word, 30)),
    key("ghu_", |rest| run(rest, is_word, 30)),
    key("ghs_", |rest| run(rest, is_word, 30)),
    key("ghr_", |rest| run(rest, is_word, 30)),
    key("github_pat_", |rest| run(rest, is_word, 20)),
    key("glpat-", |rest| run(rest, is_word, 20)),
    // Slack
    key("xoxa-", |rest| run(rest, is_word, 10)),
    key("xoxb-", |rest| run(rest, is_word, 10)),
    key("xoxe-", |rest| run(rest, is_word, 10)),
    key("xoxp-", |rest| run(rest, is_word, 10)),
    key("xoxr-", |rest| run(rest, is_word, 10)),
    key("xoxs-", |rest| run(rest, is_word, 10)),
    // Amazon
    key("AKIA", |rest| run(rest, is_word, 16)),
    key("eyJ", jwt),
    key("-----BEGIN ", pem),
    behind("Bearer "),
    behind("bearer "),
    behind("BEARER "),
];

/// Where such things stand; they may overlap.
pub(super) fn find(text: &str) -> impl Iterator<Item = Range<usize>> {
    SHAPES.iter().flat_map(move |shape| {
        text.match_indices(shape.prefix).filter_map(move |(at, prefix)| {
            let rest = at + prefix.len();
            let length = (shape.length)(&text[rest..]).filter(|_| begins(&text[..at]))?;
            Some(if shape.apart { rest } else { at }..rest + length)
        })
    })
}

/// No word goes on here. An escape of JSON looks like one that does.
fn begins(before: &str) -> bool {
    let mut last = before.bytes().rev();
    match (last.next(), last.next()) {
        (Some(b'n' | b'r' | b't' | b'b' | b'f'), Some(b'\\')) => true,
        (Some(byte), _) => !byte.is_ascii_alphanumeric(),
        (None, _) => true,
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn is_token(byte: u8) -> bool {
    is_word(byte) || matches!(byte, b'.' | b'~' | b'+' | b'/' | b'=')
}

/// A run of such characters that is long enough and has a digit: words have none.
fn run(rest: &str, allowed: fn(u8) -> bool, least: usize) -> Option<usize> {
    let length = rest.bytes().take_while(|byte| allowed(*byte)).count();
    (length >= least && rest[..length].bytes().any(|byte| byte.is_ascii_digit())).then_some(length)
}

fn bearer(rest: &str) -> Option<usize> {
    run(rest, is_token, 16)
}

/// Three pieces with dots between them, of which the first two are JSON.
fn jwt(rest: &str) -> Option<usize> {
    let piece =
        |from: usize| Some(from + rest.get(from..)?.bytes().take_while(|byte| is_word(*byte)).count());
    let dot = |at: usize| rest.get(at..)?.starts_with('.').then_some(at + 1);
    let head = piece(0)?;
    let body = dot(head).filter(|at| rest[*at..].starts_with("eyJ"))?;
    let signature = dot(piece(body)?)?;
    piece(signature)
}

/// Up to its end, or all that is there of it.
fn pem(rest: &str) -> Option<usize> {
    const HEAD: &str = "PRIVATE KEY-----";
    const FOOT: &str = "PRIVATE KEY-----";
    let head = rest.find(HEAD)?;
    if !rest[..head].bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' ') {
        return None;
    }
    let body = head + HEAD.len();
    let end = rest[body..].find("-----END ").and_then(|at| {
        let foot = rest[body + at..].find(FOOT)?;
        Some(body + at + foot + FOOT.len())
    });
    Some(end.unwrap_or(rest.len()))
}
