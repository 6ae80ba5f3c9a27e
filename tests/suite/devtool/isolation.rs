//! What belongs to one principal does not exist for another, by any call.

use serde_json::json;

use super::client::{Binding, Client};
use super::{asking, confirmation, shell};
use crate::a2a::{OTHER, TESTER, server};

#[tokio::test(flavor = "multi_thread")]
async fn another_principal_sees_nothing_and_changes_nothing() {
    let server = server();
    let client = Client::new(&server.url, TESTER).await;
    let other = Client::new(&server.url, OTHER).await;
    let (task, context, call) = asking(&client, Binding::Grpc, &shell()).await;
    for binding in Binding::ALL {
        for (rpc, request) in [
            ("FollowTask", json!({"task_id": task})),
            ("GetTask", json!({"task_id": task})),
            ("CancelTask", json!({"task_id": task})),
            ("ContinueTask", json!({"task_id": task, "prompt": "yes"})),
            ("ConfirmToolCall", confirmation(&task, &call, "proceed_once", json!({}))),
        ] {
            assert_eq!(other.refused(binding, rpc, request).await.0, "TASK_NOT_FOUND", "{binding:?} {rpc}");
        }
        for (rpc, list) in [
            ("ListTasks", "tasks"),
            ("ListContexts", "contexts"),
            ("ListPendingConfirmations", "confirmations"),
            ("ListRules", "rules"),
        ] {
            let page = other.one(binding, rpc, json!({})).await;
            assert!(page.get(list).is_none(), "{binding:?} {rpc}: {page}");
        }
        let counted = other.one(binding, "GetStatistics", json!({"context_id": context})).await;
        assert_eq!(counted["statistics"], json!({"complete": true}));
        let watched = other.take(binding, "WatchTasks", json!({}), 1).await.answers;
        assert_eq!(watched, [json!({"caught_up": true, "as_of": watched[0]["as_of"]})]);
    }
    let seen = client.one(Binding::Grpc, "GetTask", json!({"task_id": task})).await;
    assert_eq!(seen["task"]["state"], "TASK_STATE_INPUT_REQUIRED");
    let nobody = Client::new(&server.url, "no-key").await;
    for binding in Binding::ALL {
        let refused = nobody.refused(binding, "GetTask", json!({"task_id": task})).await;
        assert_eq!(refused.0, "UNAUTHENTICATED", "{binding:?}");
    }
}
