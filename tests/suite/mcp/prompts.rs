//! Prompts of servers are commands of the user.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::kit::{hub, spec};
use crate::agent::kit::{Bench, Talk};
use crate::kit::A2aSetup;
use crate::kit::agent::{AgentSetup, WithServers};

async fn bench() -> Bench {
    let workspace = Arc::new(tempfile::tempdir().unwrap());
    let servers = Some(WithServers(hub(workspace.path(), vec![spec("fake", ""), spec("slow", "secretive")])));
    Bench::at(r#"{"rules": [{"do": [{"say": "Hello."}]}]}"#, workspace, |setup: A2aSetup| A2aSetup {
        agent: AgentSetup { servers, ..setup.agent },
        ..setup
    })
    .await
}

async fn execute(talk: &Talk, path: &[&str], args: &str) -> Value {
    talk.call("command/execute", json!({"command_path": path, "args": args})).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_is_listed_filled_in_and_worked_on() {
    let bench = bench().await;
    let talk = bench.talk();
    let began = Instant::now();
    let listed = talk.call("commands/get", json!({})).await;
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    let greet = listed["commands"].as_array().unwrap().iter().find(|command| command["name"] == "greet");
    let greet = greet.unwrap_or_else(|| panic!("{listed}"));
    assert_eq!((&greet["description"], &greet["arguments"][0]["name"]), (&json!("Greets"), &json!("who")));
    for (path, args) in
        [(&["greet"][..], "Ann"), (&["fake", "greet"], "--who=Ann"), (&["fake.greet"], "--who=\"Ann\"")]
    {
        let executed = execute(&talk, path, args).await;
        assert_eq!(executed["status"], "STARTED", "{path:?}: {executed}");
        let id = executed["execution_id"].as_str().unwrap();
        crate::kit::soon(async {
            while talk.call("tasks/get", json!({"id": id})).await["status"]["state"] != "completed" {
                tokio::task::yield_now().await;
            }
        })
        .await;
        let asked = bench.server.agent.asked.lock().unwrap();
        let last = format!("{:?}", asked.last().unwrap().contents);
        assert!(last.contains("Greet Ann."), "{path:?}: {last}");
    }
    for (args, why) in [("", "usage: /greet <who>"), ("--whom=Ann", "/greet: there is no argument --whom")] {
        let refused = execute(&talk, &["greet"], args).await;
        assert_eq!(refused["status"], "FAILED_TO_START", "{refused}");
        assert!(refused["message"].as_str().unwrap().starts_with(why), "{refused}");
    }
}
