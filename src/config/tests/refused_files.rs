//! What is refused of a file, each with the exact line.

use super::{FILE, Fake, refusal};

/// The refusal of this file, with a short name for it.
fn refused(file: &str) -> String {
    refusal(&[], &[], &Fake::with(&[(FILE, file), ("/short", "hush\n")])).replace(FILE, "FILE")
}

const FILES: &[(&str, &str)] = &[
    ("server.listen =", "FILE:1:16: not valid TOML: string values must be quoted, expected literal string"),
    (
        "\n[server]\nlisten = 'a' 'b'",
        "FILE:3:14: not valid TOML: unexpected key or value, expected newline, `#`",
    ),
    (
        "listen = '127.0.0.1:1'",
        "FILE: listen: unknown key `listen`, expected one of `data_dir`, `workspace`, `server`, `limits`, `tls`, `auth`, `log`, `store`, `agent`, `a2a`, `push`, `facade`, `model`, `mcp`",
    ),
    (
        "[server]\nlisen = '127.0.0.1:1'",
        "FILE: server.lisen: unknown key `lisen`, expected one of `listen`, `public_url`, `allowed_hosts`, `allowed_origins`, `max_connections`, `drain_seconds`, `reflection`, `console`",
    ),
    ("[server]\nlisten = 41242", "FILE: server.listen: must be a string"),
    (
        "[server]\nmax_connections = 0",
        "FILE: server.max_connections: 0 is out of range; use a number from 1 to 1000000",
    ),
    (
        "[server]\nmax_connections = -1",
        "FILE: server.max_connections: -1 is out of range; use a number from 1 to 1000000",
    ),
    (
        "[limits]\nbody_bytes = 1",
        "FILE: limits.body_bytes: 1 is out of range; use a number from 1024 to 1073741824",
    ),
    (
        "[limits]\nmessage_bytes = 1073741825",
        "FILE: limits.message_bytes: 1073741825 is out of range; use a number from 1024 to 1073741824",
    ),
    (
        "[limits]\nheader_bytes = 8191",
        "FILE: limits.header_bytes: 8191 is out of range; use a number from 8192 to 1048576",
    ),
    ("[limits]\nheader_bytes = '64k'", "FILE: limits.header_bytes: must be a number from 8192 to 1048576"),
    ("[tls]\ncert = 'c.pem'", "tls.cert is set without tls.key; set both to serve TLS, or neither"),
    (
        "agent.trusted = ['a', '~/b']",
        "FILE: agent.trusted[1]: `~` is not expanded in `~/b`; write the path in full",
    ),
    ("agent.sandbox = true", "FILE: agent.sandbox: must be a string"),
    ("agent.writable = '/w'", "FILE: agent.writable: must be a list"),
    ("agent.max_answers = 0", "FILE: agent.max_answers: 0 is out of range; use a number from 1 to 10000"),
    (
        "agent.context_tokens = 1",
        "FILE: agent.context_tokens: 1 is out of range; use a number from 4096 to 100000000",
    ),
    (
        "model.name = ''",
        "FILE: model.name: `` is not the name of a model; write for example gemini-3.8-flash",
    ),
    ("agent.rules = [{ tool = '*' }]", "FILE: agent.rules[0]: missing key `decision`"),
    ("[[agent.rules]]\ndecision = 'ask'", "FILE: agent.rules[0]: missing key `tool`"),
    (
        "agent.rules = [{ tool = '*', decision = 'forbid' }]",
        "FILE: agent.rules[0].decision: unknown variant `forbid`, expected one of `allow`, `ask`, `deny`",
    ),
    (
        "agent.rules = [{ tool = '*', decision = 'ask', comand = 'rm' }]",
        "FILE: agent.rules[0].comand: unknown key `comand`, expected one of `tool`, `command`, `path`, `decision`, `reason`, `matches`, `not_matches`",
    ),
    ("data_dir = '~/agena'", "FILE: data_dir: `~` is not expanded in `~/agena`; write the path in full"),
    (
        "[log]\nfilter = 'agena=loud'",
        "FILE: log.filter: `agena=loud` is not a log filter; write for example info or info,agena=debug",
    ),
];

#[test]
fn files() {
    for (file, line) in FILES {
        assert_eq!(refused(file), *line, "{file}");
    }
}

