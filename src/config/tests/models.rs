//! Which models there are, who serves them, and what was meant to be first.

use std::path::{Path, PathBuf};

use super::super::{BackendKind, Command, KeyFrom, Model, NamedBackend, Proxy, Settings, VertexAccess};
use super::{FILE, Fake, run, settings};

type Env<'a> = &'a [(&'a str, &'a str)];

const KEY: (&str, &str) = ("GEMINI_API_KEY", "gem");
const OTHER_KEY: (&str, &str) = ("GOOGLE_API_KEY", "goo");
const CODE_ASSIST: (&str, &str) = ("USE_CCPA", "true");
const VERTEX: (&str, &str) = ("GOOGLE_GENAI_USE_VERTEXAI", "true");
const PROJECT: (&str, &str) = ("GOOGLE_CLOUD_PROJECT", "p");
const LOCAL: &str = "model.backends = [{name='local', kind='openai', base_url='http://127.0.0.1:1/v1'}]\n";

fn model(args: &[&str], env: Env, file: &str) -> Model {
    settings(args, env, file).model
}

/// The names of the backends in their order, and the model that is asked.
fn summary(model: &Model) -> String {
    let names: Vec<&str> = model.backends.iter().map(|backend| backend.name.as_str()).collect();
    format!("{}: {}", names.join(" "), model.name)
}

fn first(model: &Model) -> &NamedBackend {
    model.backends.first().expect("never empty")
}

#[test]
fn defaults() {
    let model = model(&[], &[], "");
    assert_eq!(summary(&model), "rehearsal: rehearsal");
    assert!(model.rehearsal.is_none() && model.record.is_none());
    assert!(model.routes.is_empty() && model.fallback.is_empty());
    let seconds = [model.patience, model.connect, model.first_byte, model.idle, model.total];
    assert_eq!(seconds.map(|limit| limit.as_secs()), [600, 10, 120, 120, 1800]);
    assert!(matches!(model.proxy, Proxy::Environment));
}

/// Arguments, variables, file, and the backends with the model that is asked.
type Case<'a> = (&'a [&'a str], Env<'a>, &'a str, &'a str);

const ORDER: &[Case] = &[
    (&[], &[KEY], "", "gemini: gemini-3.8-flash"),
    (&[], &[OTHER_KEY], "", "gemini: gemini-3.8-flash"),
    (&[], &[("GEMINI_API_KEY", "")], "", "rehearsal: rehearsal"),
    (&[], &[("GOOGLE_GEMINI_BASE_URL", "https://g.example")], "", "gemini: gemini-3.8-flash"),
    (&[], &[KEY, CODE_ASSIST], "", "code_assist gemini: gemini-3.8-flash"),
    (&[], &[KEY, ("USE_CCPA", "0")], "", "gemini: gemini-3.8-flash"),
    (&[], &[KEY, ("USE_CCPA", "False")], "", "gemini: gemini-3.8-flash"),
    (&[], &[CODE_ASSIST], "", "code_assist: gemini-3.8-flash"),
    (&[], &[VERTEX, PROJECT], "", "vertex: gemini-3.8-flash"),
    (&[], &[VERTEX, OTHER_KEY], "", "vertex: gemini-3.8-flash"),
    (&[], &[VERTEX, OTHER_KEY, KEY, CODE_ASSIST], "", "code_assist vertex gemini: gemini-3.8-flash"),
    (&["--model", "m"], &[], LOCAL, "local: m"),
    (&["--model", "m"], &[KEY], LOCAL, "local gemini: m"),
    (&[], &[KEY], "model.backends = [{name='gemini', kind='gemini'}]", "gemini: gemini-3.8-flash"),
    (&[], &[], "model.backends = [{name='r', kind='rehearsal'}]", "r: rehearsal"),
    // The name.
    (&[], &[KEY, ("GEMINI_MODEL", "a")], "model.name = 'f'", "gemini: a"),
    (&[], &[KEY, ("GEMINI_MODEL", "a"), ("DEFAULT_MODEL", "b")], "", "gemini: b"),
    (&[], &[KEY, ("DEFAULT_MODEL", "b"), ("AGENA_MODEL", "c")], "", "gemini: c"),
    (&["--model", "d"], &[KEY, ("AGENA_MODEL", "c")], "", "gemini: d"),
    // A script that was named by hand is meant.
    (&["--rehearsal", "s"], &[KEY], "", "rehearsal gemini: rehearsal"),
    (&["--set", "model.rehearsal=s"], &[KEY], "", "rehearsal gemini: rehearsal"),
    (&[], &[KEY, ("AGENA_REHEARSAL", "s")], "model.name = 'f'", "rehearsal gemini: rehearsal"),
    (&["--rehearsal", "s"], &[KEY, ("GEMINI_MODEL", "a")], "", "rehearsal gemini: rehearsal"),
    (&["--rehearsal", "s", "--model", "m"], &[KEY], "", "rehearsal gemini: m"),
    (&["--rehearsal", "s"], &[("AGENA_MODEL", "m")], "", "rehearsal: m"),
    (&["--rehearsal", "s"], &[], LOCAL, "rehearsal local: rehearsal"),
    // In the file, too, unless that names backends.
    (&[], &[KEY], "model.rehearsal = 's'", "rehearsal gemini: rehearsal"),
    (&[], &[KEY, ("DEFAULT_MODEL", "a")], "model.rehearsal = 's'", "rehearsal gemini: rehearsal"),
    (&[], &[KEY], "model = { rehearsal = 's', name = 'f' }", "rehearsal gemini: f"),
    (&["--set", "model.rehearsal=s", "--model", "m"], &[], LOCAL, "rehearsal local: m"),
];

