//! The differences to Python that are meant, each with its reason: `tests/golden/protojson/differences.json`.
//! What is not listed fails, and so does what is listed and no longer there.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// By the names of cases, in which `*` stands for anything.
pub type Listed = BTreeMap<String, Difference>;

#[derive(Deserialize)]
pub struct Differences {
    pub encode: Listed,
    pub decode: Listed,
}

/// What each side makes of a case: `"refused"`, `"accepted"`, or exactly this message.
#[derive(Deserialize)]
pub struct Difference {
    ours: Value,
    python: Value,
    reason: String,
}

/// What came out on both sides. None is a refusal.
pub struct Outcome<'a> {
    pub case: &'a str,
    pub ours: Option<Value>,
    pub python: Option<Value>,
    pub differs: bool,
}

pub fn listed() -> Differences {
    serde_json::from_str(include_str!("../../golden/protojson/differences.json"))
        .expect("the list is well-formed")
}

/// Fails with every line that is not as listed.
pub fn check(listed: &Listed, outcomes: &[Outcome<'_>]) {
    let mut wrong: Vec<String> = outcomes.iter().filter_map(|outcome| judge(listed, outcome)).collect();
    for (pattern, difference) in listed {
        if !outcomes.iter().any(|outcome| matches(pattern, outcome.case)) {
            wrong.push(format!("{pattern:?} is listed, but there is no such case"));
        }
        if difference.reason.len() < 20 {
            wrong.push(format!("{pattern:?} is listed without a reason"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), outcomes.len(), wrong.join("\n"));
}

fn judge(listed: &Listed, outcome: &Outcome<'_>) -> Option<String> {
    let Outcome { case, ours, python, differs } = outcome;
    let found: Vec<&Difference> = listed
        .iter()
        .filter(|(pattern, _)| matches(pattern, case))
        .map(|(_, difference)| difference)
        .collect();
    match (found.as_slice(), differs) {
        ([], false) => None,
        ([], true) => {
            Some(format!("{case:?} differs:\n    ours   {}\n    python {}", show(ours), show(python)))
        }
        ([_], false) => Some(format!("{case:?} is listed, but no longer differs")),
        ([one], true) if says(&one.ours, ours) && says(&one.python, python) => None,
        ([_], true) => Some(format!("{case:?} differs in another way: {} and {}", show(ours), show(python))),
        _ => Some(format!("{case:?} is listed {} times", found.len())),
    }
}

fn says(listed: &Value, outcome: &Option<Value>) -> bool {
    match (listed.as_str(), outcome) {
        (Some("refused"), outcome) => outcome.is_none(),
        (Some("accepted"), outcome) => outcome.is_some(),
        (_, outcome) => outcome.as_ref() == Some(listed),
    }
}

fn show(outcome: &Option<Value>) -> String {
    outcome.as_ref().map_or("refused".to_owned(), |value| value.to_string().chars().take(300).collect())
}

fn matches(pattern: &str, case: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == case,
        Some((head, rest)) => case.strip_prefix(head).is_some_and(|tail| {
            (0..=tail.len()).filter(|at| tail.is_char_boundary(*at)).any(|at| matches(rest, &tail[at..]))
        }),
    }
}