const KEYS: &[(&str, &str)] = &[
    ("{ name = 'a' }", "FILE: auth.keys[0]: `a` has neither key nor key_file; add one of them"),
    (
        "{ name = 'a', key = '0123456789abcdef', key_file = '/k' }",
        "FILE: auth.keys[0]: `a` has both key and key_file; keep one of them",
    ),
    ("{ key = '0123456789abcdef' }", "FILE: auth.keys[0]: missing key `name`"),
    (
        "{ name = 'local', key = '0123456789abcdef' }",
        "FILE: auth.keys[0].name: the name `local` is reserved for the generated token; choose another",
    ),
    (
        "{ name = 'a b', key = '0123456789abcdef' }",
        "FILE: auth.keys[0].name: `a b` is not a key name; use 1 to 64 letters, digits, dots, underscores or hyphens",
    ),
    (
        "{ name = '', key = '0123456789abcdef' }",
        "FILE: auth.keys[0].name: `` is not a key name; use 1 to 64 letters, digits, dots, underscores or hyphens",
    ),
    (
        "{ name = 'a', key = 'hush' }",
        "FILE: auth.keys[0].key: the key is too short; use at least 16 characters",
    ),
    (
        "{ name = 'a', key = 'hush hush hush hush' }",
        "FILE: auth.keys[0].key: the key may only hold visible ASCII characters, without spaces",
    ),
    (
        "{ name = 'a', key = 1234567890123456 }",
        "FILE: auth.keys[0].key: the key must be a string; put it in quotes",
    ),
    (
        "{ name = 'a', kye = 'hush' }",
        "FILE: auth.keys[0].kye: unknown key `kye`, expected one of `name`, `key`, `key_file`, `models`, `requests_per_minute`, `tokens_per_minute`",
    ),
    (
        "{ name = 'a', key = '0123456789abcdef' }, { name = 'a', key = 'fedcba9876543210' }",
        "auth.keys: the name `a` is used twice; give each key its own name",
    ),
    (
        "{ name = 'a', key = '0123456789abcdef' }, { name = 'b', key = '0123456789abcdef' }",
        "auth.keys: `a` and `b` have the same key; give each its own",
    ),
    (
        "{ name = 'a', key_file = '/nowhere' }",
        "auth.keys: cannot read the key_file of `a`, /nowhere (no such file); mend the path or the permissions",
    ),
    (
        "{ name = 'a', key_file = '/short' }",
        "auth.keys: the key_file of `a`, /short: the key is too short; use at least 16 characters",
    ),
];

#[test]
fn keys() {
    for (keys, line) in KEYS {
        assert_eq!(refused(&format!("auth.keys = [{keys}]")), *line, "{keys}");
    }
}

#[test]
fn hosts() {
    for host in ["", "https://app.example", "app.example:80", "app.example/", "*", "a..b", "[::1", "a b"] {
        assert_eq!(
            refused(&format!("server.allowed_hosts = ['ok.example', '{host}']")),
            format!(
                "FILE: server.allowed_hosts[1]: `{host}` is not a host name; \
                 write it without scheme, port or path, for example app.example"
            )
        );
    }
}

#[test]
fn origins() {
    for origin in [
        "",
        "*",
        "null",
        "app.example",
        "https://",
        "https://app.example/",
        "https://app.example:",
        "https://app.example:65536",
        "https://me@app.example",
        "https://app.example?a",
        "://app.example",
        "ht tp://app.example",
    ] {
        assert_eq!(
            refused(&format!("server.allowed_origins = ['{origin}']")),
            format!(
                "FILE: server.allowed_origins[0]: `{origin}` is not an origin; \
                 write scheme://host[:port] without a path, for example https://app.example"
            )
        );
    }
}

#[test]
fn public_urls() {
    for url in [
        "",
        "agent.example",
        "/base",
        "ftp://agent.example",
        "https://",
        "https://agent.example/?a=b",
        "https://agent.example/#a",
        "https://me@agent.example",
        "https://agent.example:99999",
    ] {
        assert_eq!(
            refused(&format!("server.public_url = '{url}'")),
            format!(
                "FILE: server.public_url: `{url}` is not a public URL; \
                 write http(s)://host[:port][/path] without a query, for example https://agent.example"
            )
        );
    }
}
