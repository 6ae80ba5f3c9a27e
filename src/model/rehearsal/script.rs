//! The script: rules that match a message, and the lines that are then followed. Reading it is pure; whoever starts the
//! server reads the file.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::{Deserialize, Deserializer};
use serde_saphyr::{budget, options};

use super::line::{Level, Line};
use super::when::{Asked, When};
use crate::proto::a2a::Message;

/// What is wrong with a script.
#[derive(Debug, thiserror::Error)]
pub enum BadScript {
    #[error("{0}")]
    Syntax(#[from] serde_saphyr::Error),
    #[error("rule {rule}: {problem}")]
    Rule { rule: usize, problem: &'static str },
    #[error("`speed` is 0 for no waiting, or how much faster time goes, from 0.001 to 1000000; not {0}")]
    Speed(f64),
}

const SPEEDS: RangeInclusive<f64> = 0.001..=1e6;

/// So much a file may hold: a recording is long.
const MOST_NODES: usize = 10_000_000;
const MOST_BYTES: usize = 1 << 30;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// How much faster time goes; 0 is without waiting.
    #[serde(default)]
    speed: Option<f64>,
    /// The model looks things up on the web, so that the tools which ask it for that are there.
    #[serde(default)]
    pub(super) searches: bool,
    rules: Vec<Rule>,
}

/// The first rule that matches is followed.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rule {
    #[serde(default)]
    when: When,
    /// Shared with all who follow them.
    #[serde(rename = "do", deserialize_with = "shared")]
    pub(super) lines: Arc<[Line]>,
    /// How often it was found. All who follow the script share it.
    #[serde(skip)]
    found: Arc<AtomicUsize>,
}

fn shared<'de, D: Deserializer<'de>>(lines: D) -> Result<Arc<[Line]>, D::Error> {
    super::entry::lines(lines).map(Vec::into)
}

impl Script {
    pub fn parse(text: &str) -> Result<Self, BadScript> {
        let budget = budget! {
            max_nodes: MOST_NODES,
            max_events: 2 * MOST_NODES,
            max_total_scalar_bytes: MOST_BYTES,
        };
        Self::checked(serde_saphyr::from_str_with_options(text, options! { budget: budget })?)
    }

    /// From what stands in a prompt: read anew for every answer, so nothing in it can be counted.
    pub(super) fn in_prompt(text: &str) -> Result<Self, BadScript> {
        Self::checked(serde_saphyr::from_str(text)?)?.without_times()
    }

    /// From the lines of a single rule, for anything.
    pub(super) fn lines_in_prompt(text: &str) -> Result<Self, BadScript> {
        Self::of_lines(text)?.without_times()
    }

    pub(super) fn of_lines(text: &str) -> Result<Self, BadScript> {
        let OneRule(lines) = serde_saphyr::from_str(text)?;
        let rule = Rule { when: When::default(), lines: lines.into(), found: Arc::default() };
        Self::checked(Self { speed: None, searches: false, rules: vec![rule] })
    }

    fn checked(mut script: Self) -> Result<Self, BadScript> {
        for (index, rule) in script.rules.iter().enumerate() {
            rule.check().map_err(|problem| BadScript::Rule { rule: index + 1, problem })?;
        }
        let speed = script.speed.unwrap_or(1.0);
        if !(speed == 0.0 || SPEEDS.contains(&speed)) {
            return Err(BadScript::Speed(speed));
        }
        script.rules.iter_mut().for_each(|rule| rule.hasten(speed));
        Ok(script)
    }

    fn without_times(self) -> Result<Self, BadScript> {
        let counts = |rule: &Rule| rule.lines.iter().any(|line| line.times().is_some());
        match self.rules.iter().position(counts) {
            Some(index) => Err(BadScript::Rule {
                rule: index + 1,
                problem: "`times` counts while a script runs; one in a prompt is read anew for every answer",
            }),
            None => Ok(self),
        }
    }

