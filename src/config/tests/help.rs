//! That help was asked for is no failure, and it tells everything there is.

use clap::CommandFactory;

use super::super::args::Cli;
use super::super::env::{HINTS, VARIABLES};
use super::super::model::google;
use super::super::{Exit, Stream};
use super::{Fake, run, settings};

/// Each key of the schema with a value it takes.
const KEYS: [(&str, &str); 53] = [
    ("data_dir", "'/d'"),
    ("workspace", "'/ws'"),
    ("server.listen", "'127.0.0.1:1'"),
    ("server.public_url", "'https://a.example'"),
    ("server.allowed_hosts", "['a.example']"),
    ("server.allowed_origins", "['https://a.example']"),
    ("server.max_connections", "1"),
    ("server.drain_seconds", "0"),
    ("server.reflection", "false"),
    ("server.console", "false"),
    ("limits.body_bytes", "1024"),
    ("limits.message_bytes", "1024"),
    ("limits.header_bytes", "8192"),
    ("tls.cert", "'/c'\ntls.key = '/k'"),
    ("tls.key", "'/c'\ntls.cert = '/k'"),
    ("auth.mode", "'none'"),
    ("auth.keys", "[{ name = 'ci', key = '0123456789abcdef' }]"),
    ("log.format", "'json'"),
    ("log.filter", "'warn'"),
    ("agent.root", "'/ws'"),
    ("agent.approval_mode", "'plan'"),
    ("agent.allow_yolo", "true"),
    ("agent.sandbox", "'on'"),
    ("agent.writable", "['/w']"),
    ("agent.trusted", "['/t']"),
    ("agent.rules", "[{ tool = '*', decision = 'ask' }]"),
    ("agent.max_answers", "1"),
    ("agent.context_tokens", "4096"),
    ("agent.shell_silence_seconds", "0"),
    ("agent.shell_wall_seconds", "0"),
    ("a2a.development_tool_required", "true"),
    ("facade.strict", "true"),
    ("facade.body_bytes", "1024"),
    ("facade.fetch_media", "false"),
    ("facade.media_hosts", "['a.internal']"),
    ("facade.unknown_models", "'refuse'"),
    ("facade.keep_days", "1"),
    ("mcp.from_clients", "true"),
    ("mcp.from_workspaces", "false"),
    ("mcp.allow_hosts", "['127.0.0.1']"),
    ("mcp.servers", "{ a = { command = 'x' } }"),
    ("model.name", "'rehearsal'"),
    ("model.backends", "[{ name = 'a', kind = 'gemini', key = 'k' }]"),
    ("model.routes", "[{ model = 'gpt-*', to = 'gemini-3.8-flash' }]"),
    ("model.fallback", "['gemini-3.8-flash']"),
    ("model.patience_seconds", "0"),
    ("model.connect_seconds", "1"),
    ("model.first_byte_seconds", "1"),
    ("model.idle_seconds", "1"),
    ("model.total_seconds", "1"),
    ("model.proxy", "'none'"),
    ("model.rehearsal", "'s.yaml'"),
    ("model.record", "'sessions'"),
];

/// What a backend may have besides its name and kind.
const OF_BACKENDS: [&str; 12] = [
    "key_file",
    "key_env",
    "key_header",
    "base_url",
    "api_version",
    "project",
    "location",
    "credentials",
    "client_id",
    "client_secret",
    "headers",
    "allow_plain_http",
];

fn shown(args: &[&str]) -> String {
    match run(args, &[], &Fake::with(&[])) {
        Err(Exit { text, stream: Stream::Stdout, code: 0 }) => text,
        other => panic!("{args:?}: {other:?}"),
    }
}

#[test]
fn the_definition_is_sound() {
    Cli::command().debug_assert();
}

#[test]
fn version() {
    assert_eq!(shown(&["--version"]), concat!("agena ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn help_names_every_key_and_variable() {
    for args in [&["--help"][..], &["-h"], &["serve", "--help"], &["help", "serve"]] {
        let help = shown(args);
        for (key, value) in KEYS {
            settings(&[], &[], &format!("{key} = {value}"));
            assert!(help.contains(key), "{args:?} does not mention {key}");
        }
        let others = ["AGENA_CONFIG", "CODER_AGENT_PORT", "DEBUG=1"];
        let own = VARIABLES.iter().chain(&HINTS).map(|(name, _)| *name);
        for name in own.chain(others).chain(google::VARIABLES).chain(OF_BACKENDS) {
            assert!(help.contains(name), "{args:?} does not mention {name}");
        }
        assert!(help.contains("Examples:") && help.contains("agena --auth none"), "{args:?}");
    }
    assert!(shown(&["trust", "--help"]).contains("agena trust --remove"));
    assert!(shown(&["token", "--help"]).contains("$(agena token)"));
}

#[test]
fn the_client_teaches_by_examples_and_lists_its_exit_codes() {
    for verb in ["chat", "tasks", "watch", "rules", "commands", "completions"] {
        let help = shown(&[verb, "--help"]);
        assert!(help.contains("Examples:") && help.contains(&format!("agena {verb}")), "{verb}: {help}");
    }
    let help = shown(&["chat", "--help"]);
    for word in ["AGENA_SERVER", "AGENA_TOKEN", "NO_COLOR", "--approve", "Exit codes", "130"] {
        assert!(help.contains(word), "{word}: {help}");
    }
}

#[test]
fn every_option_tells_default_environment_and_file() {
    for option in Cli::command().get_arguments().filter(|option| option.get_value_names().is_some()) {
        let help = option.get_help().map(ToString::to_string).unwrap_or_default();
        let told = help.contains("[default: ") && help.contains("environment: ");
        assert!(
            told && (help.contains("file: ") || option.get_id() == "config"),
            "{}: {help}",
            option.get_id()
        );
    }
}

/// Of what, or a list, but not both.
const TRUST: [&[&str]; 3] = [&["trust"], &["trust", "--remove"], &["trust", "--list", "/ws"]];

#[test]
fn usage_errors_exit_with_2_on_stderr() {
    for args in [
        &["--nope"][..],
        &["nope"],
        &["--listen"],
        &["--auth", "none", "--auth", "token"],
        TRUST[0],
        TRUST[1],
        TRUST[2],
    ] {
        match run(args, &[], &Fake::with(&[])) {
            Err(exit) => assert_eq!((exit.stream, exit.code), (Stream::Stderr, 2), "{args:?}"),
            Ok(command) => panic!("{args:?}: {command:?}"),
        }
    }
}
