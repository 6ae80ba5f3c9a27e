//! Streams that are cut go on where they were: no gap, no repeat, also over a restart of the server.

use std::time::Duration;

use agena::projection::v10::RESUME;
use agena::proto::a2a::{SendMessageRequest, SubscribeToTaskRequest};
use futures::StreamExt;
use serde_json::{Value, json};

use super::client::{Binding, Client};
use super::{TESTER, home};
use crate::kit::process::Running;
use crate::kit::{http, printed, soon, until};

/// An event with its id.
type Event = (u64, Value);

fn send(id: &str) -> Value {
    json!({"message": {"messageId": id, "role": "ROLE_USER", "parts": [{"text": "hi"}]}})
}

/// Reads events until `enough` of them, or to the end.
async fn read(response: reqwest::Response, enough: usize) -> Vec<Event> {
    assert_eq!(response.status(), 200, "{:?}", response.text().await);
    let mut chunks = response.bytes_stream();
    let (mut text, mut events) = (String::new(), Vec::new());
    while events.len() < enough
        && let Some(chunk) = soon(chunks.next()).await
    {
        text.push_str(str::from_utf8(&chunk.unwrap()).unwrap());
        while let Some(end) = text.find("\n\n") {
            let event: String = text.drain(..end + 2).collect();
            let part = |name: &str| event.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
            if let Some(data) = part("data: ") {
                events.push((part("id: ").unwrap().parse().unwrap(), serde_json::from_str(&data).unwrap()));
            }
        }
    }
    events.truncate(enough);
    events
}

async fn stream(url: &str, id: &str) -> reqwest::Response {
    http().post(format!("{url}/message:stream")).bearer_auth(TESTER).json(&send(id)).send().await.unwrap()
}

async fn resume(url: &str, task: &str, after: u64) -> reqwest::Response {
    let get = http().get(format!("{url}/tasks/{task}:subscribe")).bearer_auth(TESTER);
    get.header("last-event-id", after.to_string()).send().await.unwrap()
}

fn task_of(events: &[Event]) -> String {
    events[0].1["task"]["id"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_is_cut_at_any_event_goes_on_behind_it() {
    let server = Running::start_in(home(), &[]);
    let full = read(stream(&server.url, "many").await, usize::MAX).await;
    assert!(full.len() > 10, "{full:?}");
    let task = task_of(&full);
    for cut in 0..full.len() {
        let rest = read(resume(&server.url, &task, full[cut].0).await, usize::MAX).await;
        assert_eq!(rest, full[cut + 1..], "over SSE, behind event {cut}");
        let rest = over_jsonrpc(&server.url, &task, full[cut].0).await;
        assert_eq!(rest, bare(&full[cut + 1..]), "over JSON-RPC, behind event {cut}");
        assert_eq!(
            over_grpc(&server.url, &task, full[cut].0).await,
            full[cut + 1..],
            "over gRPC, behind event {cut}"
        );
    }
}

fn bare(events: &[Event]) -> Vec<Value> {
    events.iter().map(|(_, event)| event.clone()).collect()
}

async fn over_jsonrpc(url: &str, task: &str, after: u64) -> Vec<Value> {
    let client = Client::new(url, TESTER).await;
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "SubscribeToTask", "params": {"id": task}});
    let after = after.to_string();
    let answers = soon(client.post(&[("a2a-version", "1.0"), ("last-event-id", &after)], &body)).await;
    answers.into_iter().map(|mut answer| answer["result"].take()).collect()
}

/// The same over gRPC, with the cursor in the metadata that the resume extension puts there.
async fn over_grpc(url: &str, task: &str, after: u64) -> Vec<Event> {
    let client = Client::new(url, TESTER).await;
    let mut request = client.request(SubscribeToTaskRequest { id: task.to_owned(), ..Default::default() });
    request.metadata_mut().insert("last-event-id", after.to_string().parse().unwrap());
    request.metadata_mut().insert("a2a-extensions", RESUME.parse().unwrap());
    let answer = soon(client.grpc().subscribe_to_task(request)).await.unwrap();
    assert_eq!(answer.metadata().get("a2a-extensions").unwrap(), RESUME);
    let items: Vec<_> = soon(answer.into_inner().collect()).await;
    items.into_iter().map(|item| without_cursor(printed(&item.unwrap()))).collect()
}

