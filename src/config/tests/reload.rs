//! Which changes wait for a restart.

use super::{Fake, settings};

#[test]
fn each_table_is_named_by_what_changes_in_it() {
    let old = settings(&[], &[], "");
    for (file, expected) in [
        ("", &[][..]),
        ("model.name = 'b'", &[]),
        ("model.backends = [{name='g', kind='gemini', key='k'}]", &[]),
        ("data_dir = '/d'", &["data_dir"]),
        ("workspace = '/ws'\nagent.root = '/cwd'", &["workspace"]),
        ("server.listen = '127.0.0.1:1'", &["server"]),
        ("server.public_url = 'https://a.example'", &["server"]),
        ("server.drain_seconds = 1", &["server"]),
        ("server.reflection = false", &["server"]),
        ("server.console = false", &["server"]),
        ("limits.body_bytes = 1024", &["limits"]),
        ("tls = {cert = '/c', key = '/k'}", &["tls"]),
        ("auth.mode = 'none'", &["auth"]),
        ("auth.keys = [{name = 'a', key = '0123456789abcdef'}]", &["auth"]),
        ("facade.strict = true", &["facade"]),
        ("facade.unknown_models = 'refuse'", &["facade"]),
        ("mcp.from_clients = true", &["mcp"]),
        ("log.format = 'json'", &["log"]),
        ("store.retention_days = 1", &["store"]),
        ("agent.max_answers = 1", &["agent"]),
        ("a2a.streaming = false", &["a2a"]),
        ("push.allow_hosts = ['a.example']", &["push"]),
        ("log.filter = 'warn'\nagent.max_answers = 1\nmodel.name = 'b'", &["log", "agent"]),
        (
            "model.backends = [{name='v', kind='vertex', project='p', credentials='/c.json'}]",
            &["model.backends (a new file of keys)"],
        ),
    ] {
        assert_eq!(old.needs_restart(&settings(&[], &[], file)), expected, "{file}");
    }
}

#[test]
fn a_key_that_changed_is_seen_though_it_is_not_shown() {
    let with = |key: &str| {
        let disk = Fake::with(&[(super::FILE, "auth.keys = [{name = 'a', key_file = '/k'}]"), ("/k", key)]);
        match super::run(&[], &[], &disk) {
            Ok(super::Command::Serve(settings)) => *settings,
            other => panic!("{other:?}"),
        }
    };
    let old = with("0123456789abcdef");
    assert!(old.needs_restart(&with("0123456789abcdef")).is_empty());
    assert_eq!(old.needs_restart(&with("fedcba9876543210")), ["auth"]);
}

#[test]
fn what_a_key_may_do_waits_like_the_key() {
    let with = |more: &str| {
        settings(&[], &[], &format!("auth.keys = [{{name = 'a', key = '0123456789abcdef'{more}}}]"))
    };
    let old = with("");
    assert!(old.needs_restart(&with(", models = []")).is_empty());
    for more in [", models = ['gemini-*']", ", requests_per_minute = 1", ", tokens_per_minute = 1"] {
        assert_eq!(old.needs_restart(&with(more)), ["auth"], "{more}");
    }
}
