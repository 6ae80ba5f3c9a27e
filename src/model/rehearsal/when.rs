//! What a rule waits for. Pure.

use serde::Deserialize;

/// Stands in a recording for a secret that was there. Whatever stands in its place now is as good.
pub(in crate::model) const SECRET: &str = "[secret]";

/// All that is given must hold; nothing given matches anything.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct When {
    /// Stands somewhere in the text of the message, in whatever case.
    text: Option<String>,
    /// Is the text of the message, to the letter.
    said: Option<String>,
    /// It is the so many-th thing that the user said. Only the model knows it.
    turn: Option<usize>,
    /// So often tools have answered since. Only the model knows it. Such a rule is one answer.
    answered: Option<usize>,
    /// The id of the message begins with this. Only the agent knows it.
    message_id: Option<String>,
}

/// What a rule is looked for with.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Asked<'a> {
    pub(super) text: &'a str,
    pub(super) turn: Option<usize>,
    pub(super) answered: Option<usize>,
    pub(super) message_id: Option<&'a str>,
}

impl When {
    pub(super) fn is_anything(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn holds(&self, asked: Asked) -> bool {
        let called = |id: &String| asked.message_id.is_some_and(|given| given.starts_with(id.as_str()));
        let contains = |text: &String| asked.text.to_lowercase().contains(&text.to_lowercase());
        self.text.as_ref().is_none_or(contains)
            && self.said.as_ref().is_none_or(|said| is(said, asked.text))
            && self.turn.is_none_or(|turn| asked.turn == Some(turn))
            && self.answered.is_none_or(|answered| asked.answered == Some(answered))
            && self.message_id.as_ref().is_none_or(called)
    }

    /// It is about one answer of the model.
    pub(super) fn is_one_answer(&self) -> bool {
        self.answered.is_some()
    }

    pub(super) fn needs_agent(&self) -> bool {
        self.message_id.is_some()
    }

    pub(super) fn needs_model(&self) -> bool {
        self.turn.is_some() || self.answered.is_some()
    }
}

/// To the letter, but for secrets.
fn is(said: &str, text: &str) -> bool {
    let Some((first, behind)) = said.split_once(SECRET) else { return said == text };
    let (between, last) = behind.rsplit_once(SECRET).unwrap_or(("", behind));
    let Some(mut rest) = text.strip_prefix(first).and_then(|rest| rest.strip_suffix(last)) else {
        return false;
    };
    for piece in between.split(SECRET) {
        let Some(at) = rest.find(piece) else { return false };
        rest = &rest[at + piece.len()..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_stands_for_whatever_was_there() {
        for (said, text, same) in [
            ("a", "a", true),
            ("a", "A", false),
            ("a", "a b", false),
            ("key [secret].", "key abc.", true),
            ("key [secret].", "key [secret].", true),
            ("key [secret].", "key abc", false),
            ("[secret]", "", true),
            ("a [secret] b [secret] c", "a 1 b 2 c", true),
            ("a [secret] b [secret] c", "a 1 d 2 c", false),
            ("a[secret]a", "a", false),
        ] {
            assert_eq!(is(said, text), same, "{said} {text}");
        }
    }

    #[test]
    fn all_that_is_given_must_hold() {
        let when: When = serde_saphyr::from_str("{said: go, turn: 2, answered: 1}").unwrap();
        let asked = Asked { text: "go", turn: Some(2), answered: Some(1), message_id: None };
        assert!(when.holds(asked));
        for other in [
            Asked { text: "Go", ..asked },
            Asked { turn: Some(1), ..asked },
            Asked { turn: None, ..asked },
            Asked { answered: Some(0), ..asked },
            Asked { answered: None, ..asked },
        ] {
            assert!(!when.holds(other), "{other:?}");
        }
    }
}
