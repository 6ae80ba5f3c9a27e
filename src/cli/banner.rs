//! What the server says when it is ready: every address, what the agent may do, and how to come in.

use std::fmt::Write;
use std::path::Path;

use crate::config::{
    ApprovalMode, BackendKind, GEMINI_URL, KeyFrom, Model, NamedBackend, Settings, VertexAccess,
};
use crate::domain::secret::Secret;
use crate::service::card::Place;

/// Lines for a person. `serving` is who serves the model, if it is always the same one; `sandbox` says whether commands
/// are confined, and `token` is none when no key is needed.
pub fn banner(
    place: &Place,
    settings: &Settings,
    serving: Option<&NamedBackend>,
    sandbox: &str,
    token: Option<&Secret>,
) -> String {
    let Place { url, authority, .. } = place;
    let mut text = format!("agena {} is ready\n\n", env!("CARGO_PKG_VERSION"));
    let mut line = |name: &str, value: &str| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {name:<12}{value}");
    };
    if settings.console {
        line("console", &console(url, token));
    }
    line("gRPC", &format!("{authority}   (also gRPC-Web)"));
    line("HTTP+JSON", &format!("{url}   (streams are server-sent events)"));
    line("agent card", &format!("{url}/.well-known/agent-card.json"));
    line("workspace", &workspace(settings));
    line("model", &model(&settings.model, serving));
    line("approvals", &approvals(settings));
    line("sandbox", sandbox);
    match token {
        Some(token) => line("token", &format!("{}   (agena token prints it again)", token.expose())),
        None => line("token", "none needed: whoever reaches this port may use it"),
    }
    text
}

/// Opens without asking for anything. What stands behind `#` stays in the browser: no server and no log sees it.
fn console(url: &str, token: Option<&Secret>) -> String {
    match token {
        Some(token) => format!("{url}/#token={}", token.expose()),
        None => format!("{url}/"),
    }
}

fn workspace(settings: &Settings) -> String {
    let workspace = settings.workspace.display();
    match settings.agent.root == settings.workspace {
        true => workspace.to_string(),
        false => format!("{workspace}   (clients may name others under {})", settings.agent.root.display()),
    }
}

/// The model that is asked unless a client says otherwise, who serves it, and what else happens to a request.
fn model(model: &Model, serving: Option<&NamedBackend>) -> String {
    let mut notes = vec![match (serving.map(|named| &named.kind), &model.rehearsal) {
        (Some(BackendKind::Rehearsal), Some(script)) => format!("no model: it follows {}", script.display()),
        _ => serving.map_or_else(|| "by routes".to_owned(), backend),
    }];
    if !model.fallback.is_empty() {
        notes.push(format!("else {}", model.fallback.join(", ")));
    }
    match model.routes.len() {
        0 => {}
        1 => notes.push("1 route".to_owned()),
        routes => notes.push(format!("{routes} routes")),
    }
    notes.extend(model.record.as_ref().map(|record| format!("recorded in {}", record.display())));
    format!("{}   ({})", model.name, notes.join("; "))
}

fn backend(backend: &NamedBackend) -> String {
    let key = || key(backend.key_from.as_ref());
    match &backend.kind {
        BackendKind::Gemini { base_url, .. } if base_url == GEMINI_URL => format!("Gemini API, {}", key()),
        BackendKind::Gemini { base_url, .. } => format!("Gemini API at {base_url}, {}", key()),
        BackendKind::Vertex { access: VertexAccess::Key(_), .. } => format!("Vertex AI, {}", key()),
        BackendKind::Vertex { project, location, access: VertexAccess::Credentials(file), .. } => {
            let project = project.as_deref().unwrap_or("no project");
            format!("Vertex AI, {project} in {location}, {}", credentials(file.as_deref()))
        }
        BackendKind::CodeAssist { credentials: None, .. } => {
            "Code Assist, Gemini CLI's login or application default credentials".to_owned()
        }
        BackendKind::CodeAssist { credentials: file, .. } => {
            format!("Code Assist, {}", credentials(file.as_deref()))
        }
        BackendKind::OpenAi { base_url, .. } if backend.key_from.is_some() => {
            format!("OpenAI-compatible, {base_url}, {}", key())
        }
        BackendKind::OpenAi { base_url, .. } => format!("OpenAI-compatible, {base_url}"),
        BackendKind::Rehearsal => {
            "no model: it follows scripts and a few plain requests; set GEMINI_API_KEY for Gemini".to_owned()
        }
    }
}

fn key(from: Option<&KeyFrom>) -> String {
    match from {
        None => "no key".to_owned(),
        Some(KeyFrom::Variable(name)) => format!("key from {name}"),
        Some(KeyFrom::File(path)) => format!("key from {}", path.display()),
        Some(KeyFrom::Inline) => "key from the settings".to_owned(),
    }
}

