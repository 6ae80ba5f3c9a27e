//! Rules: loading them with their examples, and what "always" can stand for.

use std::collections::BTreeSet;

use agena::agent::policy::rule::{Match, covers, grants};
use agena::agent::policy::{About, AlwaysRule, BadRule, Decision, Place, Rule, RuleSpec};
use agena::domain::tool::Kind;

use super::kit::{self, command, edit, fetch, mcp, on_command, on_path, read, spec};

fn load(spec: RuleSpec) -> Result<(), BadRule> {
    Rule::try_from(spec).map(drop)
}

#[test]
fn a_rule_that_cannot_be_meant_is_not_loaded() {
    for tool in ["", "read*", "*_file", "mcp_*", "mcp__*", "a b", "**"] {
        assert_eq!(load(spec(tool, Decision::Allow)), Err(BadRule::Tool(tool.into())));
    }
    for words in ["", "  ", "git 'status'", "ls; rm", "ls $x", "git *", "ls > x", "l\u{455}"] {
        assert_eq!(load(on_command(words, Decision::Deny)), Err(BadRule::Command(words.into())));
    }
    for words in ["eval", "source x", ". x", "trap x", "A=1 ls", "time ls"] {
        assert!(
            matches!(load(on_command(words, Decision::Allow)), Err(BadRule::NeverAllowed { .. })),
            "{words}"
        );
        assert_eq!(load(on_command(words, Decision::Deny)), Ok(()), "{words}");
    }
    assert!(matches!(load(on_path("*", "a[", Decision::Deny)), Err(BadRule::Path(_))));
    let both = RuleSpec { path: Some("a".into()), ..on_command("ls", Decision::Allow) };
    assert_eq!(load(both), Err(BadRule::Both));
}

#[test]
fn examples_are_tried_when_a_rule_is_loaded() {
    let with = |spec: RuleSpec, matches: &[&str], not: &[&str]| RuleSpec {
        matches: matches.iter().map(|m| (*m).to_owned()).collect(),
        not_matches: not.iter().map(|m| (*m).to_owned()).collect(),
        ..spec
    };
    let good = [
        with(
            on_command("git status", Decision::Allow),
            &["git status -s"],
            &["git statusx", "git -C x status"],
        ),
        with(on_command("git push", Decision::Deny), &["ls; git push", "/bin/git push"], &["git pull", "$x"]),
        with(on_path("write_file", "docs/**", Decision::Allow), &["docs/a/b.md"], &["docs2/a", "../docs/a"]),
        with(on_path("*", "**/*.pem", Decision::Deny), &["a.pem", "x/A.PEM"], &["a.pem.txt"]),
        with(spec("mcp_hub_*", Decision::Ask), &["mcp_hub_x"], &["mcp_lab_x", "read_file"]),
        with(spec("read_file", Decision::Ask), &["read_file"], &["write_file"]),
    ];
    for rule in good {
        assert_eq!(load(rule.clone()), Ok(()), "{rule:?}");
    }
    let missed = with(on_command("git status", Decision::Allow), &["git status; rm x"], &[]);
    assert_eq!(load(missed), Err(BadRule::Missed("git status; rm x".into())));
    let caught = with(on_command("git", Decision::Allow), &[], &["git push"]);
    assert_eq!(load(caught), Err(BadRule::Caught("git push".into())));
}

#[test]
fn a_rule_is_read_from_a_file_and_knows_its_keys() {
    let text = "{tool: run_shell_command, command: git status, decision: allow, matches: [git status -s]}";
    let spec: RuleSpec = serde_saphyr::from_str(text).unwrap();
    assert_eq!(spec.command.as_deref(), Some("git status"));
    assert_eq!(load(spec), Ok(()));
    assert!(serde_saphyr::from_str::<RuleSpec>("{tool: x, decision: allow, comand: ls}").is_err());
    assert!(serde_saphyr::from_str::<RuleSpec>("{tool: x, decision: always}").is_err());
}

#[test]
fn paths_of_strict_rules_match_in_any_case_and_any_of_several() {
    let rule = Rule::try_from(on_path("*", "**/.env*", Decision::Deny)).unwrap();
    for path in [".env", ".ENV", "a/b/.env.local", "a/../.env"] {
        assert_eq!(rule.touches(&read(path)), Match::Yes, "{path}");
        assert_eq!(rule.touches(&edit(path)), Match::Yes, "{path}");
    }
    assert_eq!(rule.touches(&read("env")), Match::No);
    assert_eq!(rule.touches(&command("cat .env")), Match::No);
}