#[test]
fn who_is_first_and_which_model_is_asked() {
    for (args, env, file, expected) in ORDER {
        assert_eq!(summary(&model(args, env, file)), *expected, "{args:?} {env:?} {file}");
    }
    let both = format!("{LOCAL}model.rehearsal = 's'\nmodel.name = 'f'");
    assert_eq!(summary(&model(&[], &[], &both)), "local rehearsal: f");
    let own = "model = { rehearsal = 's', name = 'f', backends = [\
               {name='local', kind='openai', base_url='http://[::1]:1'}, {name='r', kind='rehearsal'}] }";
    assert_eq!(summary(&model(&[], &[], own)), "local r: f");
    assert_eq!(summary(&model(&["--rehearsal", "s"], &[], own)), "r local: rehearsal");
}

#[test]
fn the_gemini_api_by_variables() {
    let env =
        [KEY, OTHER_KEY, ("GOOGLE_GENAI_API_VERSION", "v1"), ("GEMINI_API_KEY_AUTH_MECHANISM", "bearer")];
    let model = model(&[], &env, "");
    let BackendKind::Gemini { base_url, api_version, key, bearer } = &first(&model).kind else { panic!() };
    assert_eq!(
        (base_url.as_str(), api_version.as_str()),
        ("https://generativelanguage.googleapis.com", "v1")
    );
    assert_eq!((key.as_ref().expect("a key").expose(), *bearer), ("gem", true));
    assert_eq!(first(&model).key_from, Some(KeyFrom::Variable("GEMINI_API_KEY".to_owned())));
}

#[test]
fn a_gateway_by_variables() {
    for (env, expected) in [(&[][..], None), (&[OTHER_KEY], Some("goo"))] {
        let url = ("GOOGLE_GEMINI_BASE_URL", "https://gate.example/gemini/");
        let model = model(&[], &[env, &[url]].concat(), "");
        let BackendKind::Gemini { base_url, api_version, key, bearer } = &first(&model).kind else {
            panic!()
        };
        assert_eq!((base_url.as_str(), api_version.as_str()), ("https://gate.example/gemini", "v1beta"));
        assert_eq!((key.as_ref().map(|key| key.expose()), *bearer), (expected, false));
    }
}

