//! A thousand tasks at once complete, and what they took is given back.

use agena::proto::a2a::stream_response::Payload;
use agena::proto::a2a::{Message, Part, Role, SendMessageRequest, TaskState};
use futures::StreamExt;

use super::client::Client;
use super::{TESTER, server};

const TASKS: usize = 1000;
const CONNECTIONS: usize = 4;
/// In KiB: what the allocator keeps of a thousand streams at once, after a hundred.
const KEPT: u64 = 96 * 1024;
/// In KiB, over all rounds behind that: not the four thousand tasks that were.
const MORE: u64 = 24 * 1024;

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_streaming_tasks_complete_and_leave_nothing_behind() {
    let server = server();
    let memory = || resident(server.child.id());
    // Connections, statements and caches are there after some tasks, and stay.
    round(&server.url, "warm", 100).await;
    let warm = memory();
    round(&server.url, "first", TASKS).await;
    let before = memory();
    let kept = before.saturating_sub(warm);
    assert!(kept < KEPT, "{warm} KiB before, {kept} more after a thousand at once");
    for number in 0..4 {
        round(&server.url, &number.to_string(), TASKS).await;
    }
    let more = memory().saturating_sub(before);
    assert!(more < MORE, "{before} KiB before, {more} more after four rounds");
}

async fn round(url: &str, name: &str, tasks: usize) {
    let mut clients = Vec::new();
    for _ in 0..CONNECTIONS {
        clients.push(Client::new(url, TESTER).await);
    }
    let all = (0..tasks).map(|n| {
        let client = clients[n % CONNECTIONS].clone();
        let id = format!("pause-{name}-{n}");
        tokio::spawn(async move { one(&client, &id).await })
    });
    let all = futures::future::join_all(all);
    let states =
        tokio::time::timeout(std::time::Duration::from_secs(60), all).await.expect("all complete in time");
    let completed =
        states.into_iter().filter(|state| *state.as_ref().unwrap() == TaskState::Completed).count();
    assert_eq!(completed, tasks);
}

/// The last state that the stream told of.
async fn one(client: &Client, id: &str) -> TaskState {
    let message = Message {
        message_id: id.to_owned(),
        role: Role::User.into(),
        parts: vec![Part::text("hi")],
        ..Message::default()
    };
    let request = SendMessageRequest { message: Some(message), ..SendMessageRequest::default() };
    let mut items = client.grpc().send_streaming_message(client.request(request)).await.unwrap().into_inner();
    let mut state = TaskState::Unspecified;
    while let Some(item) = items.next().await {
        if let Some(Payload::StatusUpdate(update)) = item.unwrap().payload {
            state = update.status.unwrap().state();
        }
    }
    state
}

/// In KiB.
fn resident(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}
