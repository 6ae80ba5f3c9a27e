//! The whole life of tool calls with a Gemini on the wire: thoughts, signatures, parallel calls, approvals and results,
//! and every request that it saw, field by field.

use agena::model::patient::{Patient, Policy};
use serde_json::{Value, json};
use std::time::Duration;

use super::{KEY, api, shared};
use crate::agent::kit::{Bench, decision};
use crate::kit::agent::Instead;
use crate::kit::upstream::{Reply, Upstream, chunk};

fn call(id: &str, name: &str, args: &Value, signature: &str) -> Value {
    let mut part = json!({"functionCall": {"id": id, "name": name, "args": args}});
    if !signature.is_empty() {
        part["thoughtSignature"] = signature.into();
    }
    part
}

fn script() -> Vec<Reply> {
    let thought = json!({"text": "**Looking** at both files", "thought": true});
    let reads = json!([
        call("c1", "read_file", &json!({"file_path": "a.txt"}), "c2lnLTE="),
        call("c2", "read_file", &json!({"file_path": "b.txt"}), ""),
    ]);
    let write = json!([
        {"text": "I write it."},
        call("c3", "write_file", &json!({"file_path": "c.txt", "content": "A and B\n"}), "c2lnLTI="),
    ]);
    let usage = json!({"promptTokenCount": 100, "candidatesTokenCount": 7, "thoughtsTokenCount": 3, "cachedContentTokenCount": 50, "totalTokenCount": 110});
    let mut last = chunk(json!([{"text": "it.", "thoughtSignature": "c2lnLTM="}]), "");
    last["usageMetadata"] = usage;
    let empty = chunk(json!([{"text": ""}]), "STOP");
    vec![
        Reply::stream(&[chunk(json!([thought]), ""), chunk(reads, ""), empty.clone()]),
        Reply::stream(&[chunk(write, "STOP")]),
        Reply::stream(&[chunk(json!([{"text": "Done with "}]), ""), last, empty]),
    ]
}

async fn bench(upstream: &Upstream) -> Bench {
    let patient = Patient::new(shared(api(&upstream.url())), Policy::agent(Duration::from_secs(1)));
    let bench = Bench::with("", |mut setup| {
        setup.agent.instead = Some(Instead(shared(patient)));
        setup.agent.options.model = "gemini-3-pro-preview".to_owned();
        setup
    })
    .await;
    std::fs::write(bench.path("a.txt"), "A\n").unwrap();
    std::fs::write(bench.path("b.txt"), "B\n").unwrap();
    bench
}

#[tokio::test(flavor = "multi_thread")]
async fn the_whole_life_of_tool_calls() {
    let upstream = Upstream::start(script()).await;
    let bench = bench(&upstream).await;
    let asked = bench.talk().ask("join a.txt and b.txt").await;
    assert_eq!(asked.state(), "input-required");
    let seen = json!(asked.0).to_string();
    assert!(seen.contains(r#""subject":"Looking""#) && seen.contains("at both files"), "{seen}");
    assert_eq!(
        asked.trail().into_iter().filter(|step| step.ends_with("SUCCEEDED")).collect::<Vec<_>>(),
        ["read_file SUCCEEDED", "read_file SUCCEEDED"]
    );
    let wanted = asked.asked();
    let heard = bench.talk().decide(&asked.task(), &[decision(&wanted[0], "proceed_once")]).await;
    assert_eq!((heard.state().as_str(), heard.text().as_str()), ("completed", "Done with it."));
    assert_eq!(bench.read("c.txt"), "A and B\n");
    check_requests(&upstream);
}

/// What the model was told each time.
fn check_requests(upstream: &Upstream) {
    let asked = upstream.asked();
    assert_eq!(asked.len(), 3);
    for one in &asked {
        assert_eq!(one.path, "/v1beta/models/gemini-3-pro-preview:streamGenerateContent?alt=sse");
        assert_eq!(one.header("x-goog-api-key"), KEY);
        let body = one.json();
        let members: Vec<&String> = body.as_object().unwrap().keys().collect();
        assert_eq!(members, ["contents", "generationConfig", "systemInstruction", "tools"]);
        assert_eq!(body["generationConfig"], json!({"thinkingConfig": {"includeThoughts": true}}));
        assert!(body["systemInstruction"]["parts"][0]["text"].as_str().unwrap().contains("The workspace is"));
        let functions = body["tools"][0]["functionDeclarations"].as_array().unwrap();
        let write = functions.iter().find(|function| function["name"] == "write_file").unwrap();
        assert_eq!(write["parametersJsonSchema"]["required"], json!(["file_path", "content"]));
    }
    let contents = |at: usize| asked[at].json()["contents"].as_array().unwrap().clone();
    let user = json!({"role": "user", "parts": [{"text": "join a.txt and b.txt"}]});
    assert_eq!(contents(0), std::slice::from_ref(&user));
    // The thought is not told again; the signature stands where it stood, and both answers in one turn, in order.
    let calls = json!({"role": "model", "parts": [
        call("c1", "read_file", &json!({"file_path": "a.txt"}), "c2lnLTE="),
        call("c2", "read_file", &json!({"file_path": "b.txt"}), ""),
    ]});
    let told = contents(1);
    assert_eq!((told.len(), &told[0], &told[1]), (3, &user, &calls));
    let answers = told[2]["parts"].as_array().unwrap();
    assert_eq!((&told[2]["role"], answers.len()), (&json!("user"), 2));
    for (answer, (id, text)) in answers.iter().zip([("c1", "A\n"), ("c2", "B\n")]) {
        let response = &answer["functionResponse"];
        assert_eq!((&response["id"], &response["name"]), (&json!(id), &json!("read_file")));
        assert!(response["response"]["output"].as_str().unwrap().contains(text), "{response}");
    }
    let last = contents(2);
    assert_eq!(last[..3], told[..]);
    let write = call("c3", "write_file", &json!({"file_path": "c.txt", "content": "A and B\n"}), "c2lnLTI=");
    assert_eq!(last[3], json!({"role": "model", "parts": [{"text": "I write it."}, write]}));
    assert_eq!((last.len(), &last[4]["parts"][0]["functionResponse"]["id"]), (5, &json!("c3")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_key_is_one_clear_message_without_the_key() {
    let refused = json!({"error": {"code": 400, "message": format!("API key not valid: {KEY}"), "details": [{"reason": "API_KEY_INVALID"}]}});
    let upstream = Upstream::start([Reply::json(400, &refused)]).await;
    let bench = bench(&upstream).await;
    let heard = bench.talk().ask("hello").await;
    let told = json!(heard.0).to_string();
    assert_eq!((heard.state().as_str(), upstream.asked().len()), ("failed", 1));
    assert!(
        told.contains("the Gemini API refused the key from GEMINI_API_KEY: API key not valid: [redacted]"),
        "{told}"
    );
    assert!(!told.contains(KEY), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelling_a_task_ends_the_call_of_its_model() {
    let reply =
        Reply::stream(&[chunk(json!([{"text": "slowly "}]), "")]).then(crate::kit::upstream::Step::Silence);
    let upstream = Upstream::start([reply]).await;
    let bench = bench(&upstream).await;
    let message = json!({"parts": [{"kind": "text", "text": "go"}]});
    let begun = bench.talk().stream_until(message, |event| event.to_string().contains("slowly")).await;
    let cancelled = bench.talk().call("tasks/cancel", json!({"id": begun.task()})).await;
    assert_eq!(cancelled["status"]["state"], "canceled");
    upstream.was_left(1).await;
}
