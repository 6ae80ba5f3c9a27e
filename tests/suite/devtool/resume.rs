//! Streams that are cut anywhere go on without a gap or a repeat, also when the task has ended meanwhile.

use serde_json::{Value, json};

use super::client::{Binding, Client};
use super::{asking, confirmation, shell};
use crate::a2a::{TESTER, server};

fn sequence(answer: &Value) -> u64 {
    answer["update"]["sequence"].as_str().unwrap().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_has_ended_is_read_from_every_index() {
    let server = server();
    let client = Client::new(&server.url, TESTER).await;
    let (task, _, call) = asking(&client, Binding::Grpc, &shell()).await;
    client.one(Binding::Grpc, "ConfirmToolCall", confirmation(&task, &call, "proceed_once", json!({}))).await;
    let whole = client.call(Binding::Grpc, "FollowTask", json!({"task_id": task})).await.answers;
    let sequences: Vec<u64> = whole.iter().map(sequence).collect();
    assert!(sequences.windows(2).all(|pair| pair[0] < pair[1]), "{sequences:?}");
    for binding in Binding::ALL {
        for cut in 0..=whole.len() {
            let after = if cut == 0 { 0 } else { sequence(&whole[cut - 1]) };
            let by_field = json!({"task_id": task, "after": after.to_string()});
            let rest = client.call(binding, "FollowTask", by_field).await.answers;
            assert_eq!(rest, whole[cut..], "{binding:?} {cut}");
            // A browser that comes back names the cursor beside the address that it began with.
            let stale = json!({"task_id": task, "after": "0"});
            let rest = client.behind(after).call(binding, "FollowTask", stale).await.answers;
            assert_eq!(rest, whole[cut..], "{binding:?} {cut}");
        }
        let beyond = json!({"task_id": task, "after": "9999"});
        assert_eq!(client.refused(binding, "FollowTask", beyond).await.1, "after");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_live_stream_goes_on_where_it_was_cut() {
    let server = server();
    let client = Client::new(&server.url, TESTER).await;
    for binding in Binding::ALL {
        let id = format!("many~{binding:?}");
        let start = json!({"prompt": "count", "message_id": id});
        let mut seen = client.take(binding, "StartTask", start, 3).await.answers;
        assert_eq!(seen.len(), 3);
        let task = seen[0]["update"]["task_id"].clone();
        // Two at a time, while the task goes on.
        loop {
            let after = sequence(seen.last().unwrap());
            let next = json!({"task_id": task, "after": after.to_string()});
            let next = client.take(binding, "FollowTask", next, 2).await.answers;
            if next.is_empty() {
                break;
            }
            seen.extend(next);
        }
        let whole = client.call(binding, "FollowTask", json!({"task_id": task})).await.answers;
        assert_eq!(seen, whole, "{binding:?}");
    }
}
