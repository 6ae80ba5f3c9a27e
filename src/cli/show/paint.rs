//! Colours, or none. Knows eight of them, which every terminal has in the shade that its user likes.

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ink {
    #[default]
    Plain,
    Bold,
    Dim,
    Red,
    Green,
    Yellow,
    Cyan,
}

impl Ink {
    fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Bold => "\u{1b}[1m",
            Self::Dim => "\u{1b}[2m",
            Self::Red => "\u{1b}[31m",
            Self::Green => "\u{1b}[32m",
            Self::Yellow => "\u{1b}[33m",
            Self::Cyan => "\u{1b}[36m",
        }
    }
}

const END: &str = "\u{1b}[0m";

/// Whether there are colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Paint(pub bool);

impl Paint {
    /// Each line by itself, so that a cut one colours nothing else. The text must be safe already.
    pub fn ink(self, ink: Ink, text: &str) -> String {
        if !self.0 || ink == Ink::Plain {
            return text.to_owned();
        }
        let mut painted = String::with_capacity(text.len() + 16);
        for line in text.split_inclusive('\n') {
            let bare = line.trim_end_matches('\n');
            if bare.is_empty() {
                painted.push_str(line);
            } else {
                painted.extend([ink.code(), bare, END, line.get(bare.len()..).unwrap_or_default()]);
            }
        }
        painted
    }

    /// From one ink to another in the middle of a line.
    pub fn turn(self, from: Ink, to: Ink) -> String {
        match (self.0 && from != to, from) {
            (false, _) => String::new(),
            (true, Ink::Plain) => to.code().to_owned(),
            (true, _) => format!("{END}{}", to.code()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_painted_one_by_one() {
        assert_eq!(Paint(true).ink(Ink::Red, "a\n\nb"), "\u{1b}[31ma\u{1b}[0m\n\n\u{1b}[31mb\u{1b}[0m");
        assert_eq!(Paint(false).ink(Ink::Red, "a\nb"), "a\nb");
        assert_eq!(Paint(true).turn(Ink::Bold, Ink::Cyan), "\u{1b}[0m\u{1b}[36m");
        assert_eq!(Paint(true).turn(Ink::Bold, Ink::Bold), "");
    }
}
