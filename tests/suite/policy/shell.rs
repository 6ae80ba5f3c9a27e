//! Shell commands: the corpus, and properties that hold for commands nobody has thought of.

use std::sync::LazyLock;

use agena::agent::policy::shell::{self, MAX_BYTES, Parsed, Word};
use agena::agent::policy::{Mode, Policy, Rule, RuleSpec, Verdict, decide};
use proptest::prelude::*;
use proptest::test_runner::Config;
use serde::Deserialize;

use super::kit;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Corpus {
    rules: Vec<RuleSpec>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    command: String,
    verdict: Expected,
    why: String,
    #[serde(default)]
    with: Vec<RuleSpec>,
}

#[derive(Deserialize, PartialEq, Eq, Debug, Clone, Copy)]
#[serde(rename_all = "snake_case")]
enum Expected {
    Allow,
    Ask,
    Deny,
}

impl From<Verdict> for Expected {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Allow => Self::Allow,
            Verdict::Ask => Self::Ask,
            Verdict::Deny { .. } => Self::Deny,
        }
    }
}

static CORPUS: LazyLock<Corpus> =
    LazyLock::new(|| serde_saphyr::from_str(include_str!("shell.yaml")).unwrap());
/// The rules of the corpus alone.
static GENEROUS: LazyLock<Policy> = LazyLock::new(|| generous(&[]));

fn generous(more: &[RuleSpec]) -> Policy {
    kit::policy(Mode::Default, CORPUS.rules.iter().chain(more).cloned())
}

#[test]
fn every_command_of_the_corpus_comes_out_as_it_should() {
    let of = |expected| CORPUS.cases.iter().filter(|case| case.verdict == expected).count();
    assert!(of(Expected::Ask) >= 200 && of(Expected::Allow) >= 50, "the corpus has shrunk");
    let wrong: Vec<String> = CORPUS
        .cases
        .iter()
        .filter_map(|case| {
            let got = Expected::from(decide(&kit::command(&case.command), &generous(&case.with)));
            let text = format!("{:?}: {got:?}, not {:?}: {}", case.command, case.verdict, case.why);
            (got != case.verdict).then(|| format!("{text}; {:?}", shell::parse(&case.command)))
        })
        .collect();
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn without_rules_no_command_is_allowed_but_in_yolo() {
    for case in &CORPUS.cases {
        for mode in [Mode::Default, Mode::AutoEdit] {
            assert_eq!(decide(&kit::command(&case.command), &kit::policy(mode, [])), Verdict::Ask);
        }
        assert_eq!(decide(&kit::command(&case.command), &kit::policy(Mode::Yolo, [])), Verdict::Allow);
    }
}

#[test]
fn long_and_deep_commands_are_not_understood() {
    let long = format!("echo {}", "a".repeat(MAX_BYTES));
    let deep = format!("{}ls{}", "(".repeat(40), ")".repeat(40));
    let spaced = format!("{}ls{}", "( ".repeat(40), " )".repeat(40));
    let substituted = format!("{}ls{}", "echo $(".repeat(40), ")".repeat(40));
    let nested = "$(".repeat(MAX_BYTES / 2);
    for text in [long, deep, spaced, substituted, nested] {
        assert!(matches!(shell::parse(&text), Parsed::NotUnderstood { .. }), "{text}");
    }
}

#[test]
fn words_are_what_a_shell_would_pass() {
    let Parsed::Understood(parts) = shell::parse("git commit -m 'a b'\"c d\"-e \"x$(ls)\" 5") else {
        panic!("not understood")
    };
    let literal = |text: &str| Word::Literal(text.to_owned());
    assert_eq!(parts[0].name, "ls");
    assert_eq!(parts[1].name, "git");
    let words = [literal("commit"), literal("-m"), literal("a bc d-e"), Word::Computed, literal("5")];
    assert_eq!(parts[1].arguments, words);
    assert_eq!(parts[1].to_string(), "git commit -m a bc d-e $(..) 5");
}

#[test]
fn what_the_grammar_cannot_bear_does_not_reach_it() {
    for text in [
        "ls {\u{1f600}",
        "ls {\u{10ffff}..\u{10ffff}}",
        "ls {\u{5d0}",
        "cat <<\u{5d0}\n\u{5d0}",
        "cat <<a <<b <<c\n",
    ] {
        assert!(matches!(shell::parse(text), Parsed::NotUnderstood { .. }), "{text}");
    }
    let Parsed::Understood(parts) = shell::parse("echo '\u{5d0}\u{5d1}' \"gr\u{fc}n\"") else {
        panic!("not understood")
    };
    let words = ["\u{5d0}\u{5d1}", "gr\u{fc}n"].map(|word| Word::Literal(word.to_owned()));
    assert_eq!(parts[0].arguments, words);
}

const ALLOWED: &[&str] = &[
    "ls",
    "ls -la",
    "git status",
    "git status -s",
    "cat a",
    "echo hi",
    "echo 'a b'",
    "cargo test",
    "ls | cat",
];
const META: &[&str] = &[
    ";",
    "&&",
    "||",
    "|",
    "&",
    "\n",
    "$(",
    "`",
    "<(",
    ">(",
    ")",
    "(",
    "{",
    "}",
    ">",
    ">>",
    "<",
    "<<",
    "<<<",
    "&>",
    ">|",
    "|&",
    "\\\n",
    "\\",
    "'",
    "\"",
    "$",
    "${",
    "#",
    "!",
    "*",
    "?",
    "[",
    "]",
    "~",
    "=",
    " ",
    "\t",
    "\r",
    "\0",
    "\u{a0}",
    "\u{200b}",
    "$'",
    "$((",
    "((",
    "))",
    ";;",
    "2>&1",
    ">/dev/null",
    "/dev/null",
    "\n\n",
    "; ",
    " && ",
];

fn metacharacters() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(META), 1..6).prop_map(|parts| parts.concat())
}

