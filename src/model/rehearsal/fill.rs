//! Fills what a script leaves open: `{text}` is what the user said, `{result}` what the last tool call gave. Pure.

use super::line::{Call, Line, Pieces};

/// What stands for what.
pub(super) struct Filler<'a> {
    pub(super) text: &'a str,
    pub(super) result: &'a str,
}

impl Filler<'_> {
    /// In one go: what was filled in is not looked at again.
    pub(super) fn fill(&self, template: &str) -> String {
        let names = [("{text}", self.text), ("{result}", self.result)];
        let (mut filled, mut rest) = (String::new(), template);
        loop {
            let found = names.iter().filter_map(|(name, value)| Some((rest.find(name)?, name, value)));
            let Some((at, name, value)) = found.min_by_key(|(at, ..)| *at) else { break };
            filled += &rest[..at];
            filled += value;
            rest = &rest[at + name.len()..];
        }
        filled + rest
    }

    /// A line of the model. Those of the agent are filled where they are performed.
    pub(super) fn line(&self, line: &Line) -> Line {
        match line {
            Line::Say(pieces) => {
                Line::Say(Pieces::Many(pieces.as_slice().iter().map(|piece| self.fill(piece)).collect()))
            }
            Line::Call(call) => Line::Call(self.call(call)),
            Line::Calls(calls) => Line::Calls(calls.iter().map(|call| self.call(call)).collect()),
            Line::Together(lines) => Line::Together(lines.iter().map(|line| self.line(line)).collect()),
            Line::Ask(text) => Line::Ask(self.fill(text)),
            Line::Reply(text) => Line::Reply(self.fill(text)),
            Line::Reject(text) => Line::Reject(self.fill(text)),
            Line::Fail(text) => Line::Fail(self.fill(text)),
            Line::Complete(text) => Line::Complete(text.as_ref().map(|text| self.fill(text))),
            other => other.clone(),
        }
    }

    fn call(&self, call: &Call) -> Call {
        Call { with: call.with.map(&|text| self.fill(text)), ..call.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_filled_in_is_not_filled_again() {
        let filler = Filler { text: "{result} {text}", result: "r" };
        for (template, filled) in [
            ("a {text} b", "a {result} {text} b"),
            ("{result}{result}{", "rr{"),
            ("{ text } {other}", "{ text } {other}"),
            ("", ""),
        ] {
            assert_eq!(filler.fill(template), filled, "{template}");
        }
    }
}
