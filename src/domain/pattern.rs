//! Names with a star in them. Pure; settings and routes ask.

/// Whether the pattern is about the name. `*` stands for anything, also for nothing.
pub fn covers(pattern: &str, name: &str) -> bool {
    let mut pieces = pattern.split('*');
    let Some(mut rest) = pieces.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let Some(last) = pieces.next_back() else { return rest.is_empty() };
    for piece in pieces {
        let Some((_, behind)) = rest.split_once(piece) else { return false };
        rest = behind;
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, name, covered) in [
            ("gpt-4o", "gpt-4o", true),
            ("gpt-4o", "gpt-4o-mini", false),
            ("gpt-*", "gpt-4o", true),
            ("gpt-*", "gpt-", true),
            ("gpt-*", "chatgpt-4o", false),
            ("*", "", true),
            ("*", "anything", true),
            ("*-mini", "gpt-4o-mini", true),
            ("*-mini", "gpt-4o-mini-1", false),
            ("g*o*i", "gpt-4o-mini", true),
            ("a*a", "a", false),
            ("ab*ba", "aba", false),
            ("a*b*a", "aba", true),
            ("a*b*a", "aa", false),
            ("**", "x", true),
        ] {
            assert_eq!(covers(pattern, name), covered, "{pattern} {name}");
        }
    }
}