/// Whether a shell could take `rm -rf x` for anything but text: not if an allowed command prints or lists it.
fn runs_only_allowed(text: &str) -> bool {
    match shell::parse(text) {
        Parsed::Understood(parts) => parts.iter().all(|part| part.name != "rm"),
        Parsed::NotUnderstood { .. } => false,
    }
}

proptest! {
    #![proptest_config(Config { cases: 2000, failure_persistence: None, ..Config::default() })]

    #[test]
    fn a_joint_and_another_command_are_never_allowed(
        allowed in prop::sample::select(ALLOWED),
        joint in prop::sample::select(&[";", "&&", "||", "|", "&", "\n", "|&", "$(", "`", "<(", ">(", "\r\n", ";;", "&\n"][..]),
        blanks in "[ \t\n]{0,3}",
        tail in metacharacters(),
    ) {
                for end in ["", ")", "`", "\n", &tail] {
            let text = format!("{allowed}{joint}{blanks}rm -rf x{end}");
            prop_assert_ne!(decide(&kit::command(&text), &GENEROUS), Verdict::Allow, "{:?}", text);
        }
    }

    #[test]
    fn metacharacters_never_smuggle_a_command_in(
        allowed in prop::sample::select(ALLOWED),
        before in metacharacters(),
        after in metacharacters(),
    ) {
        let text = format!("{allowed}{before}rm -rf x{after}");
        if decide(&kit::command(&text), &GENEROUS) == Verdict::Allow {
            prop_assert!(runs_only_allowed(&text), "{:?}", text);
            prop_assert!(is_harmless(&text), "{:?}", text);
        }
    }

    #[test]
    fn any_text_is_read_without_a_panic(text in any::<String>()) {
        let _ = shell::parse(&text);
    }

    #[test]
    fn shell_like_text_is_read_without_a_panic(parts in prop::collection::vec(prop::sample::select(META), 0..40)) {
        let _ = shell::parse(&parts.concat());
    }
}

/// A second opinion, from a scanner that knows nothing but quotes: outside of them no `rm` begins a command.
fn is_harmless(text: &str) -> bool {
    let (mut quote, mut begins, mut rest) = (None, true, text);
    while let Some(c) = rest.chars().next() {
        if quote.is_none() && begins && rest.starts_with("rm") {
            return false;
        }
        quote = match quote {
            Some(open) => (c != open).then_some(open),
            None => matches!(c, '\'' | '"').then_some(c),
        };
        begins = quote.is_none() && (";&|\n(`".contains(c) || begins && " \t".contains(c));
        rest = &rest[c.len_utf8()..];
    }
    true
}

#[test]
fn the_second_opinion_sees_what_it_should() {
    assert!(is_harmless("ls 'a;rm -rf x'") && is_harmless("ls rm -rf x"));
    assert!(!is_harmless("ls;rm -rf x") && !is_harmless("ls $( rm -rf x)") && !is_harmless("ls\nrm"));
}

#[test]
fn rules_of_the_corpus_hold_their_own_examples() {
    let rules = &CORPUS.rules;
    assert!(rules.iter().all(|rule| !rule.matches.is_empty() && !rule.not_matches.is_empty()));
    assert!(rules.iter().all(|spec| Rule::try_from(spec.clone()).is_ok()));
}