#[test]
fn a_search_is_asked_for_where_denied_files_could_lie() {
    use agena::domain::tool::Extent::{All, Entries, Itself};
    for (glob, place, extent, expected) in [
        ("secrets/**", "secrets/key", Itself, Match::Yes),
        ("secrets/**", "secrets", Itself, Match::Yes),
        ("secrets/**", "SECRETS", Entries, Match::Yes),
        ("secrets/**", "", All, Match::Maybe),
        ("secrets/**", "", Entries, Match::No),
        ("secrets/**", "", Itself, Match::No),
        ("secrets/**", "src", All, Match::No),
        ("secrets/**", "secrets2", All, Match::No),
        ("a/secrets/**", "a", All, Match::Maybe),
        ("a/secrets/**", "A", All, Match::Maybe),
        ("a/secrets/**", "b", All, Match::No),
        ("*/secrets/**", "b", All, Match::Maybe),
        ("**/*.pem", "src/deep", All, Match::Maybe),
        ("**/*.pem", "src/deep", Entries, Match::Maybe),
        ("src/*.pem", "src", Entries, Match::Maybe),
        ("src/*.pem", "src/deep", All, Match::No),
        ("{a,b/c}/x", "b", All, Match::Maybe),
        ("key", "", Entries, Match::Maybe),
        ("key", "src", All, Match::No),
    ] {
        let rule = Rule::try_from(on_path("*", glob, Decision::Deny)).unwrap();
        let about = About::Reach(vec![(Place::of(place, kit::WORKSPACE), extent)]);
        let subject = kit::subject("grep_search", Kind::Search, about);
        assert_eq!(rule.touches(&subject), expected, "{glob} {place:?} {extent:?}");
    }
}

fn granted(text: &str) -> Option<Vec<String>> {
    let roots = |rule| match rule {
        AlwaysRule::Command { root } => root,
        other => panic!("{other}"),
    };
    grants(&command(text), "proceed_always").map(|rules| rules.into_iter().map(roots).collect())
}

#[test]
fn always_stands_for_programs_that_do_what_they_say() {
    let table: &[(&str, &[&str])] = &[
        ("ls -la", &["ls"]),
        ("ls | wc -l && ls", &["ls", "wc"]),
        ("git status -s", &["git status"]),
        ("git diff HEAD~1 && git log", &["git diff", "git log"]),
        ("find . -name x", &["find"]),
        ("rg foo src | sort | head -5", &["head", "rg", "sort"]),
        ("echo $(date)", &["date", "echo"]),
    ];
    for (text, roots) in table {
        assert_eq!(granted(text).unwrap(), *roots, "{text}");
    }
}

#[test]
fn always_never_stands_for_what_runs_something_else() {
    let never = "sh bash zsh dash python python3 python3.11 pypy3 node nodejs perl ruby php lua lua5.4 awk gawk sed \
        xargs env sudo doas su nohup timeout nice watch ssh docker kubectl make npm npx yarn pnpm cargo go pip pip3 ed \
        vim tee dd curl wget rm cp mv chmod tar ./x /bin/ls a/b PYTHON busybox git setsid parallel deno uv java gcc-12";
    for name in never.split_whitespace() {
        assert_eq!(granted(name), None, "{name}");
        assert_eq!(granted(&format!("ls && {name} x")), None, "{name}");
    }
    let arguments = [
        "find . -exec rm x",
        "find . -execdir x",
        "find . -delete",
        "find . -fprint x",
        "find . -ok x",
        "find $(ls)",
        "git push",
        "git -c a=b status",
        "git -C x status",
        "git foo",
        "git $(ls)",
        "git diff --output=x",
        "git diff --ext-diff",
        "git diff --outp=x",
        "rg --pre x y",
        "rg --pr=x",
        "sort -o x",
        "sort -uo x",
        "sort --compress-program=x",
        "sort --comp=x",
        "fd -x rm",
        "date -s x",
        "eval ls",
        "command ls",
        "source x",
        "ls > x",
        "ls $x",
        "ls &",
        "A=1 ls",
        "",
    ];
    for text in arguments {
        assert_eq!(granted(text), None, "{text}");
    }
}

#[test]
fn what_is_granted_covers_the_call_and_no_other_kind() {
    let subjects = [
        (command("ls"), "proceed_always"),
        (edit("a"), "proceed_always"),
        (fetch(&["a.com"]), "proceed_always"),
        (mcp("hub", "x", Kind::Other), "proceed_always_tool"),
        (mcp("hub", "x", Kind::Other), "proceed_always_server"),
    ];
    for (index, (subject, option)) in subjects.iter().enumerate() {
        let rules: Vec<AlwaysRule> = grants(subject, option).unwrap().into_iter().collect();
        assert_eq!(rules.len(), 1);
        let covered: Vec<usize> =
            (0..subjects.len()).filter(|n| covers(&rules[0], &subjects[*n].0)).collect();
        assert_eq!(covered, if index < 3 { vec![index] } else { vec![3, 4] }, "{}", rules[0]);
    }
    let hosts = grants(&fetch(&["a.com", "b.com"]), "proceed_always").unwrap();
    let names = ["a.com", "b.com"].map(|name| AlwaysRule::Host { name: name.into() });
    assert_eq!(hosts, BTreeSet::from(names));
}

#[test]
fn other_options_grant_nothing() {
    for option in ["proceed_once", "cancel", "proceed_always_tool", "proceed_always_server", "", "always"] {
        assert_eq!(grants(&command("ls"), option), None, "{option}");
        assert_eq!(grants(&edit("a"), option), None, "{option}");
    }
    assert_eq!(grants(&mcp("hub", "x", Kind::Edit), "proceed_always"), None);
    assert_eq!(grants(&fetch(&[]), "proceed_always"), None);
    assert_eq!(grants(&kit::ask_user(), "proceed_always"), None);
}
