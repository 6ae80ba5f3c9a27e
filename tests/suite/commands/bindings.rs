//! The same command through every door that there is for it.

use agena::domain::extension::DEVELOPMENT_TOOL;
use serde_json::{Value, json};

use crate::agent::kit::Bench;
use crate::kit::process::Running;
use crate::kit::{TOKEN, http, soon};

/// What one call of JSON-RPC answers: one document, or the events of a stream.
async fn answers(bench: &Bench, version: &str, accept: &str, method: &str, params: Value) -> Vec<Value> {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let mut post = http().post(bench.server.url("/")).bearer_auth(TOKEN).header("accept", accept).json(&body);
    post = post.header("A2A-Extensions", DEVELOPMENT_TOOL);
    if !version.is_empty() {
        post = post.header("A2A-Version", version);
    }
    let response = soon(post.send()).await.unwrap();
    let is_stream = response.headers()["content-type"] == "text/event-stream";
    assert_eq!(is_stream, accept == "text/event-stream" && method == "command/execute");
    let text = soon(response.text()).await.unwrap();
    let read = |text: &str| serde_json::from_str::<Value>(text).unwrap()["result"].clone();
    match is_stream {
        true => text.lines().filter_map(|line| line.strip_prefix("data: ")).map(read).collect(),
        false => vec![read(&text)],
    }
}

#[tokio::test]
async fn commands_are_listed_and_executed_on_both_generations() {
    let bench = Bench::start("").await;
    for version in ["", "1.0"] {
        let listed = answers(&bench, version, "application/json", "commands/get", json!({})).await;
        let names: Vec<&str> =
            listed[0]["commands"].as_array().unwrap().iter().map(|c| c["name"].as_str().unwrap()).collect();
        assert_eq!(
            names,
            [
                "help",
                "about",
                "tools",
                "stats",
                "model",
                "approval-mode",
                "memory",
                "init",
                "compress",
                "clear",
                "mcp",
                "rules",
                "restore"
            ]
        );
        let memory =
            listed[0]["commands"].as_array().unwrap().iter().find(|c| c["name"] == "memory").unwrap();
        assert_eq!(
            memory["sub_commands"][1]["arguments"][0],
            json!({"name": "fact", "description": "what to remember, in one sentence", "is_required": true})
        );

        let help = json!({"command_path": ["help"]});
        let unary = answers(&bench, version, "application/json", "command/execute", help.clone()).await;
        assert_eq!(unary[0]["status"], "STARTED");
        assert!(!unary[0]["execution_id"].as_str().unwrap().is_empty());

        let events = answers(&bench, version, "text/event-stream", "command/execute", help).await;
        assert_eq!(events[0]["status"], "STARTED", "the response comes first: {events:?}");
        let task = if version.is_empty() { &events[1] } else { &events[1]["task"] };
        assert_eq!(task["id"], events[0]["execution_id"]);
        assert_eq!(task["contextId"], events[0]["context_id"]);
        let last = events.last().unwrap();
        let (state, completed) = match version {
            "" => (&last["status"]["state"], "completed"),
            _ => (&last["statusUpdate"]["status"]["state"], "TASK_STATE_COMPLETED"),
        };
        assert_eq!(*state, completed, "{last}");
        assert!(events.iter().any(|event| event.to_string().contains("/restore apply <id>")), "{events:?}");
    }
}

#[tokio::test]
async fn what_cannot_start_says_why_and_leaves_no_task() {
    let bench = Bench::start("").await;
    for (path, args, why) in [
        (json!(["halp"]), "", "there is no command /halp; did you mean /help? /help lists all of them"),
        (json!(["memory", "add"]), "", "usage: /memory add <fact>; what to remember, in one sentence"),
        (
            json!(["approval-mode", "set"]),
            "yolo",
            "approval_mode: this server asks before it acts; its operator can allow more",
        ),
        (
            json!(["approval-mode", "set"]),
            "wild",
            "there is no mode \"wild\"; default, auto_edit, yolo and plan are",
        ),
        (json!(["model", "set"]), "gpt-9", "model: there is no model \"gpt-9\" here, only rehearsal"),
    ] {
        for accept in ["application/json", "text/event-stream"] {
            let params = json!({"command_path": path, "args": args});
            let answered = answers(&bench, "", accept, "command/execute", params).await;
            let expected = json!({"status": "FAILED_TO_START", "message": why});
            assert_eq!(answered, [expected], "{path} {accept}");
        }
    }
    let tasks = bench.server.call("GET", "/tasks", None).await;
    assert_eq!(tasks["totalSize"].as_u64().unwrap_or_default(), 0, "{tasks}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tenants_command_is_the_tenants_and_the_typed_service_knows_none() {
    let server = Running::start(&["--auth", "none", "--set", r#"a2a.tenants=["acme"]"#]);
    let call = |method: &str, params: Value| {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let post = http().post(&server.url).header("A2A-Version", "1.0").json(&body);
        async move { soon(post.send()).await.unwrap().json::<Value>().await.unwrap() }
    };
    let about = |tenant: &str| json!({"command_path": ["about"], "tenant": tenant});
    let executed = call("command/execute", about("acme")).await;
    let id = executed["result"]["execution_id"].as_str().unwrap_or_else(|| panic!("{executed}")).to_owned();
    let mine = call("GetTask", json!({"id": id, "tenant": "acme"})).await;
    assert_eq!(mine["result"]["id"], json!(id), "{mine}");
    let foreign = call("GetTask", json!({"id": id})).await;
    assert!(foreign["error"].is_object(), "{foreign}");
    for (method, params) in
        [("command/execute", about("nobody")), ("commands/get", json!({"tenant": "nobody"}))]
    {
        let refused = call(method, params).await;
        assert!(refused["error"].to_string().contains("is not a tenant of this server"), "{refused}");
    }
    let typed = http().post(format!("{}/devtool/v1/commands:execute", server.url)).json(&about("acme"));
    let typed: Value = soon(typed.send()).await.unwrap().json().await.unwrap();
    assert!(typed.to_string().contains("knows no tenants"), "{typed}");
}
