//! What is refused of models, each with the exact line.

use super::{FILE, Fake, refusal};

fn refused(env: &[(&str, &str)], file: &str) -> String {
    let disk = Fake::with(&[(FILE, file), ("/empty", " \n"), ("/odd", "hush hush\n")]);
    refusal(&[], env, &disk).replace(FILE, "FILE")
}

const BACKENDS: &[(&str, &str)] = &[
    ("{kind='gemini'}", "FILE: model.backends[0]: missing key `name`"),
    ("{name='a'}", "FILE: model.backends[0]: missing key `kind`"),
    (
        "{name='a', kind='claude'}",
        "FILE: model.backends[0].kind: unknown variant `claude`, expected one of `gemini`, `vertex`, `code_assist`, `openai`, `rehearsal`",
    ),
    (
        "{name='a b', kind='gemini'}",
        "FILE: model.backends[0].name: `a b` is not a name; use 1 to 128 letters, digits, dots, colons, underscores or hyphens",
    ),
    (
        "{name='a', kind='gemini'}",
        "model.backends[0].key: there is no key; add key_file, key_env or key, set GEMINI_API_KEY, or name a gateway as base_url",
    ),
    (
        "{name='a', kind='gemini', key='hush', key_file='/k'}",
        "FILE: model.backends[0]: key, key_file and key_env say the same thing; keep one of them",
    ),
    (
        "{name='a', kind='gemini', key=''}",
        "FILE: model.backends[0].key: the key is empty; put the key there or leave the setting out",
    ),
    (
        "{name='a', kind='gemini', key=['hush']}",
        "FILE: model.backends[0].key: the key must be a string; put it in quotes",
    ),
    (
        "{name='a', kind='gemini', key='hush hush'}",
        "FILE: model.backends[0].key: the key may only hold visible ASCII characters, without spaces",
    ),
    (
        "{name='a', kind='gemini', key_file='/nowhere'}",
        "model.backends[0].key_file: cannot read /nowhere (no such file); mend the path or the permissions",
    ),
    (
        "{name='a', kind='gemini', key_file='/empty'}",
        "model.backends[0].key_file: /empty: the key is empty; put the key there or leave the setting out",
    ),
    (
        "{name='a', kind='gemini', key_file='/odd'}",
        "model.backends[0].key_file: /odd: the key may only hold visible ASCII characters, without spaces",
    ),
    (
        "{name='a', kind='gemini', key_env='AIzaHush'}",
        "model.backends[0].key_env: the variable that it names is not set; set it, or use key_file",
    ),
    (
        "{name='a', kind='gemini', key_env='AIza-hush'}",
        "FILE: model.backends[0].key_env: this is not the name of a variable; write for example MY_KEY",
    ),
    (
        "{name='a', kind='gemini', key_header='basic'}",
        "FILE: model.backends[0].key_header: unknown variant `basic`, expected `x-goog-api-key` or `bearer`",
    ),
    (
        "{name='a', kind='gemini', project='p'}",
        "FILE: model.backends[0]: project means nothing to a backend of this kind; take it out",
    ),
    (
        "{name='a', kind='rehearsal', base_url='http://127.0.0.1'}",
        "FILE: model.backends[0]: base_url means nothing to a backend of this kind; take it out",
    ),
    (
        "{name='a', kind='vertex'}",
        "model.backends[0].project: there is no project; add it, set GOOGLE_CLOUD_PROJECT, or add key_file for express mode",
    ),
    (
        "{name='a', kind='vertex', project='p', key='k', credentials='/c'}",
        "model.backends[0].credentials: key and credentials are two ways in; keep one of them",
    ),
    (
        "{name='a', kind='code_assist', client_id='c'}",
        "FILE: model.backends[0]: client_id and client_secret belong together; set both, or neither",
    ),
    (
        "{name='a', kind='code_assist', client_id='c', client_secret_file='/nowhere'}",
        "model.backends[0].client_secret_file: cannot read /nowhere (no such file); mend the path or the permissions",
    ),
    (
        "{name='a', kind='openai'}",
        "FILE: model.backends[0]: base_url is missing; add where the server is, for example http://127.0.0.1:11434/v1",
    ),
    (
        "{name='a', kind='openai', base_url='http://[::1]', headers={'a b'='c'}}",
        "FILE: model.backends[0]: `a b` in headers is not the name of a header; write for example x-team",
    ),
    (
        "{name='a', kind='openai', base_url='http://[::1]', headers={a=\"hush\\n\"}}",
        "FILE: model.backends[0].headers.a: a header may only hold visible ASCII characters and spaces",
    ),
    (
        "{name='a', kind='openai', base_url='http://[::1]'}",
        "model.name: which model `a` is to be asked for is not known; set model.name, --model or AGENA_MODEL",
    ),
    (
        "{name='a', kind='rehearsal'}, {name='a', kind='rehearsal'}",
        "model.backends: the name `a` is used twice; give each backend its own name",
    ),
    (
        "{name='rehearsal', kind='gemini', key='k'}",
        "model.backends[0].name: the name `rehearsal` is for a backend of that kind; choose another",
    ),
];