    /// The rule of the first message that any rule asks for by name; without one, the rule for anything.
    pub(super) fn rule<'a>(&self, messages: impl Iterator<Item = &'a Message>) -> Option<&Rule> {
        let mut named = messages.filter_map(|message| {
            let (text, message_id) = (message.text(), Some(message.message_id.as_str()));
            self.named(Asked { text: &text, message_id, ..Asked::default() })
        });
        named.next().or_else(|| self.anything())
    }

    /// The rule that asks for what was said. Of several for one and the same answer, asking again finds the next, and
    /// at the end the last.
    pub(super) fn named(&self, asked: Asked) -> Option<&Rule> {
        let first = self.rules.iter().find(|rule| !rule.when.is_anything() && rule.when.holds(asked))?;
        if !first.is_one_answer() {
            return Some(first);
        }
        let number = first.found.fetch_add(1, Ordering::Relaxed);
        let same = || self.rules.iter().filter(|rule| rule.when == first.when);
        same().nth(number).or_else(|| same().next_back())
    }

    pub(super) fn anything(&self) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.when.is_anything())
    }
}

#[derive(Deserialize)]
struct OneRule(#[serde(deserialize_with = "super::entry::lines")] Vec<Line>);

impl Rule {
    pub(super) fn reply(&self) -> Option<&str> {
        match &*self.lines {
            [Line::Reply(text)] => Some(text),
            _ => None,
        }
    }

    /// It acts on the task directly; every other rule is what a model would say.
    pub(super) fn is_agents(&self) -> bool {
        self.when.needs_agent() || self.has(Level::Agent)
    }

    /// All of its lines are one answer of the model.
    pub(super) fn is_one_answer(&self) -> bool {
        self.when.is_one_answer()
    }

    fn has(&self, level: Level) -> bool {
        self.lines.iter().any(|line| line.level() == level)
    }

    fn hasten(&mut self, speed: f64) {
        let mut lines = self.lines.to_vec();
        lines.retain_mut(|line| match line {
            Line::Wait(time) if speed > 0.0 => {
                *time = time.div_f64(speed);
                true
            }
            Line::Wait(_) => false,
            _ => true,
        });
        self.lines = lines.into();
    }

    fn check(&self) -> Result<(), &'static str> {
        let (last, before) = self.lines.split_last().ok_or("has nothing to do")?;
        if self.has(Level::Model) && self.has(Level::Agent) {
            return Err(
                "artifact, ask, reply, complete, reject and fail are the agent's, and all but say, think and \
                        wait are the model's: a rule has one kind or the other",
            );
        }
        if self.has(Level::Model) && self.when.needs_agent() {
            return Err(
                "all but say, think and wait are the model's, which knows no message_id: match the text",
            );
        }
        if self.is_agents() && self.when.needs_model() {
            return Err("only the model knows `turn` and `answered`: the agent's steps match the text");
        }
        if before.iter().any(Line::ends) {
            return Err("goes on behind a step that ends it");
        }
        if matches!(last, Line::Reply(_)) && !before.is_empty() {
            return Err("a reply stands alone: it makes no task");
        }
        self.lines.iter().try_for_each(Line::check)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::a2a::Part;

    fn message(id: &str, text: &str) -> Message {
        Message { message_id: id.to_owned(), parts: vec![Part::text(text)], ..Message::default() }
    }

    #[test]
    fn the_first_rule_that_matches_is_followed() {
        let script = Script::parse(
            "rules:\n- when: {text: Boat}\n  do: [say: a]\n- when: {message_id: x-}\n  do: [say: b]\n- do: [reply: c]\n",
        )
        .unwrap();
        let said = |m: &[Message]| format!("{:?}", script.rule(m.iter()).unwrap().lines);
        assert_eq!(said(&[message("1", "a boat")]), r#"[Say(One("a"))]"#);
        assert_eq!(said(&[message("x-1", "a house")]), r#"[Say(One("b"))]"#);
        assert_eq!(said(&[message("1", "a house")]), r#"[Reply("c")]"#);
        assert_eq!(said(&[message("1", "this one"), message("2", "a boat")]), r#"[Say(One("a"))]"#);
    }

    const REFUSED: &[(&str, &str)] = &[
        ("rules:\n- do: []\n", "rule 1: has nothing to do"),
        ("rules:\n- do: [ask: a, say: b]\n", "rule 1: goes on behind a step that ends it"),
        ("rules:\n- do: [error: {status: 429}, say: b]\n", "rule 1: goes on behind a step that ends it"),
        ("rules:\n- do: [say: a, reply: b]\n", "rule 1: a reply stands alone: it makes no task"),
        (
            "rules:\n- do: [artifact: {name: a}]\n",
            "rule 1: an artifact has exactly one of text, bytes, url and data",
        ),
        ("rules:\n- do: [artifact: {bytes: '%'}]\n", "rule 1: the bytes of an artifact are not base64"),
        (
            "rules:\n- do: [call: {tool: a}, complete: b]\n",
            "rule 1: artifact, ask, reply, complete, reject and fail are the agent's, and all but say, think and \
                 wait are the model's: a rule has one kind or the other",
        ),
        (
            "rules:\n- when: {message_id: a}\n  do: [call: {tool: a}]\n",
            "rule 1: all but say, think and wait are the model's, which knows no message_id: match the text",
        ),
        ("rules:\n- do: [calls: []]\n", "rule 1: `calls` has no call"),
        ("rules:\n- do: [call: {tool: ''}]\n", "rule 1: a call names its tool"),
        (
            "rules:\n- do: [error: {status: 200}]\n",
            "rule 1: the status of an error is 400, 401, 402, 403, 404, 413, 429, 500, 501, 502, 503, 504 or 529",
        ),
        ("rules:\n- do: [reset, say: b]\n", "rule 1: goes on behind a step that ends it"),
        ("rules:\n- do: [finish: STOP, end]\n", "rule 1: goes on behind a step that ends it"),
        (
            "rules:\n- when: {turn: 1}\n  do: [ask: a]\n",
            "rule 1: only the model knows `turn` and `answered`: the agent's steps match the text",
        ),
        (
            "rules:\n- do: [signature: a]\n",
            "rule 1: a signature stands in one entry with what was said or thought",
        ),
        (
            "rules:\n- do: [{say: a, model: b}]\n",
            "rule 1: an entry with several keys is one chunk: think, say, signature, call, calls, usage, finish",
        ),
        (
            "rules:\n- do: [{usage: {}, signature: b}]\n",
            "rule 1: an entry with several keys says something, or finishes",
        ),
        (
            "rules:\n- do: [{call: {tool: a}, signature: b}]\n",
            "rule 1: a signature stands behind what was said or thought; that of a call stands in the call",
        ),
        (
            "speed: -1\nrules:\n- do: [say: a]\n",
            "`speed` is 0 for no waiting, or how much faster time goes, from 0.001 to 1000000; not -1",
        ),
    ];

    #[test]
    fn a_script_that_cannot_be_meant_is_refused() {
        for (text, problem) in REFUSED {
            assert_eq!(Script::parse(text).unwrap_err().to_string(), *problem, "{text}");
        }
        for text in [
            "rules:\n- do: [sing: a]\n",
            "rules:\n- when: {txt: a}\n  do: [say: a]\n",
            "rules:\n- do: [wait: 5]\n",
            "rules:\n- do: [call: {tool: a, with: [1]}]\n",
            "rules:\n- do: [call: {tool: a, with: '{'}]\n",
            "rules:\n- do: [chunk: {candidates: 5}]\n",
            "rules:\n- do: [{}]\n",
            "rules:\n- do: [say]\n",
            "rules:\n- do: [{say: a, say: b}]\n",
            "rules:\n- do: [silence: {often: 1}]\n",
            "rules:\n- when: {turn: -1}\n  do: [say: a]\n",
        ] {
            assert!(matches!(Script::parse(text), Err(BadScript::Syntax(_))), "{text}");
        }
    }
}