fn credentials(file: Option<&Path>) -> String {
    match file {
        Some(file) => format!("credentials from {}", file.display()),
        None => "application default credentials".to_owned(),
    }
}

fn approvals(settings: &Settings) -> String {
    let mode = settings.agent.approval_mode;
    let means = match mode {
        ApprovalMode::Default => "asks before it changes anything",
        ApprovalMode::AutoEdit => "edits plain files unasked, asks for the rest",
        ApprovalMode::Yolo => "asks for nothing",
        ApprovalMode::Plan => "changes nothing",
    };
    let more = if settings.agent.allow_yolo && mode != ApprovalMode::Yolo {
        "; clients may ask for yolo"
    } else {
        ""
    };
    format!("{}   ({means}{more})", mode.as_str())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::ffi::OsString;

    use super::*;
    use crate::config::{self, Command};

    const LOCAL: &str =
        "model.backends=[{name='local', kind='openai', base_url='http://127.0.0.1:11434/v1', key='hush'}]";
    const ROUTES: &str = "model.routes=[{model='gpt-*', to='a'}, {model='c', to='b'}]";
    const ARMS: &str = "model.routes=[{model='*', arms=[{name='a', to='x'}, {name='b', to='y'}]}]";

    /// Arguments, variables, and what the banner says of the model.
    type Case<'a> = (&'a [&'a str], &'a [(&'a str, &'a str)], &'a str);

    const CASES: &[Case] = &[
        (
            &[],
            &[],
            "rehearsal   (no model: it follows scripts and a few plain requests; set GEMINI_API_KEY for Gemini)",
        ),
        (&[], &[("GEMINI_API_KEY", "hush")], "gemini-3.8-flash   (Gemini API, key from GEMINI_API_KEY)"),
        (
            &["--rehearsal", "/s.yaml"],
            &[("GEMINI_API_KEY", "hush")],
            "rehearsal   (no model: it follows /s.yaml)",
        ),
        (
            &[],
            &[("USE_CCPA", "1")],
            "gemini-3.8-flash   (Code Assist, Gemini CLI's login or application default credentials)",
        ),
        (
            &["--model", "gemini-x"],
            &[("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:4000")],
            "gemini-x   (Gemini API at http://127.0.0.1:4000, no key)",
        ),
        (
            &["--record", "/r", "--set", "model.fallback=['a', 'b']"],
            &[("GOOGLE_API_KEY", "hush"), ("GOOGLE_GENAI_USE_VERTEXAI", "true")],
            "gemini-3.8-flash   (Vertex AI, key from GOOGLE_API_KEY; else a, b; recorded in /r)",
        ),
        (
            &[],
            &[("GOOGLE_CLOUD_PROJECT", "p"), ("GOOGLE_GENAI_USE_VERTEXAI", "1")],
            "gemini-3.8-flash   (Vertex AI, p in global, application default credentials)",
        ),
        (
            &[],
            &[("USE_CCPA", "1"), ("GOOGLE_APPLICATION_CREDENTIALS", "/c.json")],
            "gemini-3.8-flash   (Code Assist, credentials from /c.json)",
        ),
        (
            &["--model", "qwen3", "--set", LOCAL, "--set", ROUTES],
            &[],
            "qwen3   (OpenAI-compatible, http://127.0.0.1:11434/v1, key from the settings; 2 routes)",
        ),
        (&["--set", ARMS], &[("GEMINI_API_KEY", "hush")], "gemini-3.8-flash   (by routes; 1 route)"),
    ];

    #[test]
    fn the_link_to_the_console_brings_the_token_where_no_log_sees_it() {
        let token = Secret::new("t0k3n".to_owned());
        assert_eq!(console("http://h:1", Some(&token)), "http://h:1/#token=t0k3n");
        assert_eq!(console("http://h:1", None), "http://h:1/");
    }

    #[test]
    fn the_model_is_named_with_who_serves_it_and_without_its_key() {
        for (args, env, expected) in CASES {
            let env: BTreeMap<&str, &str> =
                env.iter().copied().chain([("AGENA_CONFIG", "/dev/null")]).collect();
            let args = ["agena"].iter().chain(*args).map(OsString::from);
            match config::parse(args, &env) {
                Ok(Command::Serve(settings)) => {
                    let serving = settings.model.backends.first().filter(|_| !expected.contains("by routes"));
                    assert_eq!(model(&settings.model, serving), *expected);
                }
                other => panic!("{expected}: {other:?}"),
            }
        }
    }
}
