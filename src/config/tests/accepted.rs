//! What is taken, and what becomes of it.

use std::path::Path;

use super::super::trust::Ask;
use super::super::{AuthMode, Command, Host, LogFormat, UnknownModels, WebOrigin};
use super::{FILE, Fake, run, settings};
use crate::domain::quota::Allowance;

#[test]
fn defaults() {
    let settings = match run(&[], &[], &Fake::with(&[])) {
        Ok(Command::Serve(settings)) => settings,
        other => panic!("{other:?}"),
    };
    assert_eq!(settings.listen.to_string(), "127.0.0.1:41242");
    assert_eq!(settings.data_dir, Path::new("/home/u/.local/share/agena"));
    assert_eq!(settings.workspace, Path::new("/cwd"));
    assert!(settings.public_url.is_none() && settings.tls.is_none());
    assert!(settings.reflection && settings.console);
    assert_eq!((settings.max_connections, settings.drain.as_secs()), (10_000, 30));
    let limits = settings.limits;
    assert_eq!(
        (limits.body_bytes, limits.message_bytes, limits.header_bytes),
        (4_194_304, 4_194_304, 65_536)
    );
    assert!(matches!(settings.auth, AuthMode::Token { keys } if keys.is_empty()));
    assert_eq!((settings.log.format, settings.log.filter.as_str()), (LogFormat::Text, "info"));
}

#[test]
fn verbs() {
    let file = Fake::with(&[]);
    for args in [&["serve"][..], &[], &["--auth", "none", "serve"], &["serve", "--auth", "none"]] {
        assert!(matches!(run(args, &[], &file), Ok(Command::Serve(_))), "{args:?}");
    }
    for (args, asked) in [
        (&["trust", "/ws"][..], Ask::Add("/ws".into())),
        (&["trust", "--remove", "ws"], Ask::Remove("ws".into())),
        (&["trust", "ws", "--remove"], Ask::Remove("ws".into())),
        (&["--data-dir", "/d", "trust", "--list"], Ask::List),
    ] {
        assert!(matches!(run(args, &[], &file), Ok(Command::Trust(_, ask)) if ask == asked), "{args:?}");
    }
    for args in [&["token", "--data-dir", "/d"], &["--data-dir", "/d", "token"]] {
        match run(args, &[], &file) {
            Ok(Command::Token(settings)) => assert_eq!(settings.data_dir, Path::new("/d")),
            other => panic!("{args:?}: {other:?}"),
        }
    }
}

#[test]
fn set_takes_toml_and_else_text() {
    // The same value through `--set` and, spelled as TOML, through the file.
    for (set, toml) in [
        ("server.drain_seconds=5", "server.drain_seconds = 5"),
        (" server.drain_seconds = 5 ", "server.drain_seconds = 5"),
        ("log.format=json", "log.format = 'json'"),
        ("log.format='json'", "log.format = 'json'"),
        ("log.filter=info,agena[x=1]=debug", "log.filter = 'info,agena[x=1]=debug'"),
        ("server.listen=127.0.0.1:80", "server.listen = '127.0.0.1:80'"),
        ("server.reflection=false", "server.reflection = false"),
        ("server.console=false", "server.console = false"),
        (
            r#"server.allowed_origins=["http://localhost:5173"]"#,
            "server.allowed_origins = ['http://localhost:5173']",
        ),
        ("limits={body_bytes=2048}", "limits.body_bytes = 2048"),
        ("workspace=/ws", "workspace = '/ws'"),
    ] {
        let by_set = format!("{:?}", settings(&["--set", set], &[], ""));
        assert_eq!(by_set, format!("{:?}", settings(&[], &[], toml)), "{set}");
    }
}

