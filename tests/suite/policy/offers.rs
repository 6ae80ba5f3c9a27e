//! What is offered for each kind of call.

use std::collections::BTreeSet;

use agena::agent::policy::{
    About, AlwaysRule, Decision, Mode, Policy, Subject, Verdict, decide, options, rule,
};
use agena::domain::tool::Kind;
use agena::proto::devtool::ConfirmationOptionKind as K;

use super::kit::{self, ask_user, command, edit, fetch, mcp, on_command, spec};

fn ids(subject: &Subject, policy: &Policy) -> String {
    let offered = options::offered(subject, policy);
    offered.into_iter().map(|option| option.id).collect::<Vec<_>>().join(" ")
}

#[test]
fn each_kind_of_call_has_its_options_in_order() {
    let other = |kind| kit::subject("tool", kind, About::Nothing);
    let table = [
        (command("ls"), "proceed_once proceed_always cancel"),
        (command("ls; python x"), "proceed_once cancel"),
        (command("ls > x"), "proceed_once cancel"),
        (edit("a"), "proceed_once proceed_always cancel"),
        (edit(".env"), "proceed_once cancel"),
        (edit("/etc/x"), "proceed_once cancel"),
        (mcp("hub", "x", Kind::Other), "proceed_once proceed_always_tool proceed_always_server cancel"),
        (fetch(&["a.com"]), "proceed_once proceed_always cancel"),
        (fetch(&[]), "proceed_once cancel"),
        (other(Kind::Other), "proceed_once cancel"),
        (other(Kind::Edit), "proceed_once cancel"),
        (ask_user(), "proceed_once cancel"),
    ];
    for (subject, expected) in table {
        assert_eq!(ids(&subject, &Policy::default()), expected, "{subject:?}");
    }
}

#[test]
fn always_is_not_offered_where_the_operator_asks_anyway() {
    let ask = kit::policy(Mode::Default, [spec("*", Decision::Ask)]);
    for subject in [command("ls"), edit("a"), mcp("hub", "x", Kind::Other), fetch(&["a.com"])] {
        assert_eq!(ids(&subject, &ask), "proceed_once cancel");
    }
    let partly = kit::policy(Mode::Default, [on_command("ls -R", Decision::Ask)]);
    assert_eq!(ids(&command("ls -R"), &partly), "proceed_once cancel");
    assert_eq!(ids(&command("ls"), &partly), "proceed_once proceed_always cancel");
}

#[test]
fn an_always_that_was_chosen_is_the_last_time_it_is_asked() {
    let subjects = [command("ls | wc"), edit("a"), mcp("hub", "x", Kind::Other), fetch(&["a.com", "b.com"])];
    for subject in subjects {
        for option in options::offered(&subject, &Policy::default()) {
            let always = rule::grants(&subject, &option.id).unwrap_or_default();
            assert_eq!(always.is_empty(), option.kind() != K::AllowAlways);
            let later = Policy { always, ..Policy::default() };
            let expected = if later.always.is_empty() { Verdict::Ask } else { Verdict::Allow };
            assert_eq!(decide(&subject, &later), expected, "{}", option.id);
        }
    }
}

#[test]
fn options_say_what_they_mean() {
    let words = |subject: &Subject| {
        let offered = options::offered(subject, &Policy::default());
        offered.iter().map(|o| (o.name.clone(), o.kind())).collect::<Vec<_>>()
    };
    let named = |names: &[(&str, K)]| names.iter().map(|(n, k)| ((*n).to_owned(), *k)).collect::<Vec<_>>();
    let (once, reject) = (("Allow once", K::AllowOnce), ("Reject", K::RejectOnce));
    let table = [
        (
            command("ls && git status"),
            named(&[once, ("Always allow `git status`, `ls`", K::AllowAlways), reject]),
        ),
        (edit("a"), named(&[once, ("Always allow edits", K::AllowAlways), reject])),
        (fetch(&["a.com", "b.com"]), named(&[once, ("Always allow a.com, b.com", K::AllowAlways), reject])),
        (
            mcp("hub", "x", Kind::Other),
            named(&[
                once,
                ("Always allow this tool", K::AllowAlways),
                ("Always allow hub", K::AllowAlways),
                reject,
            ]),
        ),
        (ask_user(), named(&[("Send the answers", K::AllowOnce), ("Do not answer", K::RejectOnce)])),
    ];
    for (subject, expected) in table {
        assert_eq!(words(&subject), expected);
        let offered = options::offered(&subject, &Policy::default());
        assert!(offered.iter().all(|o| o.description.as_ref().is_some_and(|d| !d.is_empty())));
    }
}

#[test]
fn a_command_that_is_not_understood_says_why() {
    assert_eq!(options::remark(&command("ls")), None);
    let remark = options::remark(&command("ls > x")).unwrap();
    assert_eq!(remark, "Always asked for, because it redirects to or from a file.");
}

#[test]
fn what_is_remembered_can_be_told() {
    let rules = BTreeSet::from([
        AlwaysRule::Edits,
        AlwaysRule::Command { root: "git status".into() },
        AlwaysRule::Host { name: "a.com".into() },
    ]);
    let told: Vec<String> = rules.iter().map(ToString::to_string).collect();
    assert_eq!(told, ["edits of files in the workspace", "the command `git status`", "fetching from a.com"]);
}
