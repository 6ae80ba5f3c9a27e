//! Several clients answer one question: the first wins, and every other is told who it was.

use futures::future::join_all;
use serde_json::json;

use super::client::{Binding, Client};
use super::{asking, confirmation, shell};
use crate::a2a::{TESTER, server};

#[tokio::test(flavor = "multi_thread")]
async fn of_many_answers_one_wins() {
    let server = server();
    let client = Client::new(&server.url, TESTER).await;
    for _ in 0..4 {
        let (task, _, call) = asking(&client, Binding::Grpc, &shell()).await;
        let answers = (0..9).map(|number| {
            let option = ["proceed_once", "cancel"][number % 2];
            let request = confirmation(&task, &call, option, json!({}));
            client.call(Binding::ALL[number % 3], "ConfirmToolCall", request)
        });
        let outcomes = join_all(answers).await;
        let (won, late): (Vec<_>, Vec<_>) = outcomes.iter().partition(|outcome| outcome.error.is_none());
        assert_eq!(won.len(), 1, "{outcomes:#?}");
        let decision = &won[0].answers[0]["tool_call"]["decision"];
        for outcome in late {
            let detail = &outcome.error.as_ref().unwrap()["details"][0];
            assert_eq!(detail["reason"], "ALREADY_DECIDED", "{outcome:?}");
            assert_eq!(detail["metadata"]["selectedOptionId"], decision["selected_option_id"]);
            assert_eq!(detail["metadata"]["decidedBy"], "tester");
        }
        let told = client.call(Binding::Http, "FollowTask", json!({"task_id": task})).await.answers;
        let decided = told.iter().filter(|answer| answer["update"].get("decided").is_some()).count();
        assert_eq!(decided, 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_is_sent_again_is_the_same_answer() {
    let server = server();
    let client = Client::new(&server.url, TESTER).await;
    for binding in Binding::ALL {
        let (task, _, call) = asking(&client, binding, &shell()).await;
        let mut request = confirmation(&task, &call, "proceed_once", json!({}));
        request["message_id"] = json!(format!("answer-{binding:?}"));
        let first = client.one(binding, "ConfirmToolCall", request.clone()).await;
        let again = client.one(binding, "ConfirmToolCall", request).await;
        assert_eq!(first["tool_call"]["decision"], again["tool_call"]["decision"]);
    }
}
