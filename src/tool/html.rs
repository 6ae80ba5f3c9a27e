//! A page as text: what a reader sees, block by block, without scripts and styles. Not a browser; broken pages give
//! broken text and nothing worse. Pure.

/// Nothing in them is for readers.
const SKIPPED: &[&str] = &["script", "style", "noscript", "template", "svg", "head"];
/// Begin on a line of their own.
const BLOCKS: &[&str] = &[
    "address",
    "article",
    "aside",
    "blockquote",
    "br",
    "dd",
    "div",
    "dl",
    "dt",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "li",
    "main",
    "nav",
    "ol",
    "p",
    "pre",
    "section",
    "table",
    "td",
    "th",
    "tr",
    "ul",
];
const ENTITIES: &[(&str, &str)] = &[
    ("amp", "&"),
    ("lt", "<"),
    ("gt", ">"),
    ("quot", "\""),
    ("apos", "'"),
    ("nbsp", " "),
    ("ndash", "–"),
    ("mdash", "—"),
    ("hellip", "…"),
    ("copy", "©"),
    ("laquo", "«"),
    ("raquo", "»"),
    ("lsquo", "‘"),
    ("rsquo", "’"),
    ("ldquo", "“"),
    ("rdquo", "”"),
    ("bull", "•"),
    ("middot", "·"),
];

pub(super) fn to_text(page: &str) -> String {
    let mut text = String::new();
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        text.push_str(&plain(&rest[..at]));
        let (tag, after) = tag(&rest[at..]);
        if tag.is_empty() {
            text.push('<');
        }
        let name = tag.trim_start_matches('/');
        if SKIPPED.contains(&tag.as_str()) {
            rest = behind(after, &tag);
            continue;
        }
        if BLOCKS.contains(&name) {
            text.push('\n');
        }
        if tag == "li" {
            text.push_str("* ");
        }
        rest = after;
    }
    text.push_str(&plain(rest));
    tidy(&text)
}

/// The name of the tag that begins here, in small letters and with its slash, and what comes after it. A `<` that
/// begins no tag is a letter like others.
fn tag(text: &str) -> (String, &str) {
    if let Some(comment) = text.strip_prefix("<!--") {
        return ("!".to_owned(), comment.find("-->").map_or("", |end| &comment[end + 3..]));
    }
    let inner = &text[1..];
    let name: String =
        inner.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '/' || *c == '!').collect();
    if name.is_empty() {
        return (String::new(), inner);
    }
    let mut quote = None;
    for (at, character) in inner.char_indices() {
        match (quote, character) {
            (None, '>') => {
                return (name.to_ascii_lowercase().trim_end_matches('/').to_owned(), &inner[at + 1..]);
            }
            (None, '"' | '\'') => quote = Some(character),
            (Some(open), close) if open == close => quote = None,
            _ => {}
        }
    }
    (name.to_ascii_lowercase(), "")
}

/// Behind the end of an element that is skipped; all of the rest if it has none.
fn behind<'a>(text: &'a str, name: &str) -> &'a str {
    let end = format!("</{name}");
    // Not made small as a whole: some letters change their length.
    let found = text
        .match_indices("</")
        .find(|(at, _)| text.get(*at..*at + end.len()).is_some_and(|found| found.eq_ignore_ascii_case(&end)));
    found.map_or("", |(at, _)| tag(&text[at..]).1)
}

fn plain(text: &str) -> String {
    let mut made = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        made.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let known =
            after.find(';').filter(|end| *end <= 10).and_then(|end| Some((entity(&after[..end])?, end)));
        match known {
            Some((meaning, end)) => {
                made.push_str(&meaning);
                rest = &after[end + 1..];
            }
            None => {
                made.push('&');
                rest = after;
            }
        }
    }
    made.push_str(rest);
    made
}

fn entity(name: &str) -> Option<String> {
    let number = name.strip_prefix('#').and_then(|number| match number.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => number.parse().ok(),
    });
    let named =
        || ENTITIES.iter().find(|(known, _)| *known == name).map(|(_, meaning)| (*meaning).to_owned());
    number.and_then(char::from_u32).map(String::from).or_else(named)
}

/// One blank at a time, and at most one empty line.
fn tidy(text: &str) -> String {
    let mut made = String::new();
    for line in text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")) {
        if line.is_empty() && (made.is_empty() || made.ends_with("\n\n")) {
            continue;
        }
        made.push_str(&line);
        made.push('\n');
    }
    made.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_read_as_people_see_it() {
        for (page, expected) in [
            ("plain", "plain"),
            ("<p>a <b>b</b>&amp;c</p><p>d</p>", "a b&c\n\nd"),
            ("<html><head><title>x</title></head><body>y</body></html>", "y"),
            ("a<script>if (a < b) { '</b>' }</script>b", "ab"),
            ("a<SCRIPT>x</ScRiPt >b", "ab"),
            ("<ul><li>one</li><li>two</li></ul>", "* one\n\n* two"),
            ("a<!-- <p>no</p> -->b", "ab"),
            ("<a title=\"x > y\">link</a>", "link"),
            ("1 < 2 &lt; 3 &#65;&#x42; &unknown; & x", "1 < 2 < 3 AB &unknown; & x"),
            ("a<br/>b", "a\nb"),
            ("<p>a   \n b</p>", "a\nb"),
            ("<script>never closed", ""),
            ("<", "<"),
            ("İ<style>x</style>y", "İy"),
        ] {
            assert_eq!(to_text(page), expected, "{page}");
        }
    }
}
