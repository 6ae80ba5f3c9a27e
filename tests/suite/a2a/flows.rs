//! What each operation says is the same over the four bindings, and recorded: `tests/golden/a2a10/<flow>.json`.
//! `AGENA_GOLDEN=refresh` writes the records anew.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::client::{Binding, Client};
use super::normal::Names;
use super::{TESTER, server};

/// The flows: by name, the calls one after the other. `TASK` and `CONTEXT` in a request stand for what the last send
/// made.
const FLOWS: &str = include_str!("flows.json");

type Step = (String, Value);

#[tokio::test(flavor = "multi_thread")]
async fn every_flow_is_the_same_over_the_four_bindings_and_as_recorded() {
    let server = server();
    let client = Client::new(&server.url, TESTER).await;
    let flows: BTreeMap<String, Vec<Step>> = serde_json::from_str(FLOWS).unwrap();
    for (name, steps) in &flows {
        let recorded = record(name, &client, steps, Binding::Grpc).await;
        for binding in [Binding::GrpcWeb, Binding::JsonRpc, Binding::Rest] {
            let seen = record(name, &client, steps, binding).await;
            assert_eq!(seen, recorded, "{name} over {binding:?}");
        }
        compare(name, &recorded);
    }
}

/// Plays a flow and names what differs from run to run. Each run has a context of its own, where it needs one.
async fn record(name: &str, client: &Client, steps: &[Step], binding: Binding) -> Value {
    let mut names = Names::default();
    let (mut task, mut context) = (String::new(), uuid::Uuid::now_v7().to_string());
    let mut transcript = Vec::new();
    for (rpc, request) in steps {
        let request = fill(request, &task, &context, binding);
        let outcome = client.call(binding, rpc, &request).await;
        let first = outcome.answers.first().cloned().unwrap_or_default();
        if let Some(made) = first.get("task") {
            task = made["id"].as_str().unwrap().to_owned();
            context = made["contextId"].as_str().unwrap().to_owned();
        }
        transcript.push(json!({
            "rpc": rpc,
            "request": names.of(&request),
            "answers": names.of(&json!(outcome.answers)),
            "error": outcome.error.map(|error| names.of(&error)),
        }));
    }
    assert!(!transcript.is_empty(), "{name}");
    Value::Array(transcript)
}

/// A message that comes again is the same message, so each binding has ids of its own; `Names` leaves the end out.
fn fill(request: &Value, task: &str, context: &str, binding: Binding) -> Value {
    let text = request.to_string().replace("\"TASK\"", &json!(task).to_string());
    let text = text.replace("\"CONTEXT\"", &json!(context).to_string());
    let mut request: Value = serde_json::from_str(&text).unwrap();
    if let Some(id) = request.pointer_mut("/message/messageId") {
        *id = json!(format!("{}~{context}{binding:?}", id.as_str().unwrap()));
    }
    request
}

fn compare(name: &str, seen: &Value) {
    let path = PathBuf::from(format!("tests/golden/a2a10/{name}.json"));
    let printed = serde_json::to_string_pretty(seen).unwrap() + "\n";
    if std::env::var_os("AGENA_GOLDEN").is_some_and(|mode| mode == "refresh") {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, printed).unwrap();
        return;
    }
    let recorded = fs::read_to_string(&path).unwrap_or_default();
    assert!(recorded == printed, "{name} is not as recorded in {}:\n{printed}", path.display());
}