#[test]
fn backends() {
    for (backends, line) in BACKENDS {
        assert_eq!(refused(&[], &format!("model.backends = [{backends}]")), *line, "{backends}");
    }
}

#[test]
fn base_urls() {
    for url in [
        "",
        "far.example",
        "ftp://far.example",
        "https://me:hush@far.example",
        "https://a.example?key=hush",
        "https://a.example/#",
    ] {
        let line =
            "this is not a base URL; write http(s)://host[:port][/path] without user, query and fragment";
        let backend = format!("model.backends = [{{name='a', kind='openai', base_url='{url}'}}]");
        assert_eq!(refused(&[], &backend), format!("FILE: model.backends[0].base_url: {line}"), "{url}");
        if !url.is_empty() {
            let env = [("GOOGLE_GEMINI_BASE_URL", url)];
            assert_eq!(refused(&env, ""), format!("GOOGLE_GEMINI_BASE_URL: {line}"), "{url}");
        }
    }
}

#[test]
fn no_key_travels_where_others_can_read_it() {
    let line = "a key would travel to far.example where others can read it; write https://";
    for rest in [
        "kind='openai', key='k'",
        "kind='openai', headers={x-key='k'}",
        "kind='gemini', key='k'",
        "kind='vertex', project='p'",
        "kind='code_assist'",
    ] {
        let backend = format!("model.backends = [{{name='a', base_url='http://far.example', {rest}}}]");
        let expected = format!("model.backends[0].base_url: {line}, or set allow_plain_http = true");
        assert_eq!(refused(&[], &backend), expected, "{rest}");
    }
    for (url, others) in [
        ("GOOGLE_GEMINI_BASE_URL", &[("GEMINI_API_KEY", "k")][..]),
        ("CODE_ASSIST_ENDPOINT", &[("USE_CCPA", "1")]),
        ("GOOGLE_VERTEX_BASE_URL", &[("GOOGLE_GENAI_USE_VERTEXAI", "1"), ("GOOGLE_CLOUD_PROJECT", "p")]),
    ] {
        let env = [others, &[(url, "http://far.example")]].concat();
        assert_eq!(refused(&env, ""), format!("{url}: {line}"));
    }
}

