//! The real binary with a model on the wire: found by the environment, exchanged by a signal, recorded and played again.

use std::path::Path;

use serde_json::{Value, json};

use crate::kit::process::Running;
use crate::kit::upstream::{Reply, Upstream, chunk, says};
use crate::kit::{http, soon, until};

const KEY: &str = "AIza-the-key-of-the-environment";

/// What the agent answers, with its calls, as far as a replay must tell the same.
async fn ask(server: &Running, id: &str, text: &str) -> Vec<Value> {
    let message = json!({"messageId": id, "role": "ROLE_USER", "parts": [{"text": text}]});
    let post = http().post(format!("{}/message:stream", server.url)).json(&json!({"message": message}));
    let body = soon(post.header("A2A-Version", "1.0").send()).await.unwrap();
    let body = soon(body.text()).await.unwrap();
    let events = body.lines().filter_map(|line| line.strip_prefix("data: "));
    events.map(|event| told(&serde_json::from_str(event).unwrap())).collect()
}

/// Without ids and times.
fn told(event: &Value) -> Value {
    let status = event["statusUpdate"]["status"].clone();
    json!([status["state"], status["message"]["parts"]])
}

fn text(events: &[Value]) -> String {
    events.iter().filter_map(|event| event[1][0]["text"].as_str()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_in_the_environment_is_all_it_takes() {
    let upstream = Upstream::start([says("hello from the model")]).await;
    let url = upstream.url();
    let environment =
        [("GEMINI_API_KEY", KEY), ("GOOGLE_GEMINI_BASE_URL", &url), ("DEFAULT_MODEL", "gemini-x")];
    let home = tempfile::tempdir().unwrap();
    let mut server = Running::start_with(home, &["--auth", "none"], &environment);
    assert_eq!(text(&ask(&server, "1", "hi").await), "hello from the model");
    let asked = upstream.asked();
    assert_eq!(
        (asked[0].path.as_str(), asked[0].header("x-goog-api-key")),
        ("/v1beta/models/gemini-x:streamGenerateContent?alt=sse", KEY)
    );
    let names = asked[0].json()["tools"][0]["functionDeclarations"].to_string();
    assert!(names.contains("google_web_search"), "a model of Google's looks things up");
    let metrics = http().get(format!("{}/metrics", server.url)).send().await.unwrap();
    assert!(metrics.headers()["content-type"].to_str().unwrap().starts_with("application/openmetrics-text"));
    let line = r#"agena_model_requests_total{backend="gemini",model="gemini-x",route="",arm="",outcome="answered"} 1"#;
    assert!(metrics.text().await.unwrap().contains(line));
    server.signal("TERM");
    assert_eq!(server.ended(), Some(0));
    let log = server.log();
    assert!(log.contains("model asked") && !log.contains(KEY), "{log}");
}

fn settings(home: &Path, url: &str, more: &str) -> String {
    let path = home.join("agena.toml");
    let text = format!(
        "[model]\nname = 'gemini-x'\n[[model.backends]]\nname = 'one'\nkind = 'gemini'\nbase_url = '{url}'\n{more}"
    );
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hangup_exchanges_the_models_while_the_server_runs() {
    let (old, new) = (Upstream::start([says("old")]).await, Upstream::start([says("new")]).await);
    let home = tempfile::tempdir().unwrap();
    let config = settings(home.path(), &old.url(), "");
    let server = Running::start_in(home, &["--auth", "none", "--config", &config]);
    assert_eq!(text(&ask(&server, "1", "hi").await), "old");
    let again = |times: usize, word: &'static str| {
        let server = &server;
        async move {
            server.signal("HUP");
            until("the settings were read again", || server.logged().matches(word).count() >= times).await;
        }
    };
    settings(server.home(), &old.url(), "colour = 'red'\n");
    again(1, "are not used").await;
    assert_eq!(text(&ask(&server, "2", "hi").await), "old", "a wrong file changes nothing");
    settings(server.home(), &new.url(), "[log]\nfilter = 'debug'\n");
    again(1, "settings of models were read again").await;
    assert_eq!(text(&ask(&server, "3", "hi").await), "new");
    assert!(server.logged().contains(r#""waiting":"log""#), "what waits for a restart is said");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_recorded_and_played_again() {
    let call = json!([
        {"text": "**Plan** write it", "thought": true},
        {"functionCall": {"name": "write_file", "args": {"file_path": "a.txt", "content": "hi\n"}}, "thoughtSignature": "c2ln"},
    ]);
    let secret = format!("The key is {KEY}, and it is done.");
    let script = [Reply::stream(&[chunk(call, "STOP")]), says(&secret)];
    let upstream = Upstream::start(script).await;
    let url = upstream.url();
    let environment = [("GEMINI_API_KEY", KEY), ("GOOGLE_GEMINI_BASE_URL", &url)];
    let home = tempfile::tempdir().unwrap();
    let sessions = home.path().join("sessions");
    let record = sessions.display().to_string();
    let options = ["--auth", "none", "--approval-mode", "yolo"];
    let recording = [&options[..], &["--record", &record]].concat();
    let mut server = Running::start_with(home, &recording, &environment);
    let lived = ask(&server, "1", "write hi").await;
    server.signal("TERM");
    assert_eq!(server.ended(), Some(0));
    let file = std::fs::read_dir(&sessions).unwrap().next().unwrap().unwrap().path();
    let written = std::fs::read_to_string(&file).unwrap();
    assert!(!written.contains(KEY) && written.contains("write_file"), "{written}");
    let file = file.display().to_string();
    let replaying = [&options[..], &["--rehearsal", &file]].concat();
    let home = server.into_home();
    std::fs::remove_file(home.path().join("workspace/a.txt")).unwrap();
    let server = Running::start_in(home, &replaying);
    let replayed = ask(&server, "2", "write hi").await;
    let lived: Vec<Value> = serde_json::from_str(&json!(lived).to_string().replace(KEY, "[secret]")).unwrap();
    assert_eq!(replayed, lived);
    assert_eq!(std::fs::read_to_string(server.home().join("workspace/a.txt")).unwrap(), "hi\n");
    assert_eq!(upstream.asked().len(), 2, "the replay asks nobody");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_in_a_message_is_for_the_rehearsal_alone() {
    let upstream = Upstream::start([says("from the model")]).await;
    let home = tempfile::tempdir().unwrap();
    let config = home.path().join("agena.toml");
    std::fs::write(&config, "").unwrap();
    let config = config.display().to_string();
    let server = Running::start_in(home, &["--auth", "none", "--config", &config]);
    let script = "```rehearsal\n- complete: from the script\n```";
    assert_eq!(text(&ask(&server, "1", script).await), "from the script");
    settings(server.home(), &upstream.url(), "");
    server.signal("HUP");
    until("the settings were read again", || server.logged().contains("models were read again")).await;
    assert_eq!(text(&ask(&server, "2", script).await), "from the model");
}
