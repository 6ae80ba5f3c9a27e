//! The commands of the terminal client: where they look, with which token, and what they are asked for.

use super::super::Command;
use super::super::client::{Approve, Ask, Chat, Client, Color, Context, Prompt, Start, Work};
use super::{FILE, Fake, refusal, run};
use crate::config::ApprovalMode;

fn asked(args: &[&str], env: &[(&str, &str)], file: &str) -> (Client, Ask) {
    match run(args, env, &Fake::with(&[(FILE, file), ("/token", "from-a-file\n")])) {
        Ok(Command::Client(_, client, ask)) => (*client, ask),
        other => panic!("{args:?} {env:?}: {other:?}"),
    }
}

#[test]
fn the_server_is_named_or_that_of_the_settings() {
    for (args, env, file, server, named) in [
        (&["tasks"][..], &[][..], "", Some("http://127.0.0.1:41242"), false),
        (&["tasks"], &[], "server.listen = '0.0.0.0:80'", Some("http://127.0.0.1:80"), false),
        (&["tasks"], &[], "server.listen = '[::]:80'", Some("http://[::1]:80"), false),
        (&["tasks"], &[], "server.listen = '127.0.0.1:0'", None, false),
        (&["tasks"], &[], "tls = { cert = '/c', key = '/k' }", Some("https://127.0.0.1:41242"), false),
        (&["--listen", "127.0.0.1:1", "tasks"], &[], "", Some("http://127.0.0.1:1"), false),
        (&["tasks"], &[("AGENA_SERVER", "a.internal:8080")], "", Some("http://a.internal:8080"), true),
        (
            &["tasks", "--server", "https://agena.example/"],
            &[("AGENA_SERVER", "a.internal:8080")],
            "",
            Some("https://agena.example"),
            true,
        ),
        (&["tasks", "--local"], &[("AGENA_SERVER", "a.internal")], "", Some("http://127.0.0.1:41242"), false),
    ] {
        let (client, _) = asked(args, env, file);
        assert_eq!(
            (client.server.as_ref().map(|url| url.as_str()), client.named),
            (server, named),
            "{args:?}"
        );
    }
}

#[test]
fn only_a_server_of_this_machine_is_here() {
    for (server, here) in [
        ("localhost:1", true),
        ("http://127.9.9.9:1", true),
        ("https://[::1]:1", true),
        ("http://192.168.0.1", false),
        ("https://localhost.example", false),
    ] {
        let (client, _) = asked(&["tasks", "--server", server], &[], "");
        assert_eq!(client.server.map(|url| url.is_here()), Some(here), "{server}");
    }
}

#[test]
fn the_token_comes_from_a_file_or_the_environment() {
    let token = |args: &[&str], env: &[(&str, &str)]| {
        asked(args, env, "").0.token.map(|token| token.expose().to_owned())
    };
    let env = [("AGENA_TOKEN", "from-the-environment")];
    assert_eq!(token(&["tasks"], &[]), None);
    assert_eq!(token(&["tasks"], &env).as_deref(), Some("from-the-environment"));
    assert_eq!(token(&["tasks", "--token-file", "/token"], &env).as_deref(), Some("from-a-file"));
}

#[test]
fn colours_are_wanted_or_not() {
    for (args, env, color) in [
        (&["tasks"][..], &[][..], Color::Auto),
        (&["tasks"], &[("NO_COLOR", "1")], Color::Never),
        (&["tasks"], &[("NO_COLOR", "")], Color::Auto),
        (&["tasks", "--color", "always"], &[("NO_COLOR", "1")], Color::Always),
    ] {
        assert_eq!(asked(args, env, "").0.color, color, "{args:?}");
    }
}

