//! The script: rules that match a message, and the lines that are then followed. Reading it is pure; whoever starts the
//! server reads the file.

use std::sync::Arc;

use serde::{Deserialize, Deserializer};

use super::line::{Level, Line};
use crate::proto::a2a::Message;

/// What is wrong with a script.
#[derive(Debug, thiserror::Error)]
pub enum BadScript {
    #[error("{0}")]
    Syntax(#[from] serde_saphyr::Error),
    #[error("rule {rule}: {problem}")]
    Rule { rule: usize, problem: &'static str },
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
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
}

fn shared<'de, D: Deserializer<'de>>(lines: D) -> Result<Arc<[Line]>, D::Error> {
    Vec::deserialize(lines).map(Vec::into)
}

/// All that is given must hold; nothing given matches anything.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct When {
    /// Stands somewhere in the text of the message, in whatever case.
    text: Option<String>,
    /// The id of the message begins with this. Only the agent knows it.
    message_id: Option<String>,
}

impl Script {
    pub fn parse(text: &str) -> Result<Self, BadScript> {
        Self::checked(serde_saphyr::from_str(text)?)
    }

    /// From the lines of a single rule, for anything.
    pub(super) fn parse_lines(text: &str) -> Result<Self, BadScript> {
        let lines: Vec<Line> = serde_saphyr::from_str(text)?;
        Self::checked(Self { rules: vec![Rule { when: When::default(), lines: lines.into() }] })
    }

    fn checked(script: Self) -> Result<Self, BadScript> {
        for (index, rule) in script.rules.iter().enumerate() {
            rule.check().map_err(|problem| BadScript::Rule { rule: index + 1, problem })?;
        }
        Ok(script)
    }

    /// The rule of the first message that any rule asks for by name; without one, the rule for anything.
    pub(super) fn rule<'a>(&self, messages: impl Iterator<Item = &'a Message>) -> Option<&Rule> {
        let mut named = messages.filter_map(|message| self.named(&message.text(), Some(&message.message_id)));
        named.next().or_else(|| self.anything())
    }

    /// The rule that asks for what was said.
    pub(super) fn named(&self, text: &str, message_id: Option<&str>) -> Option<&Rule> {
        self.rules.iter().find(|rule| !rule.when.is_anything() && rule.when.holds(text, message_id))
    }

    pub(super) fn anything(&self) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.when.is_anything())
    }
}

impl When {
    fn is_anything(&self) -> bool {
        self.text.is_none() && self.message_id.is_none()
    }

    fn holds(&self, said: &str, message_id: Option<&str>) -> bool {
        let called = |id: &String| message_id.is_some_and(|given| given.starts_with(id.as_str()));
        let says = |text: &String| said.to_lowercase().contains(&text.to_lowercase());
        self.text.as_ref().is_none_or(says) && self.message_id.as_ref().is_none_or(called)
    }
}

impl Rule {
    pub(super) fn reply(&self) -> Option<&str> {
        match &*self.lines {
            [Line::Reply(text)] => Some(text),
            _ => None,
        }
    }

    /// It acts on the task directly; every other rule is what a model would say.
    pub(super) fn is_agents(&self) -> bool {
        self.when.message_id.is_some() || self.has(Level::Agent)
    }

    fn has(&self, level: Level) -> bool {
        self.lines.iter().any(|line| line.level() == level)
    }

    fn check(&self) -> Result<(), &'static str> {
        let (last, before) = self.lines.split_last().ok_or("has nothing to do")?;
        if self.has(Level::Model) && self.has(Level::Agent) {
            return Err(
                "call, calls, error and usage are the model's; artifact, ask, reply, complete, reject and \
                        fail are the agent's: a rule has one kind or the other",
            );
        }
        if self.has(Level::Model) && self.when.message_id.is_some() {
            return Err(
                "call, calls, error and usage are the model's, which knows no message_id: match the text",
            );
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

    #[test]
    fn a_script_that_cannot_be_meant_is_refused() {
        for (text, problem) in [
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
                "rule 1: call, calls, error and usage are the model's; artifact, ask, reply, complete, reject and \
                 fail are the agent's: a rule has one kind or the other",
            ),
            (
                "rules:\n- when: {message_id: a}\n  do: [call: {tool: a}]\n",
                "rule 1: call, calls, error and usage are the model's, which knows no message_id: match the text",
            ),
            ("rules:\n- do: [calls: []]\n", "rule 1: `calls` has no call"),
            ("rules:\n- do: [call: {tool: ''}]\n", "rule 1: a call names its tool"),
            (
                "rules:\n- do: [error: {status: 200}]\n",
                "rule 1: the status of an error is 400, 401, 402, 403, 404, 413, 429, 500, 502, 503, 504 or 529",
            ),
        ] {
            assert_eq!(Script::parse(text).unwrap_err().to_string(), problem, "{text}");
        }
        for text in [
            "rules:\n- do: [sing: a]\n",
            "rules:\n- when: {txt: a}\n  do: [say: a]\n",
            "rules:\n- do: [wait: 5]\n",
            "rules:\n- do: [call: {tool: a, with: [1]}]\n",
        ] {
            assert!(matches!(Script::parse(text), Err(BadScript::Syntax(_))), "{text}");
        }
    }
}
