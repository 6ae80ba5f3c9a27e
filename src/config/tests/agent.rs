//! What the agent may do, and that only its operator can say so.

use std::path::{Path, PathBuf};

use super::super::{ApprovalMode, Command, Decision, Sandbox};
use super::{FILE, Fake, run, settings};

#[test]
fn defaults() {
    let settings = settings(&[], &[], "");
    let agent = settings.agent;
    assert_eq!(agent.root, Path::new("/cwd"));
    assert_eq!((agent.approval_mode, agent.allow_yolo), (ApprovalMode::Default, false));
    assert_eq!(agent.sandbox, Sandbox::Auto);
    assert!(agent.writable.is_empty() && agent.trusted.is_empty() && agent.rules.is_empty());
    assert_eq!((agent.max_answers, agent.context_tokens), (100, 1_048_576));
    let seconds = |limit: Option<std::time::Duration>| limit.map(|limit| limit.as_secs());
    assert_eq!((seconds(agent.shell_silence), seconds(agent.shell_wall)), (Some(300), Some(3600)));
    assert_eq!((settings.model.name.as_str(), settings.a2a.development_tool_required), ("rehearsal", false));
}

#[test]
fn the_root_is_the_workspace_unless_it_is_named() {
    assert_eq!(settings(&["--workspace", "/ws"], &[], "").agent.root, Path::new("/ws"));
    let named = settings(&["--workspace", "/ws"], &[], "agent.root = '/cwd'");
    assert_eq!((named.workspace, named.agent.root), (PathBuf::from("/ws"), PathBuf::from("/cwd")));
}

#[test]
fn yolo_of_the_operator_lets_clients_ask_for_it_and_nothing_else_does() {
    for (args, file, allowed) in [
        (&[][..], "", false),
        (&[], "agent.approval_mode = 'auto_edit'", false),
        (&[], "agent.allow_yolo = true", true),
        (&["--approval-mode", "yolo"], "", true),
        (&["--approval-mode", "yolo"], "agent.allow_yolo = false", true),
        (&["--approval-mode", "plan"], "agent.approval_mode = 'yolo'", false),
    ] {
        assert_eq!(settings(args, &[], file).agent.allow_yolo, allowed, "{args:?} {file}");
    }
}

#[test]
fn no_limit_is_zero() {
    let agent =
        settings(&[], &[], "[agent]\nshell_silence_seconds = 0\nshell_wall_seconds = 0\nmax_answers = 7")
            .agent;
    assert_eq!((agent.shell_silence, agent.shell_wall, agent.max_answers), (None, None, 7));
}

#[test]
fn paths_of_the_file_are_relative_to_it_in_lists_too() {
    let file = "[agent]\nroot = 'ws'\ntrusted = ['ws/a', '/b']\nwritable = ['cache']\n";
    let agent = settings(&["--workspace", "/ws"], &[], file).agent;
    let base = Path::new("/home/u/.config/agena");
    assert_eq!(agent.root, base.join("ws"));
    assert_eq!(agent.trusted, [base.join("ws/a"), PathBuf::from("/b")]);
    assert_eq!(agent.writable, [base.join("cache")]);
    let agent = settings(&["--set", "agent.trusted=['a']"], &[], file).agent;
    assert_eq!(agent.trusted, [PathBuf::from("/cwd/a")]);
}

#[test]
fn rules_are_kept_as_they_were_written() {
    let file = "
        [[agent.rules]]
        tool = 'run_shell_command'
        command = 'git push'
        decision = 'deny'
        reason = 'Ask a person to push.'
        matches = ['git push origin']
        not_matches = ['git pull']
        [[agent.rules]]
        tool = 'write_file'
        path = 'docs/**'
        decision = 'allow'
    ";
    let rules = settings(&[], &[], file).agent.rules;
    assert_eq!(rules.len(), 2);
    assert_eq!((rules[0].decision, rules[1].decision), (Decision::Deny, Decision::Allow));
    assert_eq!((rules[0].command.as_deref(), rules[1].path.as_deref()), (Some("git push"), Some("docs/**")));
    assert_eq!(rules[0].reason.as_deref(), Some("Ask a person to push."));
    assert_eq!(
        (&rules[0].matches[..], &rules[0].not_matches[..]),
        (&["git push origin".to_owned()][..], &["git pull".to_owned()][..])
    );
}

#[test]
fn a_workspace_configures_nothing() {
    let hostile = "auth.mode = 'none'\nagent = { approval_mode = 'yolo', sandbox = 'off', trusted = ['/'] }";
    let variables = "AGENA_AUTH=none\nAGENA_APPROVAL_MODE=yolo\nAGENA_CONFIG=agena.toml\n";
    let mut files = vec![(FILE, "")];
    for path in [
        "agena.toml",
        "/cwd/agena.toml",
        "/ws/agena.toml",
        "/ws/.agena/agena.toml",
        "/ws/.config/agena/agena.toml",
    ] {
        files.push((path, hostile));
    }
    for path in [".env", "/cwd/.env", "/ws/.env", "/ws/.agena/.env"] {
        files.push((path, variables));
    }
    for args in [&[][..], &["--workspace", "/ws"]] {
        let Ok(Command::Serve(given)) = run(args, &[], &Fake::with(&files)) else { panic!("refused") };
        assert_eq!(format!("{given:?}"), format!("{:?}", settings(args, &[], "")), "{args:?}");
    }
}

#[test]
fn the_files_with_keys_are_known_whether_they_are_used_or_not() {
    let file = "auth.keys = [{name = 'a', key_file = 'a.key'}, {name = 'b', key = '0123456789012345678901'}]\n\
                tls = {cert = 'c.pem', key = 'k.pem'}\n";
    let disk = Fake::with(&[("d/own.toml", file), ("d/a.key", "9876543210987654321098")]);
    for args in [&["--config", "d/own.toml"][..], &["--config", "d/own.toml", "--auth", "none"]] {
        let Ok(Command::Serve(settings)) = run(args, &[], &disk) else { panic!("{args:?}") };
        let expected = ["/cwd/d/own.toml", "/cwd/d/a.key", "/cwd/d/k.pem"].map(PathBuf::from);
        assert_eq!(settings.own_files, expected, "{args:?}");
    }
    assert_eq!(settings(&[], &[], "").own_files, [PathBuf::from(FILE)]);
    let Ok(Command::Serve(none)) = run(&[], &[], &Fake::with(&[])) else { panic!() };
    assert!(none.own_files.is_empty());
}