fn without_cursor(mut item: Value) -> Event {
    let update = item.as_object_mut().unwrap().values_mut().next().unwrap().as_object_mut().unwrap();
    let metadata = update.remove("metadata").unwrap();
    (metadata[RESUME]["sequence"].as_u64().unwrap(), item)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_is_cut_while_the_task_runs_misses_nothing() {
    let server = Running::start_in(home(), &[]);
    for cut in 1..12 {
        let mut seen = read(stream(&server.url, &format!("many-{cut}")).await, cut).await;
        let task = task_of(&seen);
        let rest = read(resume(&server.url, &task, seen.last().unwrap().0).await, usize::MAX).await;
        seen.extend(rest);
        let all = read(resume(&server.url, &task, 2).await, usize::MAX).await;
        assert_eq!(seen[1..], all[..], "cut behind {cut}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cursor_beyond_the_last_event_is_refused_on_every_binding() {
    let server = Running::start_in(home(), &[]);
    let client = Client::new(&server.url, TESTER).await;
    for id in ["ask", "say"] {
        let made = client.call(Binding::Grpc, "SendMessage", &send(id)).await;
        let task = json!({"id": made.answers[0]["task"]["id"]});
        for binding in Binding::ALL {
            for after in ["9999", "18446744073709551615"] {
                let beyond = client.with("last-event-id", after);
                let refused = beyond.call(binding, "SubscribeToTask", &task).await.error.unwrap();
                let blamed = &refused["details"][1]["fieldViolations"][0]["field"];
                assert_eq!(blamed, "last-event-id", "{id}, {after} over {binding:?}: {refused}");
            }
        }
    }
}

/// 0.3 has a place for metadata where 1.0 has none, so the cursor of an event can go back as it came.
#[tokio::test(flavor = "multi_thread")]
async fn the_resume_extension_resumes_a_subscription_of_0_3() {
    let server = Running::start_in(home(), &[]);
    let client = Client::new(&server.url, TESTER).await;
    let full = read(stream(&server.url, "many").await, usize::MAX).await;
    let task = task_of(&full);
    let call = |sequence: Value| {
        let params = json!({"id": task, "metadata": {RESUME: {"sequence": sequence}}});
        json!({"jsonrpc": "2.0", "id": 1, "method": "tasks/resubscribe", "params": params})
    };
    let active = client.with("x-a2a-extensions", RESUME);
    for (sequence, after) in [(json!(full[3].0), 3), (json!(full[5].0.to_string()), 5)] {
        let answers = soon(active.post(&[], &call(sequence))).await;
        let cursor = |answer: &Value| answer["result"]["metadata"][RESUME]["sequence"].as_u64().unwrap();
        let seen: Vec<u64> = answers.iter().map(cursor).collect();
        let expected: Vec<u64> = full[after + 1..].iter().map(|(sequence, _)| *sequence).collect();
        assert_eq!(seen, expected, "behind {after}");
    }
    for (client, sequence, code) in
        [(&client, json!(3), -32004), (&active, json!(1.5), -32602), (&active, json!(9999), -32602)]
    {
        let answers = soon(client.post(&[], &call(sequence.clone()))).await;
        assert_eq!(answers[0]["error"]["code"], code, "{sequence}: {answers:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_server_has_every_event_that_anybody_saw() {
    let mut server = Running::start_in(home(), &[]);
    let before = read(stream(&server.url, "wait").await, 3).await;
    let before_grpc = streamed_over_grpc(&server.url, "wait-2", 3).await;
    let (task, task_grpc) = (task_of(&before), task_of(&before_grpc));
    server.child.kill().unwrap();
    let home = server.into_home();
    let server = Running::start_in(home, &[]);
    let after = read(resume(&server.url, &task, before[0].0).await, usize::MAX).await;
    let after_grpc = over_grpc(&server.url, &task_grpc, before_grpc[0].0).await;
    for (before, after) in [(before, after), (before_grpc, after_grpc)] {
        assert_eq!(after[..2], before[1..], "what was seen is still there");
        let (_, last) = after.last().unwrap();
        assert_eq!(last["statusUpdate"]["status"]["state"], "TASK_STATE_FAILED", "and the task is not stuck");
        let words = last["statusUpdate"]["status"]["message"]["parts"][0]["text"].as_str().unwrap();
        assert!(words.contains("stopped in the middle"), "{words}");
    }
}

/// The first events of a new task. The stream is held open until then, and cut.
async fn streamed_over_grpc(url: &str, id: &str, enough: usize) -> Vec<Event> {
    let client = Client::new(url, TESTER).await.with("a2a-extensions", RESUME);
    let message: SendMessageRequest = agena::proto::json::decode(send(id).to_string().as_bytes()).unwrap();
    let items =
        soon(client.grpc().send_streaming_message(client.request(message))).await.unwrap().into_inner();
    let items: Vec<_> = soon(items.take(enough).collect()).await;
    items.into_iter().map(|item| without_cursor(printed(&item.unwrap()))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_asks_can_be_followed_and_answered_after_a_restart() {
    let mut server = Running::start_in(home(), &[]);
    let asked = read(stream(&server.url, "ask").await, usize::MAX).await;
    let task = task_of(&asked);
    server.child.kill().unwrap();
    let server = Running::start_in(server.into_home(), &[]);
    let subscribe = http().get(format!("{}/tasks/{task}:subscribe", server.url)).bearer_auth(TESTER).send();
    let following = tokio::spawn(read(subscribe.await.unwrap(), usize::MAX));
    let mut answer = send("quick");
    answer["message"]["taskId"] = json!(task);
    let post = http().post(format!("{}/message:send", server.url)).bearer_auth(TESTER).json(&answer);
    assert_eq!(post.send().await.unwrap().status(), 200);
    let events = soon(following).await.unwrap();
    assert_eq!(
        events[0].1["task"]["status"]["state"], "TASK_STATE_INPUT_REQUIRED",
        "the task as it was, first"
    );
    assert_eq!(events.last().unwrap().1["statusUpdate"]["status"]["state"], "TASK_STATE_COMPLETED");
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_listening_does_not_stop_a_task() {
    let server = Running::start_in(home(), &[]);
    let seen = read(stream(&server.url, "pause").await, 1).await;
    let task = task_of(&seen);
    let client = Client::new(&server.url, TESTER).await;
    let state = std::sync::Arc::new(std::sync::Mutex::new(String::new()));
    let (shared, url) = (std::sync::Arc::clone(&state), task.clone());
    tokio::spawn(async move {
        loop {
            let got = client.call(Binding::Rest, "GetTask", &json!({"id": url})).await;
            *shared.lock().unwrap() = got.answers[0]["status"]["state"].as_str().unwrap().to_owned();
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    });
    until("the task completes", || *state.lock().unwrap() == "TASK_STATE_COMPLETED").await;
}