#[test]
fn each_command_is_what_was_typed() {
    let chat = |prompt, work, approve, json| Ask::Chat(Chat { prompt, work, approve, json });
    let text = |text: &str| Some(text.to_owned());
    let plan = Work {
        context: Context::Id("c".to_owned()),
        workspace: Some("/cwd/x".into()),
        approval_mode: Some(ApprovalMode::Plan),
        model: text("m"),
    };
    let last = Work { context: Context::Last, ..Work::default() };
    for (args, ask, start) in [
        (&["chat"][..], chat(None, Work::default(), Approve::Ask, false), Start::IfNone),
        (
            &["chat", "-p", "-"],
            chat(Some(Prompt::Stdin), Work::default(), Approve::Ask, false),
            Start::IfNone,
        ),
        (
            &["chat", "-p", "-x", "--json", "--approve", "once", "--local"],
            chat(Some(Prompt::Text("-x".to_owned())), Work::default(), Approve::Once, true),
            Start::Always,
        ),
        (
            &["chat", "--context", "c", "--workspace", "x", "--approval-mode", "plan", "--model", "m"],
            chat(None, plan, Approve::Ask, false),
            Start::IfNone,
        ),
        (&["tasks", "--all"], Ask::Tasks { context: None, all: true, json: false }, Start::Never),
        (&["watch", "t"], Ask::Watch { task: text("t"), approve: Approve::Ask, json: false }, Start::Never),
        (&["cancel", "t"], Ask::Cancel { task: "t".to_owned() }, Start::Never),
        (&["rules", "--json"], Ask::Rules { context: None, json: true }, Start::Never),
        (&["rules", "revoke", "r"], Ask::Revoke { rule: "r".to_owned(), context: None }, Start::Never),
        (
            &["rules", "--context", "c", "revoke", "r"],
            Ask::Revoke { rule: "r".to_owned(), context: text("c") },
            Start::Never,
        ),
        (&["rules", "--json", "list"], Ask::Rules { context: None, json: true }, Start::Never),
        (
            &["rules", "--context", "c", "--local", "list", "--context", "d"],
            Ask::Rules { context: text("d"), json: false },
            Start::Always,
        ),
        (&["commands", "--json", "list"], Ask::Commands { work: Work::default(), json: true }, Start::Never),
        (
            &["commands", "--last", "--json", "run", "/stats"],
            Ask::Run { line: "/stats".to_owned(), work: last.clone(), approve: Approve::Ask, json: true },
            Start::Never,
        ),
        (&["commands"], Ask::Commands { work: Work::default(), json: false }, Start::Never),
        (
            &["commands", "run", "/stats", "--last"],
            Ask::Run { line: "/stats".to_owned(), work: last, approve: Approve::Ask, json: false },
            Start::Never,
        ),
    ] {
        let (client, got) = asked(args, &[], "");
        assert_eq!((got, client.start), (ask, start), "{args:?}");
    }
}

#[test]
fn what_makes_no_sense_is_refused_in_one_line() {
    let files = Fake::with(&[("/empty", "\n")]);
    for (args, env, part) in [
        (
            &["tasks", "--server", "ftp://x"][..],
            &[][..],
            "--server: `ftp://x` is not the address of a server",
        ),
        (&["tasks", "--server", "http://x/path"], &[], "--server: `http://x/path` is not"),
        (&["tasks"], &[("AGENA_SERVER", "http://a b")], "AGENA_SERVER: `http://a b` is not"),
        (&["tasks", "--token-file", "/none"], &[], "--token-file: cannot read /none"),
        (&["tasks", "--token-file", "/empty"], &[], "--token-file: the token is empty"),
        (&["tasks"], &[("AGENA_TOKEN", "a b")], "AGENA_TOKEN: the key may only hold"),
        (
            &["tasks", "--server", "http://agena.example"],
            &[("AGENA_TOKEN", "token")],
            "the token would go unencrypted to http://agena.example; use https",
        ),
        (
            &["tasks", "--server", "http://10.1.2.3"],
            &[("AGENA_TOKEN", "token")],
            "the token would go unencrypted to http://10.1.2.3; use https",
        ),
        (&["chat", "--approval-mode", "mad"], &[], "--approval-mode: unknown variant `mad`"),
    ] {
        let line = refusal(args, env, &files);
        assert!(line.contains(part), "{args:?}: {line}");
    }
}

#[test]
fn a_client_needs_no_keys_of_models() {
    let file = "model.backends = [{ name = 'a', kind = 'gemini', key_env = 'NOT_SET' }]";
    asked(&["chat"], &[], file);
}

#[test]
fn completions_are_for_shells_that_there_are() {
    for shell in ["bash", "zsh", "fish"] {
        match run(&["completions", shell], &[], &Fake::with(&[])) {
            Ok(Command::Print(text)) => assert!(text.contains("agena"), "{shell}"),
            other => panic!("{shell}: {other:?}"),
        }
    }
}
