//! The routes beside A2A: behind a key, each principal's own, and bounded.

use serde_json::{Value, json};

use super::client::Coder;
use crate::a2a::{TESTER, home};
use crate::agent::kit::Bench;
use crate::kit::process::Running;
use crate::kit::{OTHER, TOKEN, http, soon};
use crate::mcp::kit::FAKE;

#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_opened_looked_at_and_talked_to() {
    let bench = Bench::start(&json!({"rules": [{"do": [{"say": "Hi."}]}]}).to_string()).await;
    let (server, coder) = (&bench.server, Coder::of(&bench));
    assert_eq!(server.call_as(TOKEN, "GET", "/tasks/metadata", None).await, (204, Value::Null));
    let body = json!({"contextId": "c", "agentSettings": coder.settings()["coderAgent"]});
    let (status, id) = server.call_as(TOKEN, "POST", "/tasks", Some(&body)).await;
    assert_eq!(status, 201);
    let id = id.as_str().unwrap();
    let (_, one) = server.call_as(TOKEN, "GET", &format!("/tasks/{id}/metadata"), None).await;
    let facts = &one["metadata"];
    assert_eq!((&facts["taskState"], &facts["contextId"]), (&json!("submitted"), &json!("c")));
    assert_eq!((&facts["model"], &facts["mcpServers"]), (&json!("rehearsal"), &json!([])));
    let tools = facts["availableTools"].as_array().unwrap();
    assert!(tools.iter().any(|tool| tool["name"] == "read_file" && tool["parameterSchema"].is_object()));
    let first = coder.say(id, "hello").await;
    assert_eq!(first.trail()[0], "task");
    assert_eq!((first.task().as_str(), first.text().as_str()), (id, "Hi."));
    assert_eq!(coder.say(id, "and?").await.trail()[0], "state-change working");
    let all = server.call("GET", "/tasks/metadata", None).await;
    assert_eq!((all.as_array().unwrap().len(), &all[0]["taskState"]), (1, &json!("input-required")));
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_sees_or_uses_the_tasks_of_another() {
    let bench = Bench::start(&json!({"rules": [{"do": [{"say": "Hi."}]}]}).to_string()).await;
    let server = &bench.server;
    let id = server.call("POST", "/tasks", Some(&json!({}))).await;
    let path = format!("/tasks/{}/metadata", id.as_str().unwrap());
    for (key, status) in [(TOKEN, 200), (OTHER, 404), ("nobody", 401)] {
        assert_eq!(server.call_as(key, "GET", &path, None).await.0, status, "{key}");
    }
    assert_eq!(server.call_as(OTHER, "GET", "/tasks/metadata", None).await.0, 204);
    for (method, path) in [("GET", "/tasks/metadata"), ("POST", "/tasks")] {
        assert_eq!(server.call_as("nobody", method, path, Some(&json!({}))).await.0, 401);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_opened_is_refused() {
    let bench = Bench::start("").await;
    for body in [json!([]), json!({"contextId": 5}), json!({"contextId": "x".repeat(300)})] {
        let (status, answer) = bench.server.call_as(TOKEN, "POST", "/tasks", Some(&body)).await;
        assert_eq!(status, 400, "{answer}");
        assert!(answer["error"].is_string(), "{answer}");
    }
    let elsewhere = json!({"agentSettings": {"workspacePath": "/"}});
    let (status, answer) = bench.server.call_as(TOKEN, "POST", "/tasks", Some(&elsewhere)).await;
    assert_eq!(status, 400);
    assert!(answer["error"].as_str().unwrap().starts_with("agentSettings.workspacePath"), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_too_many_that_were_opened_and_left_the_oldest_goes() {
    let bench = Bench::start("").await;
    let oldest = bench.server.call("POST", "/tasks", Some(&json!({}))).await;
    for _ in 0..100 {
        assert_eq!(bench.server.call_as(TOKEN, "POST", "/tasks", Some(&json!({}))).await.0, 201);
    }
    let path = format!("/tasks/{}/metadata", oldest.as_str().unwrap());
    assert_eq!(bench.server.call("GET", &path, None).await["metadata"]["taskState"], "canceled");
    assert_eq!(bench.server.call("GET", "/tasks/metadata", None).await.as_array().unwrap().len(), 100);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_is_opened_in_a_context_works_where_that_works() {
    let rules =
        json!({"rules": [{"do": [{"call": {"tool": "run_shell_command", "with": {"command": "pwd"}}}]}]});
    let bench = Bench::start(&rules.to_string()).await;
    std::fs::create_dir(bench.path("below")).unwrap();
    let settings = json!({"kind": "agent-settings", "workspacePath": bench.path("below")});
    bench.server.call("POST", "/tasks", Some(&json!({"contextId": "c", "agentSettings": settings}))).await;
    let id = bench.server.call("POST", "/tasks", Some(&json!({"contextId": "c"}))).await;
    let coder = Coder::of(&bench);
    let asks = coder.say(id.as_str().unwrap(), "where?").await;
    let done = coder.answer(&asks.task(), asks.answer("proceed_once")).await;
    assert!(done.output().trim().ends_with("/below"), "{:?}", done.output());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_was_opened_waits_over_a_restart() {
    let journal = tempfile::tempdir().unwrap();
    let path = journal.path().join("journal.db");
    let script = json!({"rules": [{"do": [{"say": "Hi."}]}]}).to_string();
    let with = |setup: crate::kit::A2aSetup| crate::kit::A2aSetup { journal: Some(path.clone()), ..setup };
    let bench = Bench::with(&script, with).await;
    let id = bench.server.call("POST", "/tasks", Some(&json!({}))).await;
    bench.server.stop().await;
    let bench = Bench::with(&script, with).await;
    let first = Coder::of(&bench).say(id.as_str().unwrap(), "hello").await;
    assert_eq!((first.text().as_str(), first.trail()[0].as_str()), ("Hi.", "task"));
}

/// What the real binary tells of all tasks of a principal.
async fn told(server: &Running) -> Vec<Value> {
    let request = http().get(format!("{}/tasks/metadata", server.url)).bearer_auth(TESTER);
    soon(request.send()).await.unwrap().json().await.unwrap()
}

async fn open(server: &Running) {
    let request = http().post(format!("{}/tasks", server.url)).bearer_auth(TESTER).json(&json!({}));
    assert_eq!(soon(request.send()).await.unwrap().status(), 201);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_model_that_is_asked_is_told_by_its_name() {
    let gemini = [("GEMINI_API_KEY", "a-key"), ("DEFAULT_MODEL", "gemini-x")];
    for (environment, model) in [(&[][..], "rehearsal"), (&gemini, "gemini-x")] {
        let home = home();
        let keys = "[[auth.keys]]\nname = 'tester'\nkey = 'the-key-of-the-tester'\n";
        std::fs::write(home.path().join(".config/agena/agena.toml"), keys).unwrap();
        let server = Running::start_with(home, &[], environment);
        open(&server).await;
        assert_eq!(told(&server).await[0]["model"], model);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn mcp_servers_are_told_with_their_tools_and_each_tasks_own() {
    let home = home();
    let path = home.path().join(".config/agena/agena.toml");
    let program = std::env::split_paths(&std::env::var_os("PATH").unwrap())
        .map(|directory| directory.join("python3"))
        .find(|program| program.exists())
        .unwrap();
    let more = format!(
        "[mcp]\nfrom_clients = true\n[mcp.servers.fake]\ncommand = {program:?}\nargs = [{FAKE:?}]\nconfined = false\n"
    );
    std::fs::write(&path, std::fs::read_to_string(&path).unwrap() + &more).unwrap();
    let server = Running::start_in(home, &[]);
    let named = json!({"mcp_servers": [{"name": "own", "command": "nobody"}]});
    let request = http().post(format!("{}/devtool/v1/tasks", server.url)).bearer_auth(TESTER);
    let started = request.json(&json!({"prompt": "hello", "settings": named}));
    soon(started.send()).await.unwrap().text().await.unwrap();
    open(&server).await;
    let connected = async {
        loop {
            let told = told(&server).await;
            if told[0]["mcpServers"][0]["status"] == "connected" {
                return told;
            }
        }
    };
    let told = soon(connected).await;
    let names = |task: &Value| -> Vec<Value> {
        task["mcpServers"].as_array().unwrap().iter().map(|server| server["name"].clone()).collect()
    };
    let mut all: Vec<_> = told.iter().map(names).collect();
    all.sort_by_key(Vec::len);
    assert_eq!(all, [vec![json!("fake")], vec![json!("fake"), json!("own")]]);
    let tools = told[0]["mcpServers"][0]["tools"].as_array().unwrap();
    let echo = tools.iter().find(|tool| tool["name"] == "mcp_fake_echo").unwrap();
    assert_eq!(echo["parameterSchema"]["required"], json!(["text"]));
    assert!(told[0]["availableTools"].as_array().unwrap().contains(echo));
}