#[test]
fn vertex_by_variables() {
    let decided = |env: Env| match model(&[], env, "").backends.remove(0).kind {
        BackendKind::Vertex { project, location, base_url, access } => (project, location, base_url, access),
        other => panic!("{other:?}"),
    };
    let (project, location, base_url, access) = decided(&[VERTEX, PROJECT]);
    assert_eq!((project.as_deref(), location.as_str(), base_url), (Some("p"), "global", None));
    assert!(matches!(access, VertexAccess::Credentials(None)));
    let more = [
        ("GOOGLE_CLOUD_LOCATION", "europe-west4"),
        ("GOOGLE_VERTEX_BASE_URL", "https://v.example"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "sa.json"),
    ];
    let (_, location, base_url, access) = decided(&[&[VERTEX, PROJECT][..], &more].concat());
    assert_eq!((location.as_str(), base_url.as_deref()), ("europe-west4", Some("https://v.example")));
    assert!(matches!(access, VertexAccess::Credentials(Some(path)) if path == Path::new("/cwd/sa.json")));
    let (project, _, _, access) = decided(&[VERTEX, OTHER_KEY]);
    assert!(project.is_none() && matches!(access, VertexAccess::Key(key) if key.expose() == "goo"));
}

#[test]
fn code_assist_by_variables() {
    let more = [
        ("CODE_ASSIST_ENDPOINT", "https://c.example"),
        ("CODE_ASSIST_API_VERSION", "v2"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "/sa.json"),
    ];
    for (env, url, version, file) in [
        (&[CODE_ASSIST][..], "https://cloudcode-pa.googleapis.com", "v1internal", None),
        (&[&[CODE_ASSIST][..], &more].concat(), "https://c.example", "v2", Some("/sa.json")),
    ] {
        let model = model(&[], env, "");
        match &first(&model).kind {
            BackendKind::CodeAssist { endpoint, api_version, project: None, credentials, client: None } => {
                assert_eq!((endpoint.as_str(), api_version.as_str()), (url, version));
                assert_eq!(*credentials, file.map(PathBuf::from));
            }
            other => panic!("{other:?}"),
        }
    }
}

const EVERY_KIND: &str = "
    [model]
    name = 'gemini-4-argon'
    fallback = ['gemini-3.8-flash', 'qwen3']
    patience_seconds = 0
    connect_seconds = 1
    first_byte_seconds = 2
    idle_seconds = 3
    total_seconds = 4
    proxy = 'socks5://me:hush@proxy.internal:1080'
    rehearsal = 'script.yaml'
    record = 'sessions'
    [[model.backends]]
    name = 'google'
    kind = 'gemini'
    key_file = 'gemini.key'
    key_header = 'bearer'
    [[model.backends]]
    name = 'cloud'
    kind = 'vertex'
    project = 'example.com:p'
    credentials = 'sa.json'
    [[model.backends]]
    name = 'express'
    kind = 'vertex'
    key_env = 'EXPRESS_KEY'
    [[model.backends]]
    name = 'login'
    kind = 'code_assist'
    client_id = '1-a.apps.example'
    client_secret_file = '/client.secret'
    [[model.backends]]
    name = 'local'
    kind = 'openai'
    base_url = 'http://192.168.1.5:8000/v1'
    key = 'k'
    headers = { x-team = 'hush hush' }
    [[model.routes]]
    model = 'gpt-*'
    backend = 'google'
    to = 'gemini-3.8-flash'
    [[model.routes]]
    model = 'claude-*'
    arms = [
        { name = 'a', weight = 90, backend = 'google', to = 'gemini-4-argon' },
        { name = 'b', backend = 'local', to = 'qwen3' },
    ]
    fallback = [{ backend = 'local' }]
";

