//! Modes, kinds and rules against each other: the table of the policy, line by line.

use std::collections::BTreeSet;

use agena::agent::policy::{AlwaysRule, Decision, Mode, Policy, Subject, Verdict, decide};
use agena::domain::tool::Kind;
use agena::proto::devtool::ApprovalMode;

use super::kit::{self, ask_user, command, edit, fetch, mcp, on_command, on_path, read, spec};

const MODES: [Mode; 4] = [Mode::Plan, Mode::Default, Mode::AutoEdit, Mode::Yolo];

/// One letter for each mode: Allow, asK, Deny.
fn letters(subject: &Subject, policy: impl Fn(Mode) -> Policy) -> String {
    let letter = |mode| match decide(subject, &policy(mode)) {
        Verdict::Allow => 'A',
        Verdict::Ask => 'K',
        Verdict::Deny { .. } => 'D',
    };
    MODES.into_iter().map(letter).collect()
}

fn check(table: &[(&str, Subject, &str)], policy: impl Fn(Mode) -> Policy) {
    for (name, subject, expected) in table {
        assert_eq!(letters(subject, &policy), *expected, "{name}: plan, default, auto_edit, yolo");
    }
}

fn other(kind: Kind) -> Subject {
    kit::subject("tool", kind, agena::agent::policy::About::Nothing)
}

#[test]
fn without_rules_the_mode_and_the_kind_decide() {
    let table = [
        ("read", read("src/lib.rs"), "AAAA"),
        ("read a secret", read(".env"), "AAAA"),
        ("search", other(Kind::Search), "AAAA"),
        ("think", other(Kind::Think), "AAAA"),
        ("edit", edit("src/lib.rs"), "DKAA"),
        ("edit, sensitive", edit(".git/config"), "DKKA"),
        ("edit, outside", edit("/etc/passwd"), "DKKA"),
        ("edit, unknown place", other(Kind::Edit), "DKKA"),
        ("command", command("ls"), "DKKA"),
        ("command, not understood", command("ls $x"), "DKKA"),
        ("fetch", fetch(&["example.com"]), "DKKA"),
        ("other", other(Kind::Other), "DKKA"),
        ("a question of the agent", ask_user(), "KKKK"),
        ("a server's tool", mcp("hub", "x", Kind::Other), "DKKA"),
        ("a server's tool that says it reads", mcp("hub", "x", Kind::Read), "KKKA"),
    ];
    check(&table, |mode| kit::policy(mode, []));
}

#[test]
fn a_kind_that_does_not_fit_what_is_shown_is_not_believed() {
    let memory = Subject { kind: Kind::Think, ..edit("GEMINI.md") };
    let run = Subject { kind: Kind::Read, ..command("ls") };
    check(&[("memory", memory, "DKKA"), ("run", run, "DKKA")], |mode| kit::policy(mode, []));
}

#[test]
fn always_asks_holds_in_every_mode_and_against_every_rule_but_deny() {
    let asks = |subject| Subject { always_asks: true, ..subject };
    let table = [
        ("question", ask_user(), "KKKK"),
        ("edit", asks(edit("a")), "KKKK"),
        ("read", asks(read("a")), "KKKK"),
    ];
    check(&table, |mode| kit::policy(mode, [spec("*", Decision::Allow)]));
    let denied = [("question", ask_user(), "DDDD")];
    check(&denied, |mode| kit::policy(mode, [spec("ask_user", Decision::Deny)]));
}

#[test]
fn deny_beats_everything_and_ask_beats_everything_else() {
    let table = |letters| {
        [
            ("read", read("a"), letters),
            ("edit", edit("a"), letters),
            ("command", command("ls"), letters),
            ("server", mcp("hub", "x", Kind::Read), letters),
        ]
    };
    let all = [Decision::Allow, Decision::Ask, Decision::Deny].map(|decision| spec("*", decision));
    check(&table("DDDD"), |mode| kit::policy(mode, all.clone()));
    let [allow, ask, _] = all;
    let policy = |mode| kit::policy(mode, [ask.clone(), allow.clone()]);
    check(&[("read", read("a"), "KKKK"), ("edit", edit("a"), "DKKK"), ("ls", command("ls"), "DKKK")], policy);
}

