//! The script: rules that match a message, and the steps that then happen. Reading it is pure; whoever starts the
//! server reads the file.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use crate::proto::a2a::Message;

/// What is wrong with a script.
#[derive(Debug, thiserror::Error)]
pub enum BadScript {
    #[error("{0}")]
    Syntax(#[from] serde_saphyr::Error),
    #[error("rule {rule}: {problem}")]
    Rule { rule: usize, problem: &'static str },
}

/// A turn that follows a rule shares it, however long it is.
#[derive(Debug, Clone)]
pub struct Script {
    rules: Vec<Arc<Rule>>,
}

/// As it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    rules: Vec<Rule>,
}

/// The first rule that matches is followed.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rule {
    #[serde(default)]
    when: When,
    #[serde(rename = "do")]
    pub(super) steps: Vec<Line>,
}

/// All that is given must hold; nothing given matches anything.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct When {
    /// Stands somewhere in the text of the message, in whatever case.
    text: Option<String>,
    /// The id of the message begins with this.
    message_id: Option<String>,
}

/// One line of a script.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Line {
    /// The answer, whole or in pieces.
    Say(Pieces),
    Think(Thought),
    #[serde(deserialize_with = "super::duration::deserialize")]
    Wait(Duration),
    Artifact(Box<Thing>),
    Ask(String),
    Reply(String),
    Complete(Option<String>),
    Reject(String),
    Fail(String),
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(super) enum Pieces {
    One(String),
    Many(Vec<String>),
}

impl Pieces {
    pub(super) fn as_slice(&self) -> &[String] {
        match self {
            Self::One(text) => std::slice::from_ref(text),
            Self::Many(pieces) => pieces,
        }
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Thought {
    #[serde(default)]
    pub(super) subject: String,
    #[serde(default)]
    pub(super) description: String,
}

/// An artifact. Exactly one of text, bytes, url and data is its content.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Thing {
    #[serde(default)]
    pub(super) name: String,
    #[serde(default)]
    pub(super) description: String,
    #[serde(default)]
    pub(super) filename: String,
    #[serde(default)]
    pub(super) media_type: String,
    /// Whole, or sent in pieces.
    pub(super) text: Option<Pieces>,
    /// In base64.
    pub(super) bytes: Option<String>,
    pub(super) url: Option<String>,
    pub(super) data: Option<serde_json::Value>,
    /// A new version of the artifact that the message refers to: its name is kept, and if it is not clear which one
    /// is meant, the user is asked.
    #[serde(default)]
    pub(super) refine: bool,
}

impl Script {
    pub fn parse(text: &str) -> Result<Self, BadScript> {
        let Written { rules } = serde_saphyr::from_str(text)?;
        for (index, rule) in rules.iter().enumerate() {
            rule.check().map_err(|problem| BadScript::Rule { rule: index + 1, problem })?;
        }
        Ok(Self { rules: rules.into_iter().map(Arc::new).collect() })
    }

    /// The rule of the first message that any rule asks for by name; without one, the rule for anything.
    pub(super) fn rule<'a>(&self, messages: impl Iterator<Item = &'a Message>) -> Option<&Arc<Rule>> {
        let mut named =
            messages.filter_map(|m| self.rules.iter().find(|r| !r.when.is_anything() && r.when.holds(m)));
        named.next().or_else(|| self.rules.iter().find(|rule| rule.when.is_anything()))
    }
}

impl When {
    fn is_anything(&self) -> bool {
        self.text.is_none() && self.message_id.is_none()
    }

    fn holds(&self, message: &Message) -> bool {
        let said = |text: &String| message.text().to_lowercase().contains(&text.to_lowercase());
        let called = |id: &String| message.message_id.starts_with(id.as_str());
        self.text.as_ref().is_none_or(said) && self.message_id.as_ref().is_none_or(called)
    }
}

impl Rule {
    pub(super) fn reply(&self) -> Option<&str> {
        match self.steps.as_slice() {
            [Line::Reply(text)] => Some(text),
            _ => None,
        }
    }

    fn check(&self) -> Result<(), &'static str> {
        let (last, before) = self.steps.split_last().ok_or("has nothing to do")?;
        if before.iter().any(Line::ends) {
            return Err("goes on behind a step that ends it");
        }
        if matches!(last, Line::Reply(_)) && !before.is_empty() {
            return Err("a reply stands alone: it makes no task");
        }
        self.steps.iter().try_for_each(Line::check)
    }
}

impl Line {
    fn ends(&self) -> bool {
        matches!(self, Self::Ask(_) | Self::Reply(_) | Self::Complete(_) | Self::Reject(_) | Self::Fail(_))
    }

    fn check(&self) -> Result<(), &'static str> {
        let Self::Artifact(thing) = self else { return Ok(()) };
        let contents =
            [thing.text.is_some(), thing.bytes.is_some(), thing.url.is_some(), thing.data.is_some()];
        if contents.into_iter().filter(|given| *given).count() != 1 {
            return Err("an artifact has exactly one of text, bytes, url and data");
        }
        match &thing.bytes {
            Some(bytes) if STANDARD.decode(bytes).is_err() => Err("the bytes of an artifact are not base64"),
            _ => Ok(()),
        }
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
        let said = |m: &[Message]| format!("{:?}", script.rule(m.iter()).unwrap().steps);
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
            ("rules:\n- do: [say: a, reply: b]\n", "rule 1: a reply stands alone: it makes no task"),
            (
                "rules:\n- do: [artifact: {name: a}]\n",
                "rule 1: an artifact has exactly one of text, bytes, url and data",
            ),
            ("rules:\n- do: [artifact: {bytes: '%'}]\n", "rule 1: the bytes of an artifact are not base64"),
        ] {
            assert_eq!(Script::parse(text).unwrap_err().to_string(), problem, "{text}");
        }
        for text in [
            "rules:\n- do: [sing: a]\n",
            "rules:\n- when: {txt: a}\n  do: [say: a]\n",
            "rules:\n- do: [wait: 5]\n",
        ] {
            assert!(matches!(Script::parse(text), Err(BadScript::Syntax(_))), "{text}");
        }
    }
}
