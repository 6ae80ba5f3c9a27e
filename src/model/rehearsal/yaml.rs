//! Texts as YAML, on one line and to the letter. Pure.

use std::fmt::Write;

/// In double quotes, as JSON would have it.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out += "\\\"",
            '\\' => out += "\\\\",
            '\n' => out += "\\n",
            '\r' => out += "\\r",
            '\t' => out += "\\t",
            c if is_plain(c) => out.push(c),
            c if u32::from(c) > 0xffff => drop(write!(out, "\\U{:08x}", u32::from(c))),
            c => drop(write!(out, "\\u{:04x}", u32::from(c))),
        }
    }
    out.push('"');
    out
}

/// In single quotes where that can be, which leaves JSON readable.
pub(super) fn verbatim(text: &str) -> String {
    if text.chars().all(is_plain) { format!("'{}'", text.replace('\'', "''")) } else { quoted(text) }
}

/// May stand as it is: no control character, no end of a line, nothing that is no character at all.
fn is_plain(c: char) -> bool {
    let code = u32::from(c);
    !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}') && code & 0xfffe != 0xfffe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_survives() {
        let all: String = ('\0'..=char::MAX).collect();
        assert_eq!(serde_saphyr::from_str::<String>(&quoted(&all)).unwrap(), all);
        let plain: String = all.chars().filter(|c| is_plain(*c)).collect();
        assert!(verbatim(&plain).starts_with('\''));
        assert_eq!(serde_saphyr::from_str::<String>(&verbatim(&plain)).unwrap(), plain);
        for text in
            ["", " ", " a ", "'", "''", "a: b # c", "\u{85}", "- x", "\n", "%", "{}", "null", "\u{7f}"]
        {
            for written in [quoted(text), verbatim(text)] {
                assert!(!written.contains('\n'));
                let list = format!("[{written}, x]");
                assert_eq!(serde_saphyr::from_str::<Vec<String>>(&list).unwrap()[0], text, "{written}");
            }
        }
    }
}
