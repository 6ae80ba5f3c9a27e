//! The whole life of tool calls with a server of this dialect behind the agent.

use std::time::Duration;

use agena::model::patient::{Patient, Policy};
use serde_json::{Value, json};

use super::{backend, delta, says};
use crate::agent::kit::{Bench, decision};
use crate::kit::agent::Instead;
use crate::kit::upstream::{Reply, Upstream};
use crate::model::{KEY, shared};

fn call(id: &str, name: &str, args: &Value) -> Value {
    json!({"index": 0, "id": id, "type": "function", "function": {"name": name, "arguments": args.to_string()}})
}

/// As Ollama does it: thoughts beside the answer, and whole calls with one index.
fn script() -> Vec<Reply> {
    let calls = |call: Value| delta(json!({"content": "", "tool_calls": [call]}), None);
    let end = |reason: &str| delta(json!({"content": ""}), Some(reason));
    let done = "data: [DONE]\n\n";
    let reads = [
        delta(json!({"content": "", "reasoning": "**Looking** at both files"}), None),
        calls(call("c1", "read_file", &json!({"file_path": "a.txt"}))),
        calls(call("c2", "read_file", &json!({"file_path": "b.txt"}))),
        end("tool_calls"),
    ];
    let write = call("c3", "write_file", &json!({"file_path": "c.txt", "content": "A and B\n"}));
    let writes = [delta(json!({"content": "I write it."}), None), calls(write), end("tool_calls")];
    vec![Reply::stream(&reads).send(done), Reply::stream(&writes).send(done), says("Done with it.")]
}

#[tokio::test(flavor = "multi_thread")]
async fn the_whole_life_of_tool_calls() {
    let upstream = Upstream::start(script()).await;
    let model = backend(&upstream.url(), Some(KEY));
    let patient = Patient::new(shared(model), Policy::agent(Duration::from_secs(1)));
    let bench = Bench::with("", |mut setup| {
        setup.agent.instead = Some(Instead(shared(patient)));
        setup.agent.options.model = "qwen3:8b".to_owned();
        setup
    })
    .await;
    std::fs::write(bench.path("a.txt"), "A\n").unwrap();
    std::fs::write(bench.path("b.txt"), "B\n").unwrap();
    let asked = bench.talk().ask("join a.txt and b.txt").await;
    assert_eq!(asked.state(), "input-required");
    assert!(json!(asked.0).to_string().contains(r#""subject":"Looking""#));
    let wanted = asked.asked();
    let heard = bench.talk().decide(&asked.task(), &[decision(&wanted[0], "proceed_once")]).await;
    assert_eq!((heard.state().as_str(), heard.text().as_str()), ("completed", "Done with it."));
    assert_eq!(bench.read("c.txt"), "A and B\n");
    check_requests(&upstream);
}

fn check_requests(upstream: &Upstream) {
    let asked = upstream.asked();
    assert_eq!(asked.len(), 3);
    let tools = asked[0].json()["tools"].clone();
    let write =
        tools.as_array().unwrap().iter().find(|tool| tool["function"]["name"] == "write_file").unwrap();
    assert_eq!(write["function"]["parameters"]["required"], json!(["file_path", "content"]));
    let messages = asked[2].json()["messages"].as_array().unwrap().clone();
    let roles: Vec<_> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "tool", "assistant", "tool"]);
    assert_eq!(messages[1]["content"], "join a.txt and b.txt");
    let ids = |message: &Value| {
        message["tool_calls"].as_array().unwrap().iter().map(|call| call["id"].clone()).collect::<Vec<_>>()
    };
    assert_eq!((ids(&messages[2]), &messages[2]["content"]), (vec![json!("c1"), json!("c2")], &Value::Null));
    for (message, (id, text)) in messages[3..5].iter().zip([("c1", "A\n"), ("c2", "B\n")]) {
        assert_eq!(message["tool_call_id"], id);
        assert!(message["content"].as_str().unwrap().contains(text), "{message}");
    }
    assert_eq!((ids(&messages[5]), &messages[5]["content"]), (vec![json!("c3")], &json!("I write it.")));
    assert_eq!(messages[6]["tool_call_id"], "c3");
}
