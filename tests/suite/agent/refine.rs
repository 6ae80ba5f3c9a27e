//! Results that are refined: what a task has written are its artifacts, a later task makes a new version under the old
//! name, and what is referred to reaches the model. Recorded in `tests/golden/refine`, the same over the four bindings.

use agena::domain::extension::DEVELOPMENT_TOOL;
use agena::proto::gemini::GenerateContentRequest;
use serde_json::{Value, json};

use super::kit::Bench;
use crate::a2a::client::{Binding, Client};
use crate::a2a::normal::{Names, compare};
use crate::kit::agent::Asked;
use crate::kit::{A2aSetup, TOKEN};

const BOAT: &str = "<svg><path fill=\"white\" d=\"M1 1\"/></svg>\n";

fn script() -> String {
    let write = |path: &str, content: &str| json!({"call": {"tool": "write_file", "with": {"file_path": path, "content": content}}});
    let change = json!({"call": {"tool": "replace", "with": {
        "file_path": "sailboat.svg", "instruction": "red", "old_string": "white", "new_string": "red"}}});
    json!({"rules": [
        {"when": {"text": "sailboat on the ocean"}, "do": [write("sailboat.svg", BOAT), {"say": "A sailboat."}]},
        {"when": {"text": "to be red"}, "do": [change, {"say": "It is red."}]},
        {"when": {"text": "a house"}, "do": [write("house.svg", BOAT), {"say": "A house."}]},
        {"do": [{"say": "Well."}]},
    ]})
    .to_string()
}

/// Edits need not be asked for here: what is made of them is looked at.
fn request(text: &str, more: Value) -> Value {
    let mut message = json!({
        "messageId": uuid::Uuid::now_v7().to_string(), "role": "ROLE_USER", "parts": [{"text": text}],
        "metadata": {DEVELOPMENT_TOOL: {"approval_mode": "AUTO_EDIT"}},
    });
    message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({ "message": message })
}

async fn send(client: &Client, binding: Binding, text: &str, more: Value) -> Value {
    let outcome = client.call(binding, "SendMessage", &request(text, more)).await;
    assert_eq!(outcome.error, None);
    outcome.answers[0]["task"].clone()
}

async fn bench() -> (Bench, Asked) {
    let asked = Asked::default();
    let told = asked.clone();
    let bench = Bench::with(&script(), |mut setup: A2aSetup| {
        setup.agent.asked = told;
        setup
    })
    .await;
    (bench, asked)
}

fn instruction(request: &GenerateContentRequest) -> String {
    serde_json::to_value(request).unwrap()["systemInstruction"].to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sailboat_is_made_and_refined_by_reference() {
    let mut recorded = None;
    for binding in Binding::ALL {
        let (bench, asked) = bench().await;
        let client = Client::new(&bench.server.url(""), TOKEN).await;
        let made = send(&client, binding, "Generate an image of a sailboat on the ocean.", json!({})).await;
        let more = json!({"contextId": made["contextId"], "referenceTaskIds": [made["id"]]});
        let refined = send(&client, binding, "Please modify the sailboat to be red.", more).await;
        let (old, new) = (&made["artifacts"][0], &refined["artifacts"][0]);
        assert_eq!((&old["name"], &new["name"]), (&json!("sailboat.svg"), &json!("sailboat.svg")));
        assert_ne!(old["artifactId"], new["artifactId"], "a new version is a new artifact");
        assert_eq!(made["contextId"], refined["contextId"]);
        assert_eq!(bench.read("sailboat.svg"), BOAT.replace("white", "red"));
        let told = instruction(asked.lock().unwrap().last().unwrap());
        assert!(told.contains("It made sailboat.svg") && told.contains("fill="), "{told}");
        let again = client.call(binding, "GetTask", &json!({"id": made["id"]})).await;
        assert_eq!(again.answers[0]["artifacts"], made["artifacts"], "what has ended does not change");
        let seen = Names::default().of(&json!([made, refined]));
        assert_eq!(*recorded.get_or_insert(seen.clone()), seen, "{binding:?}");
    }
    compare("refine", "sailboat", &recorded.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_artifact_of_a_file_is_told_before_the_end_and_not_to_those_who_saw_the_call() {
    let (bench, _) = bench().await;
    let client = Client::new(&bench.server.url(""), TOKEN).await;
    let wanted = request("a sailboat on the ocean", json!({}));
    let plain = client.call(Binding::Grpc, "SendStreamingMessage", &wanted).await;
    let at = plain.answers.iter().position(|item| item.get("artifactUpdate").is_some()).unwrap();
    assert_eq!(at, plain.answers.len() - 2, "{:?}", plain.answers);
    let knows = client.with("a2a-extensions", DEVELOPMENT_TOOL);
    let wanted = request("a sailboat on the ocean", json!({}));
    let seen = knows.call(Binding::Grpc, "SendStreamingMessage", &wanted).await;
    assert!(seen.answers.iter().all(|item| item.get("artifactUpdate").is_none()), "{:?}", seen.answers);
    let id = &seen.answers[0]["task"]["id"];
    let task = knows.call(Binding::Grpc, "GetTask", &json!({"id": id})).await;
    assert_eq!(task.answers[0]["artifacts"][0]["name"], "sailboat.svg");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_could_be_meant_is_told_and_what_cannot_be_found_is_asked_for() {
    let (bench, asked) = bench().await;
    let client = Client::new(&bench.server.url(""), TOKEN).await;
    let boat = send(&client, Binding::Grpc, "a sailboat on the ocean", json!({})).await;
    let context = json!({"contextId": boat["contextId"]});
    send(&client, Binding::Grpc, "a house", context.clone()).await;
    send(&client, Binding::Grpc, "and now?", context.clone()).await;
    let told = instruction(asked.lock().unwrap().last().unwrap());
    assert!(told.contains("Made earlier in this conversation: house.svg, sailboat.svg."), "{told}");
    let questions = asked.lock().unwrap().len();
    let part = json!({"text": "make it red", "metadata": {"artifactId": "unheard-of"}});
    let mut more = context;
    more["parts"] = json!([part]);
    let lost = send(&client, Binding::Grpc, "", more).await;
    assert_eq!(lost["status"]["state"], "TASK_STATE_INPUT_REQUIRED");
    let question = lost["status"]["message"]["parts"][0]["text"].as_str().unwrap();
    assert!(question.contains("sailboat.svg") && question.contains("house.svg"), "{question}");
    assert_eq!(asked.lock().unwrap().len(), questions, "no model guesses");
    let nowhere = json!({"contextId": boat["contextId"], "referenceTaskIds": ["no-such-task"]});
    let lost_task = send(&client, Binding::Grpc, "make it red", nowhere).await;
    assert_eq!(lost_task["status"]["state"], "TASK_STATE_INPUT_REQUIRED");
    let id = &boat["artifacts"][0]["artifactId"];
    let part = json!({"text": "what is it?", "metadata": {"artifactId": id}});
    send(&client, Binding::Grpc, "", json!({"contextId": boat["contextId"], "parts": [part]})).await;
    let told = instruction(asked.lock().unwrap().last().unwrap());
    assert!(told.contains("The user means sailboat.svg") && told.contains("fill="), "{told}");
    assert!(!told.contains("house.svg"), "who names one means no other: {told}");
    let on = json!({"taskId": lost["id"], "contextId": lost["contextId"]});
    let done = send(&client, Binding::Grpc, "the sailboat is to be red", on).await;
    assert_eq!(done["status"]["state"], "TASK_STATE_COMPLETED");
    assert_eq!(bench.read("sailboat.svg"), BOAT.replace("white", "red"));
}
