//! Finds the passage that a model meant: exactly as given, else with other white space, else nearly. Pure.

use std::ops::Range;

/// How alike a passage must be, as the share of characters that differ.
const TOLERATED: f64 = 0.1;
/// White space counts a tenth of other characters.
const SPACING: f64 = 0.1;
/// Short texts are nearly like too much.
const SHORTEST: usize = 10;
/// Characters compared with characters, at most.
const WORK: usize = 400_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Exact,
    Spacing,
    Nearly,
}

/// One passage, and what shall stand there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub range: Range<usize>,
    pub new: String,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub way: Way,
    /// In their order, without overlap.
    pub places: Vec<Place>,
}

impl Found {
    pub(super) fn apply(&self, text: &str) -> String {
        let mut made = String::with_capacity(text.len());
        let mut at = 0;
        for place in &self.places {
            made.push_str(&text[at..place.range.start]);
            made.push_str(&place.new);
            at = place.range.end;
        }
        made.push_str(&text[at..]);
        made
    }
}

/// The text, the passage that is wanted and what shall stand there.
type Search = fn(&str, &str, &str) -> Vec<Place>;

/// All passages of the first way that finds any.
pub(super) fn find(text: &str, wanted: &str, new: &str) -> Found {
    let ways: [(Way, Search); 3] =
        [(Way::Exact, exactly), (Way::Spacing, with_other_spacing), (Way::Nearly, nearly)];
    let found = ways.into_iter().map(|(way, search)| Found { way, places: search(text, wanted, new) });
    found
        .into_iter()
        .find(|found| !found.places.is_empty())
        .unwrap_or(Found { way: Way::Exact, places: Vec::new() })
}

fn exactly(text: &str, wanted: &str, new: &str) -> Vec<Place> {
    text.match_indices(wanted)
        .map(|(at, _)| Place { range: at..at + wanted.len(), new: new.to_owned() })
        .collect()
}

/// Lines that are the same but for the white space at their ends.
fn with_other_spacing(text: &str, wanted: &str, new: &str) -> Vec<Place> {
    let lines = lines(text);
    let wanted: Vec<&str> = wanted.trim_end_matches('\n').split('\n').map(str::trim).collect();
    if wanted.iter().all(|line| line.is_empty()) {
        return Vec::new();
    }
    let mut places = Vec::new();
    let mut at = 0;
    while at + wanted.len() <= lines.len() {
        let window = &lines[at..at + wanted.len()];
        if window.iter().zip(&wanted).all(|(line, wanted)| text[line.clone()].trim() == *wanted) {
            places.push(place(text, window, new));
            at += wanted.len();
        } else {
            at += 1;
        }
    }
    places
}

/// Passages of as many lines that differ in few characters, the best ones first where they overlap.
fn nearly(text: &str, wanted: &str, new: &str) -> Vec<Place> {
    let lines = lines(text);
    let wanted = wanted.trim_end_matches('\n');
    let count = wanted.split('\n').count();
    if wanted.len() < SHORTEST
        || count > lines.len()
        || text.len().saturating_mul(wanted.len()) > WORK / count
    {
        return Vec::new();
    }
    let mut scored: Vec<(f64, usize)> = (0..=lines.len() - count)
        .filter_map(|at| {
            let window = &text[lines[at].start..lines[at + count - 1].end];
            Some((difference(window, wanted)?, at))
        })
        .collect();
    scored.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut chosen: Vec<usize> = Vec::new();
    for (_, at) in scored {
        if chosen.iter().all(|other| other.abs_diff(at) >= count) {
            chosen.push(at);
        }
    }
    chosen.sort_unstable();
    chosen.into_iter().map(|at| place(text, &lines[at..at + count], new)).collect()
}

/// The share of characters that differ, if it is small enough.
fn difference(window: &str, wanted: &str) -> Option<f64> {
    let bare = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    let (bare_window, bare_wanted) = (bare(window), bare(wanted));
    let length = wanted.chars().count() as f64;
    // Lengths alone rule most windows out.
    if bare_window.len().abs_diff(bare_wanted.len()) as f64 > length * TOLERATED * 4.0 {
        return None;
    }
    let letters = strsim::levenshtein(&bare_window, &bare_wanted);
    let all = strsim::levenshtein(window, wanted);
    let share = (letters as f64 + all.saturating_sub(letters) as f64 * SPACING) / length;
    (share <= TOLERATED).then_some(share)
}

/// The ranges of the lines, without their ends.
fn lines(text: &str) -> Vec<Range<usize>> {
    let mut at = 0;
    let mut found = Vec::new();
    for line in text.split_inclusive('\n') {
        found.push(at..at + line.trim_end_matches('\n').len());
        at += line.len();
    }
    found
}

/// Whole lines, replaced by lines that are indented as the first of them.
fn place(text: &str, window: &[Range<usize>], new: &str) -> Place {
    let start = window.first().map_or(0, |line| line.start);
    let end = window.last().map_or(start, |line| line.end);
    Place { range: start..end, new: indented(new.trim_end_matches('\n'), indentation(&text[start..end])) }
}

fn indentation(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

fn indented(new: &str, target: &str) -> String {
    let own = indentation(new);
    let line = |line: &str| match line.strip_prefix(own) {
        _ if line.trim().is_empty() => String::new(),
        Some(rest) => format!("{target}{rest}"),
        None => format!("{target}{}", line.trim_start()),
    };
    new.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passages_are_found_exactly_or_with_other_spacing_or_nearly() {
        let function = "fn a() {\n    let x = compute(1);\n    x\n}\n";
        for (text, wanted, new, way, expected) in [
            ("a b a", "a", "c", Way::Exact, "c b c"),
            ("one\ntwo\n", "two", "three", Way::Exact, "one\nthree\n"),
            ("aaa", "aa", "b", Way::Exact, "ba"),
            (function, "let x = compute(1);\nx", "y", Way::Spacing, "fn a() {\n    y\n}\n"),
            (
                function,
                "  let x = compute(1);\n  x\n",
                "  if b {\n    c\n  }\n",
                Way::Spacing,
                "fn a() {\n    if b {\n      c\n    }\n}\n",
            ),
            (
                function,
                "    let x = compvte(1);",
                "    let x = 2;",
                Way::Nearly,
                "fn a() {\n    let x = 2;\n    x\n}\n",
            ),
            ("", "a", "b", Way::Exact, ""),
            ("short\n", "shart", "x", Way::Exact, "short\n"),
            (
                "quite another thing altogether\n",
                "this text is not in the file",
                "x",
                Way::Exact,
                "quite another thing altogether\n",
            ),
        ] {
            let found = find(text, wanted, new);
            assert_eq!((found.way, found.apply(text).as_str()), (way, expected), "{wanted:?} in {text:?}");
        }
    }

    #[test]
    fn passages_that_are_nearly_alike_are_all_counted() {
        let text = "let first_value = 1;\nother\nlet first_value = 2;\n";
        assert_eq!(find(text, "let first_valve = 3;", "x").places.len(), 2);
    }
}
