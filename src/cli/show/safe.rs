//! Text from elsewhere, made harmless for a terminal: nothing in it can move the cursor, change a title, answer in the
//! user's name or make a line read other than it is. What was there stays visible.

use std::borrow::Cow;
use std::fmt::Write;

/// The text without anything that a terminal would act upon. Line ends and tabs stay.
pub fn safe(text: &str) -> Cow<'_, str> {
    if !text.chars().any(acts) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut rest = text.chars().peekable();
    while let Some(next) = rest.next() {
        match next {
            '\r' if rest.peek() == Some(&'\n') => {}
            next if acts(next) => tell(&mut shown, next),
            next => shown.push(next),
        }
    }
    Cow::Owned(shown)
}

/// The same on one line.
pub fn safe_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    safe(&line).into_owned()
}

/// Whether a terminal would do something else than show it.
pub fn acts(next: char) -> bool {
    match next {
        '\n' | '\t' => false,
        next if next.is_control() => true,
        // What turns the direction of a line around, so that it reads other than it runs.
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        // What nobody sees, but for the joiners that emoji and some scripts need.
        '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{180b}'..='\u{180f}' | '\u{200b}' => true,
        '\u{2028}' | '\u{2029}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' => true,
        '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}' => true,
        _ => false,
    }
}

/// Control characters have pictures of their own; the rest is told by its number.
fn tell(shown: &mut String, next: char) {
    match u32::from(next) {
        code @ 0..=0x1f => shown.push(char::from_u32(0x2400 + code).unwrap_or('\u{fffd}')),
        0x7f => shown.push('\u{2421}'),
        // Writing to a String cannot fail.
        code => drop(write!(shown, "<U+{code:04X}>")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_acts_upon_is_left() {
        for (text, shown) in [
            ("plain\n\ttext, grün 日本 👩‍💻", "plain\n\ttext, grün 日本 👩‍💻"),
            ("\u{1b}[31mred\u{1b}[0m", "␛[31mred␛[0m"),
            ("\u{1b}]0;title\u{7}", "␛]0;title␇"),
            ("\u{1b}]52;c;cm0gLXJm\u{1b}\\", "␛]52;c;cm0gLXJm␛\\"),
            ("\u{9b}2J", "<U+009B>2J"),
            ("one\r\ntwo\rthree", "one\ntwo␍three"),
            ("a\u{8}b\u{7f}", "a␈b␡"),
            ("rm \u{202e}fr- txt\u{2066}", "rm <U+202E>fr- txt<U+2066>"),
            ("hid\u{e0041}den", "hid<U+E0041>den"),
            ("ls\u{200b}\u{feff} \u{2060}a\u{ad}b\u{2028}", "ls<U+200B><U+FEFF> <U+2060>a<U+00AD>b<U+2028>"),
        ] {
            assert_eq!(safe(text), shown);
            assert!(!safe(text).chars().any(acts), "{text:?}");
        }
        assert_eq!(safe_line(" a\n b\u{1b}[1m "), "a b␛[1m");
    }

    #[test]
    fn every_control_character_is_caught() {
        let kept: Vec<char> =
            (0..0xa0).filter_map(char::from_u32).filter(|c| c.is_control() && !acts(*c)).collect();
        assert_eq!(kept, ['\t', '\n']);
    }
}
