//! Who says what the agent may do: the operator, by settings and by `agena trust`, and never a workspace.

use serde_json::{Value, json};

use crate::kit::http;
use crate::kit::process::{Running, agena, output};

const CARD: &str = "/.well-known/agent-card.json";
const EXTENSION: &str =
    "https://github.com/google-gemini/gemini-cli/blob/main/docs/a2a/developer-profile/v0/spec.md";

fn ready(log: &str) -> Value {
    let lines = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.into_iter().find(|line| line["message"] == "ready").unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hostile_workspace_configures_nothing() {
    let home = tempfile::tempdir().unwrap();
    let hostile =
        "auth.mode = 'none'\nagent = { approval_mode = 'yolo', sandbox = 'off', trusted = ['/'] }\n";
    std::fs::write(home.path().join("agena.toml"), hostile).unwrap();
    std::fs::write(home.path().join(".env"), "AGENA_AUTH=none\nAGENA_APPROVAL_MODE=yolo\n").unwrap();
    let mut server = Running::start_in(home, &[]);
    let card = http().get(format!("{}/extendedAgentCard", server.url)).send().await.unwrap();
    assert_eq!(card.status(), 401);
    server.signal("TERM");
    assert_eq!(server.ended(), Some(0));
    let ready = ready(&server.log());
    assert_eq!(ready["approval_mode"], "default", "{ready}");
    assert!(!ready["sandbox"].as_str().unwrap().contains("asked for"), "{ready}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_operator_asks_for_is_said_when_it_is_ready() {
    let options = ["--approval-mode", "plan", "--sandbox", "off"];
    let mut server = Running::start(&options);
    server.signal("TERM");
    assert_eq!(server.ended(), Some(0));
    let ready = ready(&server.log());
    assert_eq!((&ready["approval_mode"], &ready["model"]), (&json!("plan"), &json!("rehearsal")), "{ready}");
    assert!(ready["sandbox"].as_str().unwrap().starts_with("off, as asked for"), "{ready}");
}

/// What becomes of "create hello.py", and whether it is there then.
async fn created(options: &[&str], settings: Value) -> (u16, String, bool) {
    let server = Running::start(&[&["--auth", "none"], options].concat());
    let message = json!({
        "messageId": "1", "role": "ROLE_USER", "parts": [{"text": "create hello.py that prints hi"}],
        "metadata": {EXTENSION: settings},
    });
    let request = http().post(format!("{}/message:send", server.url)).json(&json!({"message": message}));
    let answer = request.send().await.unwrap();
    let (status, body) = (answer.status().as_u16(), answer.json::<Value>().await.unwrap());
    let state = body["task"]["status"]["state"].as_str().unwrap_or_default().to_owned();
    (status, state, server.home().join("workspace/hello.py").exists())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_settings_reach_the_agent() {
    const DENY: &str = "agent.rules=[{tool='write_file', decision='deny'}]";
    let (asks, done) = ("TASK_STATE_INPUT_REQUIRED", "TASK_STATE_COMPLETED");
    let yolo = json!({"approval_mode": "YOLO"});
    for (options, settings, expected) in [
        (&[][..], json!({}), (200, asks, false)),
        (&["--approval-mode", "auto_edit"], json!({}), (200, done, true)),
        (&["--approval-mode", "yolo"], yolo.clone(), (200, done, true)),
        (&["--set", "agent.allow_yolo=true"], yolo.clone(), (200, done, true)),
        (&["--approval-mode", "auto_edit"], yolo, (400, "", false)),
        (&["--approval-mode", "yolo", "--set", DENY], json!({}), (200, done, false)),
        (&["--approval-mode", "yolo"], json!({"workspace_path": "/usr"}), (400, "", false)),
    ] {
        let (status, state, there) = created(options, settings.clone()).await;
        assert_eq!((status, state.as_str(), there), expected, "{options:?} {settings}");
    }
}

#[test]
fn trust_is_given_listed_and_taken_back_by_commands() {
    let home = tempfile::tempdir().unwrap();
    let project = home.path().canonicalize().unwrap().join("project");
    std::fs::create_dir(&project).unwrap();
    let project = project.to_str().unwrap();
    let run = |args: &[&str]| {
        let done = output(agena(home.path()).arg("trust").args(args));
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (done.status.code(), text(done.stdout), text(done.stderr))
    };
    assert_eq!(run(&["--list"]), (Some(0), String::new(), String::new()));
    let (code, out, err) = run(&["project"]);
    assert_eq!((code, out.as_str()), (Some(0), ""));
    assert!(err.starts_with(&format!("{project} is trusted")), "{err}");
    assert_eq!(run(&["--list"]).1, format!("{project}\n"));
    assert_eq!(run(&["--remove", "project"]).0, Some(0));
    let (code, out, err) = run(&["--remove", "project"]);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert!(err.starts_with("error: ") && err.lines().count() == 1, "{err}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_card_declares_the_extension_and_requires_it_if_asked() {
    for (options, required) in [
        (&["--auth", "none"][..], false),
        (&["--auth", "none", "--set", "a2a.development_tool_required=true"], true),
    ] {
        let server = Running::start(options);
        let get = |path: &str| http().get(format!("{}{path}", server.url));
        let card: Value = get(CARD).send().await.unwrap().json().await.unwrap();
        let extension = &card["capabilities"]["extensions"][1];
        assert_eq!(extension["uri"], EXTENSION);
        assert_eq!(extension["required"].as_bool().unwrap_or_default(), required);
        assert_eq!(card["skills"][0]["id"], "development");
        let bare = get("/tasks").send().await.unwrap().status();
        assert_eq!(bare, if required { 400 } else { 200 });
        let named = get("/tasks").header("a2a-extensions", EXTENSION).send().await.unwrap();
        assert_eq!(named.status(), 200);
    }
}
