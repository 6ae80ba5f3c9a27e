//! Markdown as it comes, piece by piece. Every character of it is printed as it is and in its order; only colours are put
//! around what the marks stand for, so that what is copied from the screen is what was said. Text must be safe already.

use super::paint::{Ink, Paint};

#[derive(Debug, Clone, Default)]
pub struct Markdown {
    paint: Paint,
    ink: Ink,
    /// Marks of one kind whose meaning the next character tells.
    marks: String,
    /// Only spaces stand before on this line.
    begins: bool,
    line: Line,
    /// How many backticks opened it.
    code: Option<usize>,
    bold: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Line {
    #[default]
    Plain,
    Heading,
    /// One that opens or closes a block of code.
    Fence,
    /// Within such a block.
    Block,
}

impl Markdown {
    pub fn new(paint: Paint) -> Self {
        Self { paint, begins: true, ..Self::default() }
    }

    /// What of it can be shown already.
    pub fn push(&mut self, piece: &str) -> String {
        let mut out = String::with_capacity(piece.len() + 16);
        for next in piece.chars() {
            let same = self.marks.starts_with(next);
            if !self.marks.is_empty() && !same {
                self.resolve(&mut out, Some(next));
            }
            match next {
                '`' | '*' | '#' => self.marks.push(next),
                '\n' => self.end_line(&mut out),
                next => {
                    self.begins &= next.is_whitespace();
                    self.write(&mut out, next);
                }
            }
        }
        out
    }

    /// What was held back, and the end of all colours.
    pub fn finish(&mut self) -> String {
        let mut out = String::new();
        self.resolve(&mut out, None);
        out.push_str(&self.paint.turn(self.ink, Ink::Plain));
        *self = Self::new(self.paint);
        out
    }

    /// Says what the marks before `next` meant.
    fn resolve(&mut self, out: &mut String, next: Option<char>) {
        let marks = std::mem::take(&mut self.marks);
        let (begins, count) = (self.begins, marks.len());
        self.begins &= marks.is_empty();
        match (marks.chars().next(), self.line) {
            (None, _) => {}
            (Some('`'), Line::Plain) if begins && count >= 3 => {
                self.line = Line::Fence;
                self.code = Some(count);
                self.text(out, &marks);
            }
            (Some('`'), Line::Block) if begins && self.code.is_some_and(|opened| count >= opened) => {
                self.code = None;
                self.line = Line::Fence;
                self.text(out, &marks);
            }
            (Some('#'), Line::Plain) if begins && count <= 6 && next == Some(' ') => {
                self.line = Line::Heading;
                self.text(out, &marks);
            }
            (Some('`'), Line::Plain | Line::Heading) => self.code_marks(out, &marks),
            (Some('*'), Line::Plain) if count == 2 && self.code.is_none() => {
                let closes = std::mem::replace(&mut self.bold, true);
                self.text(out, &marks);
                self.bold = !closes;
            }
            _ => self.text(out, &marks),
        }
    }

    fn code_marks(&mut self, out: &mut String, marks: &str) {
        match self.code {
            None => {
                self.code = Some(marks.len());
                self.text(out, marks);
            }
            opened => {
                self.text(out, marks);
                self.code = opened.filter(|opened| *opened != marks.len());
            }
        }
    }

    /// What was opened on a line and not closed ends with it, but for a block of code.
    fn end_line(&mut self, out: &mut String) {
        self.resolve(out, Some('\n'));
        out.push_str(&self.paint.turn(self.ink, Ink::Plain));
        out.push('\n');
        self.ink = Ink::Plain;
        self.begins = true;
        self.bold = false;
        let within = matches!(self.line, Line::Fence | Line::Block) && self.code.is_some();
        self.line = if within { Line::Block } else { Line::Plain };
        self.code = self.code.filter(|_| within);
    }

    fn text(&mut self, out: &mut String, text: &str) {
        text.chars().for_each(|next| self.write(out, next));
    }

    fn write(&mut self, out: &mut String, next: char) {
        let ink = match (self.line, self.code, self.bold) {
            (Line::Fence, ..) => Ink::Dim,
            (Line::Block, ..) | (Line::Plain, Some(_), _) => Ink::Cyan,
            (Line::Heading, ..) | (Line::Plain, None, true) => Ink::Bold,
            (Line::Plain, None, false) => Ink::Plain,
        };
        out.push_str(&self.paint.turn(self.ink, ink));
        self.ink = ink;
        out.push(next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(pieces: &[&str], paint: bool) -> String {
        let mut markdown = Markdown::new(Paint(paint));
        let mut out: String = pieces.iter().map(|piece| markdown.push(piece)).collect();
        out.push_str(&markdown.finish());
        // Letters for codes, so that the table can be read.
        for (code, word) in [("0", "/"), ("1", "B"), ("2", "D"), ("36", "C")] {
            out = out.replace(&format!("\u{1b}[{code}m"), &format!("<{word}>"));
        }
        out
    }

    #[test]
    fn marks_get_colours_and_stay() {
        for (text, expected) in [
            ("plain * 2 # 3", "plain * 2 # 3"),
            ("a **b** c", "a <B>**b**</> c"),
            ("use `x` now", "use <C>`x`</> now"),
            ("``a ` b`` c", "<C>``a ` b``</> c"),
            ("# Title\ntext", "<B># Title</>\ntext"),
            ("#hash", "#hash"),
            ("* item **x**\n", "* item <B>**x**</>\n"),
            ("```rust\nlet **x** = 1;\n```\nend", "<D>```rust</>\n<C>let **x** = 1;</>\n<D>```</>\nend"),
            ("open ` never\nnext", "open <C>` never</>\nnext"),
            ("ends in **", "ends in <B>**</>"),
        ] {
            assert_eq!(shown(&[text], true), expected);
            // However it is cut, it comes to the same.
            let letters: Vec<String> = text.chars().map(String::from).collect();
            let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
            assert_eq!(shown(&letters, true), expected, "{text:?} in letters");
            assert_eq!(shown(&letters, false), text);
        }
    }
}
