//! What is refused of options and variables, each with the exact line.

use std::collections::BTreeMap;
use std::ffi::OsString;

use proptest::prelude::*;

use super::super::parse_with;
use super::{FILE, Fake, refusal, run};

const OPTIONS: &[(&[&str], &str)] = &[
    (
        &["--listen", "8080"],
        "--listen: server.listen: `8080` is not an address; write IP:PORT, for example 127.0.0.1:41242 or [::1]:41242",
    ),
    (
        &["--listen", "localhost:http"],
        "--listen: server.listen: `localhost:http` is not an address; write IP:PORT, for example 127.0.0.1:41242 or [::1]:41242",
    ),
    (&["--data-dir", ""], "--data-dir: data_dir: the path is empty; write a path or leave the setting out"),
    (
        &["--workspace", "/nowhere"],
        "workspace: /nowhere is not a readable directory (no such directory); name one with --workspace",
    ),
    (&["--auth", "basic"], "--auth: auth.mode: unknown variant `basic`, expected `token` or `none`"),
    (
        &["--auth", "none", "--listen", "0.0.0.0:1"],
        "--auth none is only for loopback; listen on 127.0.0.1 or use --auth token (server.listen is 0.0.0.0:1)",
    ),
    (
        &["--config", "/nowhere.toml"],
        "cannot read the configuration /nowhere.toml (no such file); mend it or name another file with --config",
    ),
    (
        &["--approval-mode", "auto-edit"],
        "--approval-mode: agent.approval_mode: unknown variant `auto-edit`, expected one of `default`, `auto_edit`, `yolo`, `plan`",
    ),
    (
        &["--sandbox", "yes"],
        "--sandbox: agent.sandbox: unknown variant `yes`, expected one of `on`, `off`, `auto`",
    ),
    (
        &["--set", "agent.root=/nowhere"],
        "agent.root: /nowhere is not a readable directory (no such directory); name the one that workspaces lie under",
    ),
    (&["--log-format", "xml"], "--log-format: log.format: unknown variant `xml`, expected `text` or `json`"),
    (&["--tls-cert", "c.pem"], "tls.cert is set without tls.key; set both to serve TLS, or neither"),
    (&["--tls-key", "k.pem"], "tls.key is set without tls.cert; set both to serve TLS, or neither"),
    (
        &["--set", "server.drain_seconds"],
        "--set: `server.drain_seconds` is not KEY=VALUE; write for example --set server.drain_seconds=5",
    ),
    (&["--set", "=5"], "--set: `=5` is not KEY=VALUE; write for example --set server.drain_seconds=5"),
    (
        &["--set", "server..listen=5"],
        "--set: `server..listen=5` is not KEY=VALUE; write for example --set server.drain_seconds=5",
    ),
    (
        &["--set", "server.drain_seconds=3601"],
        "--set server.drain_seconds: 3601 is out of range; use a number from 0 to 3600",
    ),
    (&["--set", "server.drain_seconds=soon"], "--set server.drain_seconds: must be a number from 0 to 3600"),
    (
        &["--set", "server.drain_second=5"],
        "--set server.drain_second: unknown key `drain_second`, expected one of `listen`, `public_url`, `allowed_hosts`, `allowed_origins`, `max_connections`, `drain_seconds`, `reflection`, `console`",
    ),
    (
        &["--set", "a2a.tenants=['tasks']"],
        "--set a2a.tenants[0]: the name `tasks` is reserved, because it is a path; choose another",
    ),
    (
        &["--set", "a2a.tenants=['a', 'b/c']"],
        "--set a2a.tenants[1]: `b/c` is not a tenant; use 1 to 64 letters, digits, dots, underscores or hyphens, a letter or digit first",
    ),
    (&["--set", "server=5"], "--set server: must be a table"),
    (
        &["--set", "listen=127.0.0.1:1"],
        "--set listen: unknown key `listen`, expected one of `data_dir`, `workspace`, `server`, `limits`, `tls`, `auth`, `log`, `store`, `agent`, `a2a`, `push`, `facade`, `model`, `mcp`",
    ),
    (
        &["--set", "log.format=x\nworkspace='/ws'"],
        "--set log.format: unknown variant `x workspace='/ws'`, expected `text` or `json`",
    ),
    (&["--set", "auth.keys=hush"], "--set auth.keys: must be a list"),
    (&["--set", "auth.keys=['hush']"], "--set auth.keys[0]: must be a table with name, and key or key_file"),
    (
        &["--set", "auth.keys=[{name='ci'}]"],
        "--set auth.keys[0]: `ci` has neither key nor key_file; add one of them",
    ),
];

