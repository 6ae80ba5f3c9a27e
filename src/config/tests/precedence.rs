//! Which source wins.

use super::super::Command;
use super::{FILE, Fake, run, settings};

type Case<'a> = (&'a [&'a str], &'a [(&'a str, &'a str)], &'a str, &'a str);

#[test]
fn listen() {
    let file = "server.listen = '127.0.0.1:1'";
    let port = ("CODER_AGENT_PORT", "2");
    let variable = ("AGENA_LISTEN", "[::1]:3");
    let set = "--set=server.listen=127.0.0.1:4";
    let table: &[Case] = &[
        (&[], &[], "", "127.0.0.1:41242"),
        (&[], &[], file, "127.0.0.1:1"),
        (&[], &[port], file, "127.0.0.1:2"),
        (&[], &[port], "server.listen = '0.0.0.0:9'", "127.0.0.1:2"),
        (&[], &[port, variable], file, "[::1]:3"),
        (&[], &[("AGENA_LISTEN", ""), port], file, "127.0.0.1:2"),
        (&[set], &[port, variable], file, "127.0.0.1:4"),
        (&["--listen", "127.0.0.1:5", set], &[port, variable], file, "127.0.0.1:5"),
        (&["serve", "--listen", "127.0.0.1:6"], &[variable], file, "127.0.0.1:6"),
        (&["--listen", "127.0.0.1:5", "serve"], &[variable], file, "127.0.0.1:5"),
        (&["--listen", "127.0.0.1:5", "serve", "--listen", "127.0.0.1:6"], &[], file, "127.0.0.1:6"),
        (&["--listen", "localhost:7"], &[], "", "127.0.0.1:7"),
        (&["--listen", "0.0.0.0:0"], &[], "", "0.0.0.0:0"),
    ];
    for (args, env, file, expected) in table {
        assert_eq!(settings(args, env, file).listen.to_string(), *expected, "{args:?} {env:?} {file}");
    }
}

#[test]
fn log_filter() {
    let file = "log.filter = 'warn'";
    let table: &[Case] = &[
        (&[], &[], "", "info"),
        (&[], &[], file, "warn"),
        (&[], &[("DEBUG", "1")], file, "info,agena=debug"),
        (&[], &[("DEBUG", "0")], file, "warn"),
        (&[], &[("DEBUG", "express:*")], file, "warn"),
        (&[], &[("DEBUG", "1"), ("RUST_LOG", "agena=trace")], file, "agena=trace"),
        (&["--set", "log.filter=error"], &[("RUST_LOG", "agena=trace")], file, "error"),
    ];
    for (args, env, file, expected) in table {
        assert_eq!(settings(args, env, file).log.filter, *expected, "{args:?} {env:?} {file}");
    }
}

#[test]
fn every_other_key_with_an_option_and_a_variable() {
    // Option, variable, key, and three values, which the file, the variable and the option take in turn.
    let table = [
        ("--data-dir", "AGENA_DATA_DIR", "data_dir", ["/a", "/b", "/c"]),
        ("--workspace", "AGENA_WORKSPACE", "workspace", ["/cwd", "/ws", "/cwd"]),
        ("--approval-mode", "AGENA_APPROVAL_MODE", "agent.approval_mode", ["plan", "auto_edit", "yolo"]),
        ("--sandbox", "AGENA_SANDBOX", "agent.sandbox", ["on", "off", "auto"]),
        ("--auth", "AGENA_AUTH", "auth.mode", ["none", "token", "none"]),
        ("--log-format", "AGENA_LOG_FORMAT", "log.format", ["json", "text", "json"]),
        ("--public-url", "AGENA_PUBLIC_URL", "server.public_url", ["http://a", "http://b", "http://c"]),
        ("--model", "AGENA_MODEL", "model.name", ["a", "b", "c"]),
        ("--record", "AGENA_RECORD", "model.record", ["/a", "/b", "/c"]),
    ];
    for (option, variable, key, [in_file, in_env, in_args]) in table {
        let file = format!("{key} = '{in_file}'");
        let reference = |value: &str| format!("{:?}", settings(&[], &[], &format!("{key} = '{value}'")));
        let env = [(variable, in_env)];
        assert_eq!(format!("{:?}", settings(&[], &env, &file)), reference(in_env), "{variable}");
        let both = settings(&[option, in_args], &env, &file);
        assert_eq!(format!("{both:?}"), reference(in_args), "{option}");
    }
}

#[test]
fn the_file_is_the_one_named_last() {
    let disk = Fake::with(&[
        (FILE, "log.filter = 'trace'"),
        ("/a.toml", "log.filter = 'debug'"),
        ("/b.toml", "log.filter = 'warn'"),
        ("/c.toml", "log.filter = 'error'"),
        ("agena.toml", "log.filter = 'off'"),
        ("/cwd/agena.toml", "log.filter = 'off'"),
    ]);
    let env = ("AGENA_CONFIG", "/a.toml");
    for (args, env, expected) in [
        (&[][..], &[][..], "trace"),
        (&[], &[env], "debug"),
        (&["--config", "/b.toml"], &[env], "warn"),
        (&["--config", "/b.toml", "serve", "--config", "/c.toml"], &[env], "error"),
        (&["--config", "agena.toml"], &[env], "off"),
    ] {
        match run(args, env, &disk) {
            Ok(Command::Serve(settings)) => assert_eq!(settings.log.filter, expected, "{args:?}"),
            other => panic!("{args:?}: {other:?}"),
        }
    }
}

#[test]
fn tables_merge_and_lists_are_replaced() {
    let file = "
        [server]
        max_connections = 7
        drain_seconds = 8
        allowed_hosts = ['a.example', 'b.example']
    ";
    let args = ["--set", "server.drain_seconds=9", "serve", "--set", "server.allowed_hosts=['c.example']"];
    let settings = settings(&args, &[], file);
    assert_eq!((settings.max_connections, settings.drain.as_secs()), (7, 9));
    let hosts: Vec<_> = settings.allowed_hosts.iter().map(|host| host.as_str()).collect();
    assert_eq!(hosts, ["c.example"]);
}
