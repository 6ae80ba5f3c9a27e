//! Notices when the model goes in circles: the same calls again and again, or the same words. Pure; the turn tells it
//! what happens and asks what to make of it.

use std::collections::VecDeque;

use sha2::{Digest, Sha256};

use super::conversation::function_calls;
use crate::proto::gemini::part::Data;
use crate::proto::gemini::{Content, Part};

/// A cycle of up to so many calls ...
const LONGEST_CYCLE: usize = 5;
/// ... counts as a circle when it comes so often in a row.
const REPEATS: usize = 5;
/// A piece of text of this length ...
const PIECE: usize = 50;
/// ... counts as one when it comes so often in one answer, close together.
const CHANTS: usize = 10;
const CLOSE: usize = 250;

#[derive(Debug, Clone, Default)]
pub struct Loops {
    calls: VecDeque<[u8; 32]>,
    chanted: bool,
}

impl Loops {
    /// One answer of the model.
    pub fn heard(&mut self, answer: &Content) {
        for call in function_calls(answer) {
            self.calls.push_back(Sha256::digest(format!("{}:{}", call.name, call.args)).into());
            if self.calls.len() > LONGEST_CYCLE * REPEATS {
                self.calls.pop_front();
            }
        }
        let text = answer.parts.iter().filter_map(plain_text).collect::<String>();
        self.chanted |= is_chant(&text);
    }

    pub fn is_circle(&self) -> bool {
        self.chanted || (1..=LONGEST_CYCLE).any(|length| self.repeats(length))
    }

    fn repeats(&self, length: usize) -> bool {
        let needed = length * REPEATS;
        let Some(from) = self.calls.len().checked_sub(needed) else { return false };
        (from + length..self.calls.len()).all(|at| self.calls.get(at) == self.calls.get(at - length))
    }
}

fn plain_text(part: &Part) -> Option<&str> {
    match &part.data {
        Some(Data::Text(text)) if !part.thought => Some(text),
        _ => None,
    }
}

/// Code, tables and lists repeat themselves without being a circle, so they are left out.
fn is_chant(text: &str) -> bool {
    let mut fenced = false;
    let prose = text.lines().filter(|line| {
        let line = line.trim_start();
        fenced ^= line.starts_with("```");
        !fenced && !line.starts_with(['`', '|', '-', '*', '#', '>', '+'])
    });
    let prose: Vec<char> = prose.flat_map(|line| line.chars().chain(['\n'])).collect();
    let Some(end) = prose.len().checked_sub(PIECE) else { return false };
    let piece = &prose[end..];
    let places: Vec<usize> = (0..=end).filter(|at| &prose[*at..*at + PIECE] == piece).collect();
    places.len() >= CHANTS && places.windows(2).rev().take(CHANTS - 1).all(|pair| pair[1] - pair[0] <= CLOSE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::conversation::{MODEL, text};
    use crate::proto::gemini::FunctionCall;

    fn calls(names: &str) -> Loops {
        let mut loops = Loops::default();
        for name in names.split(' ') {
            let call = FunctionCall { name: name.to_owned(), ..FunctionCall::default() };
            let part = Part { data: Some(Data::FunctionCall(call)), ..Part::default() };
            loops.heard(&Content { role: MODEL.to_owned(), parts: vec![part] });
        }
        loops
    }

    #[test]
    fn the_same_calls_five_times_over_are_a_circle() {
        for (names, circle) in [
            ("a a a a", false),
            ("a a a a a", true),
            ("a b a b a b a b", false),
            ("a b a b a b a b a b", true),
            ("a a a b a a a", false),
            ("x a b c a b c a b c a b c a b c", true),
        ] {
            assert_eq!(calls(names).is_circle(), circle, "{names}");
        }
    }

    #[test]
    fn the_same_words_ten_times_over_are_a_circle_unless_they_are_code() {
        let line = "I will look into that file once more, now really.\n";
        for (said, circle) in [
            (line.repeat(3), false),
            (line.repeat(20), true),
            (format!("```\n{}```\n", line.repeat(20)), false),
            ("- one and the same point of a list that is long\n".repeat(20), false),
        ] {
            let mut loops = Loops::default();
            loops.heard(&text(MODEL, said));
            assert_eq!(loops.is_circle(), circle);
        }
    }
}