#[test]
fn options() {
    for (args, line) in OPTIONS {
        assert_eq!(refusal(args, &[], &Fake::with(&[])), *line, "{args:?}");
    }
}

const VARIABLES: &[(&str, &str, &str)] = &[
    ("CODER_AGENT_PORT", "http", "CODER_AGENT_PORT: `http` is not a port; set a number from 0 to 65535"),
    ("CODER_AGENT_PORT", "65536", "CODER_AGENT_PORT: `65536` is not a port; set a number from 0 to 65535"),
    (
        "CODER_AGENT_PORT",
        "127.0.0.1:80",
        "CODER_AGENT_PORT: `127.0.0.1:80` is not a port; set a number from 0 to 65535",
    ),
    (
        "AGENA_LISTEN",
        "41242",
        "AGENA_LISTEN: server.listen: `41242` is not an address; write IP:PORT, for example 127.0.0.1:41242 or [::1]:41242",
    ),
    ("AGENA_AUTH", "off", "AGENA_AUTH: auth.mode: unknown variant `off`, expected `token` or `none`"),
    (
        "AGENA_CONFIG",
        "/nowhere.toml",
        "cannot read the configuration /nowhere.toml (no such file); mend it or name another file with --config",
    ),
    (
        "RUST_LOG",
        "agena=loud",
        "RUST_LOG: log.filter: `agena=loud` is not a log filter; write for example info or info,agena=debug",
    ),
];

#[test]
fn variables() {
    for (name, value, line) in VARIABLES {
        assert_eq!(refusal(&[], &[(name, value)], &Fake::with(&[])), *line, "{name}={value}");
    }
}

#[cfg(unix)]
#[test]
fn what_is_not_utf8() {
    use std::os::unix::ffi::OsStringExt;

    let bad = || OsString::from_vec(vec![b'/', 0xff]);
    let line = |args: Vec<OsString>, env: BTreeMap<&str, OsString>| {
        parse_with(args, &env, &Fake::with(&[])).map_err(|exit| exit.text).expect_err("refused")
    };
    for option in ["--listen", "--data-dir", "--set"] {
        assert_eq!(
            line(vec!["agena".into(), option.into(), bad()], BTreeMap::new()),
            format!("error: {option}: the value is not valid UTF-8; write it as plain text\n")
        );
    }
    for name in ["AGENA_LISTEN", "AGENA_CONFIG", "CODER_AGENT_PORT", "RUST_LOG"] {
        assert_eq!(
            line(vec!["agena".into()], BTreeMap::from([(name, bad())])),
            format!("error: {name}: the value is not valid UTF-8; write it as plain text\n")
        );
    }
}

proptest! {
    /// Whatever is written, the answer is settings or one line.
    #[test]
    fn anything_is_settings_or_one_line(key in "[a-z_.]{0,12}", value in any::<String>(), file in any::<String>()) {
        let set = format!("--set={key}={value}");
        let file = Fake::with(&[(FILE, &file)]);
        for (args, env, disk) in [
            (vec![set.as_str()], vec![], &Fake::with(&[])),
            (vec![], vec![("AGENA_LISTEN", value.as_str()), ("RUST_LOG", "info")], &Fake::with(&[])),
            (vec![], vec![], &file),
        ] {
            if run(&args, &env, disk).is_err() {
                refusal(&args, &env, disk);
            }
        }
    }
}
