//! What was typed as the answer to a tool call. Pure. Never a guess: what is not plainly one of the options is asked for
//! again.

use crate::proto::devtool::{ConfirmationOption, ConfirmationOptionKind, Question};

/// The letter that edits a proposed file, where there is one.
pub const EDIT: char = 'e';

/// What an answer means.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer<'a> {
    Choose {
        option: &'a ConfirmationOption,
        /// Why it is rejected.
        reason: Option<String>,
    },
    Edit,
}

/// A letter for each option, as far as there are letters: by what it means, then by its name. None is used twice, and
/// none is that for editing.
pub fn letters(options: &[ConfirmationOption]) -> Vec<Option<char>> {
    let mut taken = vec![EDIT];
    let mut letters = vec![None; options.len()];
    for named in [false, true] {
        for (option, letter) in options.iter().zip(&mut letters).filter(|(_, letter)| letter.is_none()) {
            let name = option.name.chars().filter(|_| named).flat_map(char::to_lowercase);
            let mut wanted = usual(option.kind()).into_iter().filter(|_| !named).chain(name);
            *letter = wanted.find(|letter| letter.is_ascii_lowercase() && !taken.contains(letter));
            taken.extend(*letter);
        }
    }
    letters
}

fn usual(kind: ConfirmationOptionKind) -> Option<char> {
    match kind {
        ConfirmationOptionKind::AllowOnce => Some('y'),
        ConfirmationOptionKind::AllowAlways => Some('a'),
        ConfirmationOptionKind::RejectOnce => Some('n'),
        ConfirmationOptionKind::RejectAlways | ConfirmationOptionKind::Unspecified => None,
    }
}

/// An option by its number, its letter, its id or its name; behind one that rejects, the reason.
pub fn read<'a>(
    typed: &str,
    options: &'a [ConfirmationOption],
    editable: bool,
) -> Result<Answer<'a>, String> {
    let typed = typed.trim();
    if typed.is_empty() {
        return Err("nothing was answered".to_owned());
    }
    if let Some(option) = named(typed, options) {
        return Ok(Answer::Choose { option, reason: None });
    }
    if editable && typed.eq_ignore_ascii_case(&EDIT.to_string()) {
        return Ok(Answer::Edit);
    }
    let (word, rest) = typed.split_once(char::is_whitespace).unwrap_or((typed, ""));
    let Some(option) = named(word.trim_end_matches([',', ':']), options) else {
        return Err(format!("`{word}` is none of the options"));
    };
    match rejects(option) {
        true => Ok(Answer::Choose { option, reason: Some(rest.trim().to_owned()) }),
        false => Err(format!("only a rejection takes words; answer `{word}` alone")),
    }
}

fn named<'a>(word: &str, options: &'a [ConfirmationOption]) -> Option<&'a ConfirmationOption> {
    let letters = letters(options);
    let is = |(at, option): &(usize, &ConfirmationOption)| {
        word == (at + 1).to_string()
            || word.eq_ignore_ascii_case(&option.id)
            || word.eq_ignore_ascii_case(&option.name)
            || letters
                .get(*at)
                .copied()
                .flatten()
                .is_some_and(|letter| word.eq_ignore_ascii_case(&letter.to_string()))
    };
    options.iter().enumerate().find(is).map(|(_, option)| option)
}

pub fn rejects(option: &ConfirmationOption) -> bool {
    matches!(option.kind(), ConfirmationOptionKind::RejectOnce | ConfirmationOptionKind::RejectAlways)
}

/// The option that means it, if there is just one kind of it.
pub fn of_kind(options: &[ConfirmationOption], kind: ConfirmationOptionKind) -> Option<&ConfirmationOption> {
    options.iter().find(|option| option.kind() == kind)
}

/// The answer to a question: numbers stand for its choices, anything else for itself.
pub fn to_question(typed: &str, question: &Question) -> Result<String, String> {
    let typed = typed.trim();
    let parts: Vec<&str> = match question.several {
        true => typed.split(',').map(str::trim).collect(),
        false => vec![typed],
    };
    let chosen = parts.iter().map(|part| choice(part, question)).collect::<Result<Vec<_>, _>>()?;
    Ok(chosen.join(", "))
}

fn choice(part: &str, question: &Question) -> Result<String, String> {
    match part.parse::<usize>() {
        Ok(number) if !question.choices.is_empty() => {
            let chosen = number.checked_sub(1).and_then(|at| question.choices.get(at));
            chosen.map(|choice| choice.label.clone()).ok_or_else(|| format!("there is no choice {number}"))
        }
        _ => Ok(part.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::devtool::Choice;

    fn option(id: &str, name: &str, kind: ConfirmationOptionKind) -> ConfirmationOption {
        ConfirmationOption { id: id.to_owned(), name: name.to_owned(), description: None, kind: kind.into() }
    }

    fn options() -> Vec<ConfirmationOption> {
        use ConfirmationOptionKind::*;
        vec![
            option("proceed_once", "Allow once", AllowOnce),
            option("tool", "Always allow this tool", AllowAlways),
            option("server", "Always allow x", AllowAlways),
            option("strange", "Érase", Unspecified),
            option("cancel", "Reject", RejectOnce),
        ]
    }

    #[test]
    fn every_option_has_a_letter_of_its_own() {
        assert_eq!(letters(&options()), [Some('y'), Some('a'), Some('l'), Some('r'), Some('n')]);
        let full: Vec<_> = (0..3).map(|_| option("i", "e", ConfirmationOptionKind::Unspecified)).collect();
        assert_eq!(letters(&full), [None, None, None]);
    }

    #[test]
    fn only_what_is_plainly_an_option_is_one() {
        let options = options();
        for (typed, id, reason) in [
            ("1", "proceed_once", None),
            (" y ", "proceed_once", None),
            ("Y", "proceed_once", None),
            ("proceed_once", "proceed_once", None),
            ("allow once", "proceed_once", None),
            ("l", "server", None),
            ("5", "cancel", None),
            ("n", "cancel", None),
            ("n too loud", "cancel", Some("too loud")),
            ("cancel: not  there", "cancel", Some("not  there")),
            ("5, no", "cancel", Some("no")),
        ] {
            let expected = options.iter().find(|option| option.id == id).unwrap();
            let reason = reason.map(str::to_owned);
            assert_eq!(
                read(typed, &options, false),
                Ok(Answer::Choose { option: expected, reason }),
                "{typed}"
            );
        }
        for typed in ["", "  ", "6", "0", "yes please", "y go on", "proceed", "e", "ok", "1 2", "-1"] {
            assert!(read(typed, &options, false).is_err(), "{typed}");
        }
        assert_eq!(read("E", &options, true), Ok(Answer::Edit));
    }

    #[test]
    fn numbers_stand_for_choices() {
        let choice = |label: &str| Choice { label: label.to_owned(), description: String::new() };
        let one = Question { choices: vec![choice("red"), choice("blue")], ..Question::default() };
        let several = Question { several: true, ..one.clone() };
        for (typed, question, answer) in [
            ("2", &one, Ok("blue")),
            ("green", &one, Ok("green")),
            ("3", &one, Err(())),
            ("1, 2", &several, Ok("red, blue")),
            ("7", &Question::default(), Ok("7")),
        ] {
            assert_eq!(to_question(typed, question).map_err(drop), answer.map(str::to_owned), "{typed}");
        }
    }
}