const ROUTES: &[(&str, &str)] = &[
    ("{to='b'}", "FILE: model.routes[0]: missing key `model`"),
    ("{model='a'}", "model.routes[0]: the route leads nowhere; add backend, to, or arms"),
    ("{model='a', arms=[]}", "model.routes[0].arms: the route leads nowhere; add backend, to, or arms"),
    (
        "{model='a', backend='nope'}",
        "model.routes[0].backend: there is no backend `nope`; name one of rehearsal",
    ),
    (
        "{model='a', to='b', arms=[{name='x', to='b'}]}",
        "model.routes[0]: backend and to stand in each arm where there are arms; take them out beside",
    ),
    (
        "{model='a', arms=[{name='x', to='b'}, {name='y', backend='nope'}]}",
        "model.routes[0].arms[1].backend: there is no backend `nope`; name one of rehearsal",
    ),
    (
        "{model='a', arms=[{name='x', to='b'}, {name='x', to='c'}]}",
        "model.routes[0].arms[1].name: the name `x` is used twice; give each arm its own name",
    ),
    (
        "{model='a', arms=[{name='x'}]}",
        "model.routes[0].arms[0]: the route leads nowhere; add backend, to, or arms",
    ),
    (
        "{model='a', arms=[{name='x', to='b', weight=0}, {name='y', to='c', weight=0}]}",
        "model.routes[0].arms: every weight is 0; give at least one arm a weight",
    ),
    (
        "{model='a', arms=[{name='x', to='b', weight=-1}]}",
        "FILE: model.routes[0].arms[0].weight: -1 is out of range; use a number from 0 to 1000000",
    ),
    (
        "{model='a', to='b', fallback=[{backend='nope'}]}",
        "model.routes[0].fallback[0].backend: there is no backend `nope`; name one of rehearsal",
    ),
    (
        "{model='a', to='b'}, {model='a', to='c'}",
        "model.routes[1].model: `a` has a route already; keep one of them",
    ),
];

#[test]
fn routes() {
    for (routes, line) in ROUTES {
        assert_eq!(refused(&[], &format!("model.routes = [{routes}]")), *line, "{routes}");
    }
}

const OTHERS: &[(&str, &str)] = &[
    (
        "proxy = 'me:hush@proxy'",
        "FILE: model.proxy: this is not a proxy; write http://, https:// or socks5://host:port, or none",
    ),
    (
        "proxy = 'ftp://hush'",
        "FILE: model.proxy: this is not a proxy; write http://, https:// or socks5://host:port, or none",
    ),
    (
        "fallback = ['a', '']",
        "FILE: model.fallback[1]: `` is not the name of a model; write for example gemini-3.8-flash",
    ),
    ("idle_seconds = 0", "FILE: model.idle_seconds: 0 is out of range; use a number from 1 to 3600"),
    (
        "patience_seconds = -1",
        "FILE: model.patience_seconds: -1 is out of range; use a number from 0 to 86400",
    ),
    ("record = '~/r'", "FILE: model.record: `~` is not expanded in `~/r`; write the path in full"),
];

#[test]
fn others() {
    for (line, expected) in OTHERS {
        assert_eq!(refused(&[], &format!("[model]\n{line}")), *expected, "{line}");
    }
}

#[test]
fn variables() {
    let on = ("GOOGLE_GENAI_USE_VERTEXAI", "true");
    for (env, line) in [
        (
            &[on][..],
            "GOOGLE_GENAI_USE_VERTEXAI: there is no project; set GOOGLE_CLOUD_PROJECT, or GOOGLE_API_KEY for express mode",
        ),
        (
            &[("GEMINI_API_KEY", "hush hush")],
            "GEMINI_API_KEY: the key may only hold visible ASCII characters, without spaces",
        ),
        (
            &[("GEMINI_API_KEY", "k"), ("GEMINI_API_KEY_AUTH_MECHANISM", "hush")],
            "GEMINI_API_KEY_AUTH_MECHANISM: this is not known; set x-goog-api-key or bearer",
        ),
        (
            &[("USE_CCPA", "1"), ("GOOGLE_APPLICATION_CREDENTIALS", "~/c.json")],
            "GOOGLE_APPLICATION_CREDENTIALS: `~` is not expanded in `~/c.json`; write the path in full",
        ),
        (
            &[on, ("GOOGLE_CLOUD_PROJECT", "a/b")],
            "GOOGLE_CLOUD_PROJECT: `a/b` is not a name; use 1 to 128 letters, digits, dots, colons, underscores or hyphens",
        ),
    ] {
        assert_eq!(refused(env, ""), line, "{env:?}");
    }
}
