//! Coming back to a conversation, and what was made in it.

use serde_json::{Value, json};

use super::client::{Coder, seen};
use crate::agent::kit::{Bench, script, write};
use crate::kit::{TOKEN, http, soon};

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_goes_on_from_any_cursor_ends_with_the_turn() {
    let bench = Bench::start(&json!({"rules": [{"do": [{"say": "Hi."}]}]}).to_string()).await;
    let coder = Coder::of(&bench);
    let whole = coder.begin("hello").await;
    let task = whole.task();
    let mut shorter = whole.0.len();
    for after in 1..20 {
        let behind = coder.follow(&task, Some(after)).await;
        if behind.0.first().is_some_and(|first| first.get("error").is_some()) {
            break;
        }
        assert!(behind.0.len() <= shorter, "{after}: {:?}", behind.trail());
        shorter = behind.0.len();
        if let Some(last) = behind.0.last() {
            assert_eq!((&last["status"]["state"], &last["final"]), (&json!("input-required"), &json!(true)));
        }
    }
    assert_eq!(shorter, 0, "behind the last event nothing comes, and nothing is waited for");
    let resting = coder.follow(&task, None).await;
    assert_eq!(resting.trail(), ["task"], "a conversation that rests has nothing to wait for");
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_reach_the_questions_they_are_numbered_after() {
    let question = |words: &str| json!({"question": words, "header": "H", "type": "text"});
    let questions = json!({"questions": [question("Colour?"), question("Name?")]});
    let bench = Bench::start(&script(&[("ask_user", questions)])).await;
    let coder = Coder::of(&bench);
    let first = coder.begin("go").await;
    let mut answer = first.answer("proceed_once");
    for wrong in [json!({"0": ["red"]}), json!(["red", "bob"]), json!({"first": "red"}), json!({"99": "x"})] {
        answer["answers"] = wrong;
        let refused = coder.answer(&first.task(), answer.clone()).await;
        assert!(refused.last().to_string().contains("answers"), "{:?}", refused.0);
    }
    answer["answers"] = json!({"1": "bob"});
    coder.answer(&first.task(), answer).await;
    let asked = bench.server.agent.asked.lock().unwrap();
    let told = serde_json::to_string(&asked.last().unwrap().contents).unwrap();
    assert!(told.contains(r#""1\":\"bob\""#) || told.contains(r#"\"1\":\"bob\""#), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_made_in_a_conversation_can_be_named_there() {
    let bench = Bench::start(&script(&[write("kite.svg", "<svg/>\n")])).await;
    let coder = Coder::of(&bench);
    let first = coder.begin("go").await;
    coder.answer(&first.task(), first.answer("proceed_once")).await;
    let task = coder.call("tasks/get", json!({"id": first.task()})).await;
    let id = task["artifacts"][0]["artifactId"].clone();
    let part = json!({"kind": "text", "text": "make it red", "metadata": {"artifactId": id}});
    coder.stream(json!({"taskId": first.task(), "parts": [part]}), |_| false).await;
    let asked = bench.server.agent.asked.lock().unwrap();
    let told = serde_json::to_value(asked.last().unwrap()).unwrap()["systemInstruction"].to_string();
    assert!(told.contains("The user means kite.svg") && told.contains("<svg/>"), "{told}");
}

async fn execute(bench: &Bench, body: Value) -> (u16, String, reqwest::Response) {
    let url = bench.server.url("/executeCommand");
    let response = soon(http().post(url).bearer_auth(TOKEN).json(&body).send()).await.unwrap();
    let kind = response.headers()["content-type"].to_str().unwrap().to_owned();
    (response.status().as_u16(), kind, response)
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_are_listed_and_executed_as_that_server_does() {
    let bench = Bench::start("").await;
    let listed = bench.server.call("GET", "/listCommands", None).await;
    let memory = listed["commands"].as_array().unwrap().iter().find(|c| c["name"] == "memory").unwrap();
    let names: Vec<&str> =
        memory["subCommands"].as_array().unwrap().iter().map(|c| c["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["memory show", "memory add", "memory refresh", "memory list"]);
    assert_eq!(memory["subCommands"][1]["arguments"][0]["isRequired"], true);

    let (status, kind, response) = execute(&bench, json!({"command": "memory list"})).await;
    assert_eq!((status, kind.as_str()), (200, "application/json"));
    let result: Value = response.json().await.unwrap();
    assert_eq!(result["name"], "memory list");
    assert!(result["data"].as_str().unwrap().starts_with("No file tells the model anything"), "{result}");
    for (body, status) in [
        (json!({"command": "nonsense"}), 404),
        (json!({"command": 5}), 400),
        (json!({"command": "about", "args": [1]}), 400),
    ] {
        let (code, _, response) = execute(&bench, body.clone()).await;
        let answer: Value = response.json().await.unwrap();
        assert_eq!(code, status, "{body}: {answer}");
        assert!(answer["error"].is_string(), "{answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_asks_is_a_stream_and_is_answered_like_any_task() {
    let bench = Bench::start("").await;
    let coder = Coder::of(&bench);
    let (status, kind, response) =
        execute(&bench, json!({"command": "memory add", "args": ["likes", "tea"]})).await;
    assert_eq!((status, kind.as_str()), (200, "text/event-stream"));
    let asks = soon(seen(response, |_| false)).await;
    assert_eq!(asks.asked()["request"]["name"], "save_memory", "{:?}", asks.trail());
    let done = coder.answer(&asks.task(), asks.answer("proceed_once")).await;
    assert_eq!(done.last()["status"]["state"], "completed", "{:?}", done.trail());
    assert!(bench.read("GEMINI.md").contains("- likes tea"));
}