#[test]
fn paths_of_the_file_are_relative_to_it_and_others_to_the_current_directory() {
    let file = "
        data_dir = 'data'
        workspace = 'ws'
        tls = { cert = 'c.pem', key = '/k.pem' }
        auth.keys = [{ name = 'ci', key_file = 'keys/ci' }]
    ";
    let disk = Fake::with(&[(FILE, file), ("/home/u/.config/agena/keys/ci", "0123456789abcdef\n")]);
    let Ok(Command::Serve(settings)) = run(&[], &[], &disk) else { panic!("refused") };
    assert_eq!(settings.data_dir, Path::new("/home/u/.config/agena/data"));
    assert_eq!(settings.workspace, Path::new("/home/u/.config/agena/ws"));
    let tls = settings.tls.expect("tls");
    assert_eq!((tls.cert.to_str(), tls.key.to_str()), (Some("/home/u/.config/agena/c.pem"), Some("/k.pem")));
    let AuthMode::Token { keys } = settings.auth else { panic!("no keys") };
    assert_eq!((keys[0].name.as_str(), keys[0].key.expose()), ("ci", "0123456789abcdef"));

    let args = ["--data-dir", "d", "--tls-cert", "c", "--tls-key", "k", "--workspace", "/ws"];
    let Ok(Command::Serve(settings)) = run(&args, &[], &disk) else { panic!("refused") };
    assert_eq!(settings.data_dir, Path::new("/cwd/d"));
    assert_eq!(settings.tls.map(|tls| (tls.cert, tls.key)), Some(("/cwd/c".into(), "/cwd/k".into())));
}

#[test]
fn keys_are_never_shown() {
    let file = "auth.keys = [{ name = 'ci', key = 'do-not-show-this-key' }]";
    assert!(!format!("{:?}", settings(&[], &[], file)).contains("do-not-show"));
}

#[test]
fn no_authentication_on_any_loopback_address_and_then_without_its_keys() {
    let file = "auth.keys = [{ name = 'ci', key_file = '/missing' }]";
    for listen in ["127.0.0.1:1", "127.8.8.8:1", "[::1]:1", "[::ffff:127.0.0.1]:1"] {
        let settings = settings(&["--auth", "none", "--listen", listen], &[], file);
        assert!(matches!(settings.auth, AuthMode::None), "{listen}");
    }
}

#[test]
fn web_names_are_kept_as_the_web_spells_them() {
    let file = "
        [server]
        public_url = 'https://Agent.Example/base/'
        allowed_hosts = ['App.Example', '::1', '10.0.0.1']
        allowed_origins = ['HTTPS://App.Example:443', 'http://localhost:5173', 'chrome-extension://abc']
    ";
    let settings = settings(&[], &[], file);
    let url = settings.public_url.expect("url");
    assert_eq!((url.as_str(), url.host().as_str()), ("https://Agent.Example/base", "agent.example"));
    let hosts: Vec<&str> = settings.allowed_hosts.iter().map(Host::as_str).collect();
    assert_eq!(hosts, ["app.example", "[::1]", "10.0.0.1", "agent.example"]);
    let origins: Vec<&str> = settings.allowed_origins.iter().map(WebOrigin::as_str).collect();
    let listed = ["https://app.example", "http://localhost:5173", "chrome-extension://abc"];
    assert_eq!(origins[..3], listed);
    assert_eq!(origins[3..], ["https://agent.example"], "the origin of the public URL");
}

#[test]
fn facades_and_what_each_key_may_ask_of_them() {
    let plain = settings(&[], &[], "").facade;
    assert_eq!((plain.strict, plain.body_bytes, plain.fetch_media), (false, 33_554_432, true));
    assert_eq!((plain.unknown_models, plain.keep.as_secs()), (UnknownModels::Default, 30 * 86_400));
    assert_eq!(plain.media_hosts.iter().count(), 0);
    let file = "
        auth.keys = [
            { name = 'a', key = '0123456789abcdef', models = ['gemini-*', 'x'], requests_per_minute = 60, tokens_per_minute = 1000 },
            { name = 'b', key = '0123456789abcdeg' },
        ]
        [facade]
        strict = true
        body_bytes = 2048
        fetch_media = false
        media_hosts = ['Files.internal']
        unknown_models = 'refuse'
        keep_days = 7
    ";
    let settings = settings(&[], &[], file);
    let facade = settings.facade;
    assert_eq!((facade.strict, facade.body_bytes, facade.fetch_media), (true, 2048, false));
    assert_eq!((facade.unknown_models, facade.keep.as_secs()), (UnknownModels::Refuse, 7 * 86_400));
    assert_eq!(facade.media_hosts.iter().map(Host::as_str).collect::<Vec<_>>(), ["files.internal"]);
    let AuthMode::Token { keys } = settings.auth else { panic!("{:?}", settings.auth) };
    let models = vec!["gemini-*".to_owned(), "x".to_owned()];
    assert_eq!(keys[0].allowance, Allowance { models, requests: Some(60), tokens: Some(1000) });
    assert_eq!(keys[1].allowance, Allowance::default());
}