#[test]
fn allowing_rules_reach_what_they_name() {
    let policy = |mode| {
        let paths = on_path("write_file", ".github/workflows/*.yml", Decision::Allow);
        kit::policy(mode, [spec("*", Decision::Allow), on_command("ls", Decision::Allow), paths])
    };
    let table = [
        ("edit", edit("a"), "DAAA"),
        ("edit, sensitive and not named", edit(".env"), "DKKA"),
        ("edit, sensitive and named", edit(".github/workflows/ci.yml"), "DAAA"),
        ("fetch", fetch(&[]), "DAAA"),
        ("server", mcp("hub", "x", Kind::Other), "DAAA"),
        ("named command", command("ls"), "DAAA"),
        ("other command", command("pwd"), "DKKA"),
    ];
    check(&table, policy);
}

#[test]
fn in_doubt_about_a_forbidden_command_even_yolo_asks() {
    let rules = [
        on_command("git push", Decision::Deny),
        on_command("rm", Decision::Ask),
        on_command("python check.py", Decision::Allow),
    ];
    let table = [
        ("denied", command("git push"), "DDDD"),
        ("denied in a part", command("ls && git push origin"), "DDDD"),
        ("denied at a path", command("/usr/bin/git push"), "DDDD"),
        ("denied in a substitution", command("echo \"$(git push)\""), "DDDD"),
        ("asked", command("rm x"), "DKKK"),
        ("not understood", command("$x push"), "DKKK"),
        ("not understood", command("git push > x"), "DKKK"),
        ("computed", command("git $(echo push)"), "DKKK"),
        ("wrapped", command("env git push"), "DKKK"),
        ("wrapped", command("bash -c 'git push'"), "DKKK"),
        ("wrapped", command("find . -exec rm x"), "DKKK"),
        ("allowed by its own name", command("python check.py"), "DAAA"),
        ("something else", command("git pull"), "DKKA"),
        ("something else", command("find . -name x"), "DKKA"),
    ];
    check(&table, |mode| kit::policy(mode, rules.clone()));
}

#[test]
fn what_the_user_always_allows_holds_but_not_against_the_operator() {
    let always = BTreeSet::from([
        AlwaysRule::Edits,
        AlwaysRule::Command { root: "ls".into() },
        AlwaysRule::Command { root: "git status".into() },
        AlwaysRule::Tool { name: "mcp_hub_x".into() },
        AlwaysRule::Server { name: "lab".into() },
        AlwaysRule::Host { name: "example.com".into() },
    ]);
    let rules = [on_command("cat", Decision::Allow), on_command("git status -s", Decision::Ask)];
    let table = [
        ("edit", edit("a"), "DAAA"),
        ("edit, sensitive", edit("AGENTS.md"), "DKKA"),
        ("command", command("ls -la"), "DAAA"),
        ("command and operator's", command("ls | cat"), "DAAA"),
        ("command and other", command("ls | wc"), "DKKA"),
        ("verb", command("git status"), "DAAA"),
        ("verb, asked by the operator", command("git status -s"), "DKKK"),
        ("other verb", command("git push"), "DKKA"),
        ("tool", mcp("hub", "x", Kind::Other), "DAAA"),
        ("other tool", mcp("hub", "y", Kind::Other), "DKKA"),
        ("server", mcp("lab", "y", Kind::Other), "DAAA"),
        ("server of a longer name", mcp("lab_2", "y", Kind::Other), "DKKA"),
        ("host", fetch(&["example.com"]), "DAAA"),
        ("host and other", fetch(&["example.com", "evil.com"]), "DKKA"),
        ("no host", fetch(&[]), "DKKA"),
    ];
    check(&table, |mode| Policy { always: always.clone(), ..kit::policy(mode, rules.clone()) });
}

#[test]
fn a_refusal_tells_the_model_what_to_do() {
    let Verdict::Deny { reason } = decide(&edit("a"), &kit::policy(Mode::Plan, [])) else { panic!() };
    assert!(reason.contains("Plan mode") && reason.contains("describe"), "{reason}");
    let said = agena::agent::policy::RuleSpec {
        reason: Some("Use the release script.".into()),
        ..on_command("git push", Decision::Deny)
    };
    let denied = decide(&command("git push"), &kit::policy(Mode::Yolo, [said]));
    assert_eq!(denied, Verdict::Deny { reason: "Use the release script.".into() });
}

#[test]
fn modes_are_those_of_the_wire_and_have_an_order() {
    assert_eq!(Mode::from_proto(ApprovalMode::Unspecified), None);
    for mode in MODES {
        assert_eq!(Mode::from_proto(mode.into()), Some(mode));
    }
    assert!(MODES.is_sorted());
    assert_eq!((Mode::default(), Verdict::default()), (Mode::Default, Verdict::Ask));
}
