//! Where a file lies, and what a call is about, as its plan says.

use agena::agent::policy::{About, Place, Subject};
use agena::domain::tool::{Call, Declaration, Kind, Plan};
use agena::proto::devtool::confirmation_request::Details;
use agena::proto::devtool::{ExecuteDetails, FileDiff, GenericDetails, McpDetails, Question};
use serde_json::{Value, json};

use super::kit::WORKSPACE;

#[test]
fn a_path_is_inside_or_outside_by_its_name() {
    let table = [
        ("a", Ok("a")),
        ("./a//b/", Ok("a/b")),
        ("a/../b", Ok("b")),
        ("/home/me/project/a", Ok("a")),
        ("/home/me/project/x/../.git/config", Ok(".git/config")),
        ("/home/me/project", Ok("")),
        ("../project/a", Ok("a")),
        ("..", Err("/home/me")),
        ("a/../../x", Err("/home/me/x")),
        ("/home/me/project2/a", Err("/home/me/project2/a")),
        ("/home/me/project/../x", Err("/home/me/x")),
        ("../../../../../etc/passwd", Err("/etc/passwd")),
        ("/etc/passwd", Err("/etc/passwd")),
    ];
    for (path, expected) in table {
        let expected = expected
            .map_or_else(|out: &str| Place::Outside(out.into()), |inside: &str| Place::Inside(inside.into()));
        assert_eq!(Place::of(path, WORKSPACE), expected, "{path}");
        assert_eq!(Place::of(path, "/home/me/project/"), expected, "{path}");
    }
    assert_eq!(Place::of("a", "/"), Place::Inside("a".into()));
}

#[test]
fn what_is_run_trusted_or_secret_is_sensitive() {
    let sensitive = [
        ".git/config",
        ".git",
        "sub/.git/hooks/pre-commit",
        ".GIT/config",
        ".git./x",
        ".git /x",
        "git~1/x",
        ".git::$DATA/x",
        ".env",
        ".env.local",
        "app/.envrc",
        ".env/x",
        "agena.toml",
        "x/agena.toml",
        "GEMINI.md",
        "docs/AGENTS.md",
        "agents.MD",
        "CLAUDE.md",
        ".ssh/config",
        ".github/workflows/ci.yml",
        ".github/actions/x",
        ".vscode/tasks.json",
        ".vscode/settings.json",
        ".idea/x",
        ".husky/pre-commit",
        ".cargo/config.toml",
        ".bashrc",
        ".npmrc",
        ".gitmodules",
        ".mcp.json",
        ".pre-commit-config.yaml",
        ".g\u{200b}it/config",
        "a\\..\\.git\\config",
        "a\u{202e}b",
        "Jenkinsfile",
        ".gemini/settings.json",
    ];
    for path in sensitive {
        assert!(Place::of(path, WORKSPACE).is_sensitive(), "{path}");
    }
    let plain =
        ["src/lib.rs", "git/config", ".github/x.md", "env.rs", "README.md", "gemini.md.txt", ".gitignore"];
    for path in plain {
        assert!(Place::of(path, WORKSPACE).is_plain_file_of_the_workspace(), "{path}");
    }
    assert!(!Place::of("/etc/x", WORKSPACE).is_plain_file_of_the_workspace());
    assert!(!Place::of(".", WORKSPACE).is_plain_file_of_the_workspace());
}

fn built(kind: Kind, server: Option<&str>, arguments: Value, details: Details) -> Subject {
    let declaration = Declaration {
        name: "tool".into(),
        title: String::new(),
        description: String::new(),
        parameters: Value::Null,
        kind,
        server: server.map(str::to_owned),
    };
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    let call = Call { id: "1".into(), tool: "tool".into(), arguments };
    Subject::new(
        &declaration,
        &call,
        &Plan { description: String::new(), details, always_asks: false, paths: vec![] },
        WORKSPACE,
    )
}

fn generic() -> Details {
    Details::GenericDetails(GenericDetails::default())
}

#[test]
fn what_is_shown_counts_more_than_the_arguments() {
    let diff = FileDiff { file_path: format!("{WORKSPACE}/.env"), ..FileDiff::default() };
    let edit = built(Kind::Edit, None, json!({"file_path": "a"}), Details::FileEditDetails(diff));
    assert_eq!(edit.about, About::Edit(Place::Inside(".env".into())));
    let execute = ExecuteDetails { command: "ls".into(), working_directory: None };
    let run = built(Kind::Execute, None, json!({"command": "pwd"}), Details::ExecuteDetails(execute.clone()));
    assert_eq!(run.about, super::kit::command("ls").about);
    let asked = GenericDetails { questions: vec![Question::default()], ..GenericDetails::default() };
    assert_eq!(
        built(Kind::Communicate, None, json!({}), Details::GenericDetails(asked)).about,
        About::Questions
    );
    let foreign = built(Kind::Execute, Some("hub"), json!({}), Details::ExecuteDetails(execute));
    assert_eq!((foreign.about, foreign.server), (About::Nothing, Some("hub".into())));
    let shown = McpDetails { server_name: "hub".into(), tool_name: "x".into() };
    assert_eq!(built(Kind::Other, None, json!({}), Details::McpDetails(shown)).server, Some("hub".into()));
}

#[test]
fn paths_come_from_the_arguments_that_hold_them() {
    let read = built(Kind::Read, None, json!({"file_path": "a/../.env", "start_line": 1}), generic());
    assert_eq!(read.about, About::Paths(vec![Place::Inside(".env".into())]));
    let many = built(Kind::Read, None, json!({"include": ["a", "/x"]}), generic());
    assert_eq!(many.about, About::Paths(vec![Place::Inside("a".into()), Place::Outside("/x".into())]));
    assert_eq!(built(Kind::Read, None, json!({"pattern": "x"}), generic()).about, About::Nothing);
}

#[test]
fn a_host_is_known_only_where_every_reader_agrees() {
    let table: &[(&str, &[&str])] = &[
        ("https://example.com/a?b=c", &["example.com"]),
        ("http://Example.COM.", &["example.com"]),
        ("https://example.com:443/", &["example.com"]),
        ("https://example.com:8443/", &["example.com:8443"]),
        ("http://a.com and https://b.com/x", &["a.com", "b.com"]),
        ("https://a.com https://a.com", &["a.com"]),
        ("https://good.com@evil.com/", &[]),
        ("https://good.com\\@evil.com/", &[]),
        ("https://good.com/?x=https://evil.com", &[]),
        ("https://good.com,https://evil.com", &[]),
        ("(https://good.com)", &[]),
        ("https://good.com and HTTPS://evil.com", &[]),
        ("https://good.com and ftp://evil.com", &[]),
        ("https://g\u{43e}od.com", &[]),
        ("https://[::1]/", &[]),
        ("https://good%2ecom/", &[]),
        ("https:///x", &[]),
        ("file:///etc/passwd", &[]),
        ("no address", &[]),
    ];
    for (prompt, hosts) in table {
        let fetch = built(Kind::Fetch, None, json!({"prompt": prompt}), generic());
        assert_eq!(fetch.about, super::kit::fetch(hosts).about, "{prompt}");
    }
}