fn every_kind() -> Settings {
    let disk = Fake::with(&[
        (FILE, EVERY_KIND),
        ("/home/u/.config/agena/gemini.key", "gem\n"),
        ("/client.secret", "s"),
    ]);
    match run(&[], &[("EXPRESS_KEY", "exp")], &disk) {
        Ok(Command::Serve(settings)) => *settings,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_kind_by_the_file() {
    let settings = every_kind();
    let model = &settings.model;
    assert_eq!(summary(model), "google cloud express login local rehearsal: gemini-4-argon");
    assert_eq!(model.fallback, ["gemini-3.8-flash", "qwen3"]);
    let seconds = [model.patience, model.connect, model.first_byte, model.idle, model.total];
    assert_eq!(seconds.map(|limit| limit.as_secs()), [0, 1, 2, 3, 4]);
    assert!(
        matches!(&model.proxy, Proxy::Url(url) if url.expose() == "socks5://me:hush@proxy.internal:1080")
    );
    let base = Path::new("/home/u/.config/agena");
    assert_eq!(model.rehearsal.as_deref(), Some(&*base.join("script.yaml")));
    assert_eq!(model.record.as_deref(), Some(&*base.join("sessions")));
    let [google, cloud, express, login, local, _] = model.backends.as_slice() else { panic!() };
    assert!(
        matches!(&google.kind, BackendKind::Gemini { key: Some(key), bearer: true, .. } if key.expose() == "gem")
    );
    assert_eq!(google.key_from, Some(KeyFrom::File(base.join("gemini.key"))));
    assert!(
        matches!(&cloud.kind, BackendKind::Vertex { project: Some(project), .. } if project == "example.com:p")
    );
    assert_eq!(express.key_from, Some(KeyFrom::Variable("EXPRESS_KEY".to_owned())));
    assert!(matches!(&login.kind, BackendKind::CodeAssist { client: Some(client), .. }
        if client.id == "1-a.apps.example" && client.secret.expose() == "s"));
    assert!(matches!(&local.kind, BackendKind::OpenAi { key: Some(_), headers, .. }
        if headers["x-team"].expose() == "hush hush"));
    assert_eq!(local.key_from, Some(KeyFrom::Inline));
    let own = [FILE, "/home/u/.config/agena/gemini.key", "/home/u/.config/agena/sa.json", "/client.secret"];
    assert_eq!(settings.own_files, own.map(PathBuf::from));
}

#[test]
fn routes_by_the_file() {
    let model = every_kind().model;
    let shown = |route: &super::super::Route| {
        let arms = route.arms.iter().map(|arm| format!("{} {} {:?}", arm.name, arm.weight, arm.target));
        format!("{} -> {} else {:?}", route.model, arms.collect::<Vec<_>>().join(" | "), route.fallback)
    };
    let expected = [
        r#"gpt-* -> only 1 Target { backend: Some("google"), model: Some("gemini-3.8-flash") } else []"#,
        r#"claude-* -> a 90 Target { backend: Some("google"), model: Some("gemini-4-argon") } | b 1 Target { backend: Some("local"), model: Some("qwen3") } else [Target { backend: Some("local"), model: None }]"#,
    ];
    assert_eq!(model.routes.iter().map(shown).collect::<Vec<_>>(), expected);
}

#[test]
fn no_secret_is_shown() {
    let shown = format!("{:?}", every_kind());
    for secret in ["hush", "\"gem\"", "\"exp\"", "\"s\"", "\"k\""] {
        assert!(!shown.contains(secret), "{secret}: {shown}");
    }
}

#[test]
fn the_key_of_the_environment_goes_to_google_and_to_no_other_address_of_the_file() {
    for (file, expected) in [
        ("model.backends = [{name='g', kind='gemini'}]", Some("gem")),
        ("model.backends = [{name='g', kind='gemini', base_url='https://gate.example'}]", None),
        ("model.backends = [{name='g', kind='gemini', key='own'}]", Some("own")),
    ] {
        let model = model(&[], &[KEY], file);
        let BackendKind::Gemini { key, .. } = &first(&model).kind else { panic!("{file}") };
        assert_eq!(key.as_ref().map(|key| key.expose()), expected, "{file}");
    }
}

#[test]
fn keys_may_travel_openly_where_nobody_listens() {
    for host in [
        "localhost:1",
        "127.0.0.1",
        "[::1]:1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.0.1",
        "[fd00::1]",
        "litellm:4000",
        "gate.internal",
        "box.local",
    ] {
        model(&[], &[KEY, ("GOOGLE_GEMINI_BASE_URL", &format!("http://{host}"))], "");
    }
    let far = "model = { name = 'm', backends = [\
               {name='a', kind='openai', base_url='http://far.example'},\
               {name='b', kind='openai', base_url='http://far.example', key='k', allow_plain_http=true}] }";
    assert_eq!(model(&[], &[], far).backends.len(), 2);
}

#[test]
fn other_commands_need_no_keys_of_models() {
    let file = "model.backends = [{name='g', kind='gemini', key_env='MISSING'}]";
    let disk = Fake::with(&[(FILE, file)]);
    assert!(matches!(run(&["token"], &[VERTEX], &disk), Ok(Command::Token(_))));
    assert!(matches!(run(&["trust", "--list"], &[], &disk), Ok(Command::Trust(..))));
    assert!(run(&[], &[], &disk).is_err());
}
