//! What each operation says is the same over the four bindings, and recorded: `tests/golden/a2a10/<flow>.json`.
//! `AGENA_GOLDEN=refresh` writes the records anew.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::client::{Binding, Client};
use super::normal::{Names, compare, fill};
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
        compare("a2a10", name, &recorded);
    }
}

/// Plays a flow and names what differs from run to run. Each run has a context of its own, where it needs one.
async fn record(name: &str, client: &Client, steps: &[Step], binding: Binding) -> Value {
    let mut names = Names::default();
    let (mut task, mut context) = (String::new(), uuid::Uuid::now_v7().to_string());
    let mut transcript = Vec::new();
    for (rpc, request) in steps {
        let request = fill(request, &task, &context, &format!("{binding:?}"));
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
