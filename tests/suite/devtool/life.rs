//! The life of a task over each binding: it asks, is answered in every way there is, and ends.

use serde_json::{Value, json};

use super::client::{Binding, Client};
use super::{asking, confirmation, kinds, script, shell, state};
use crate::a2a::{TESTER, server};

async fn to_the_end(client: &Client, binding: Binding, task: &str) -> Vec<Value> {
    let outcome = client.call(binding, "FollowTask", json!({"task_id": task})).await;
    assert_eq!(outcome.error, None);
    outcome.answers
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_approved_over_each_binding() {
    let server = server();
    let client = Client::new(&server.url, TESTER).await;
    for binding in Binding::ALL {
        let (task, context, call) = asking(&client, binding, &shell()).await;
        let fingerprint = call["confirmation_request"]["fingerprint"].clone();
        assert_eq!(call["confirmation_request"]["execute_details"]["command"], "echo hello");
        let stale = confirmation(&task, &call, "proceed_once", json!({"fingerprint": "another"}));
        let refused = client.refused(binding, "ConfirmToolCall", stale).await;
        assert_eq!(refused, ("INVALID_ARGUMENT".to_owned(), "confirmation.fingerprint".to_owned()));
        let unknown = confirmation(&task, &call, "whatever", json!({}));
        let refused = client.refused(binding, "ConfirmToolCall", unknown).await;
        assert_eq!(refused.1, "confirmation.selected_option_id");
        let yes = confirmation(&task, &call, "proceed_once", json!({"fingerprint": fingerprint}));
        let after = client.one(binding, "ConfirmToolCall", yes).await;
        let decision = &after["tool_call"]["decision"];
        assert_eq!(
            (&decision["selected_option_id"], &decision["decided_by"]),
            (&json!("proceed_once"), &json!("tester"))
        );
        let told = to_the_end(&client, binding, &task).await;
        let kinds = kinds(&told);
        for kind in ["created", "message", "tool_call", "decided", "live_output", "text"] {
            assert!(kinds.iter().any(|known| known == kind), "{binding:?} {kind}: {kinds:?}");
        }
        assert_eq!(state(told.last().unwrap()), "TASK_STATE_COMPLETED");
        assert!(told.iter().all(|answer| answer["update"]["context_id"] == json!(context)));
        let seen = client.one(binding, "GetTask", json!({"task_id": task})).await;
        assert_eq!(
            (&seen["task"]["state"], &seen["task"]["title"]),
            (&json!("TASK_STATE_COMPLETED"), &json!("Do it."))
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edited_file_is_written_as_the_user_made_it() {
    let server = server();
    let client = Client::new(&server.url, TESTER).await;
    for binding in Binding::ALL {
        let name = format!("{binding:?}.txt");
        let prompt = script(&format!(
            "- call: {{tool: write_file, with: {{file_path: {name}, content: proposed}}}}\n- say: ok"
        ));
        let (task, _, call) = asking(&client, binding, &prompt).await;
        assert_eq!(call["confirmation_request"]["file_edit_details"]["new_content"], "proposed");
        let path = call["confirmation_request"]["file_edit_details"]["file_path"].as_str().unwrap();
        let edited = json!({"file_details": {"new_content": "edited"}, "feedback": "I like it short."});
        let after =
            client.one(binding, "ConfirmToolCall", confirmation(&task, &call, "proceed_once", edited)).await;
        assert_eq!(after["tool_call"]["decision"]["modified"], true);
        let told = to_the_end(&client, binding, &task).await;
        let said = Value::from(told).to_string();
        assert!(said.contains("I like it short."), "{said}");
        assert_eq!(std::fs::read_to_string(path).unwrap(), "edited");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_rejected_with_a_reason() {
    let server = server();
    let client = Client::new(&server.url, TESTER).await;
    for binding in Binding::ALL {
        let (task, _, call) = asking(&client, binding, &shell()).await;
        let no = confirmation(&task, &call, "cancel", json!({"reject_reason": "too loud"}));
        let after = client.one(binding, "ConfirmToolCall", no).await;
        assert_eq!(after["tool_call"]["status"], "CANCELLED", "{after}");
        assert_eq!(after["tool_call"]["decision"]["reject_reason"], "too loud");
        to_the_end(&client, binding, &task).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_are_answered() {
    let server = server();
    let client = Client::new(&server.url, TESTER).await;
    let question = "- call: {tool: ask_user, with: {questions: [{header: Colour, question: 'Which colour?', type: choice, \
        options: [{label: red, description: warm}, {label: blue, description: cold}]}]}}\n- say: 'You said {result}'";
    for binding in Binding::ALL {
        let (task, _, call) = asking(&client, binding, &script(question)).await;
        let questions = &call["confirmation_request"]["generic_details"]["questions"];
        assert_eq!(questions[0]["question"], "Which colour?", "{call}");
        let answer = confirmation(&task, &call, "proceed_once", json!({"answers": ["blue"]}));
        client.one(binding, "ConfirmToolCall", answer).await;
        let told = Value::from(to_the_end(&client, binding, &task).await).to_string();
        assert!(told.contains("You said") && told.contains("blue"), "{told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn surplus_answers_are_refused_by_their_field() {
    let server = server();
    let client = Client::new(&server.url, TESTER).await;
    let question = "- call: {tool: ask_user, with: {questions: [{header: Name, question: 'Which name?', type: text}]}}\n- say: ok";
    for binding in Binding::ALL {
        let (task, _, call) = asking(&client, binding, &script(question)).await;
        let (_, _, command) = asking(&client, binding, &shell()).await;
        for (call, answers, field) in [
            (&call, json!(["a", "b"]), "confirmation.answers"),
            (&command, json!(["a"]), "confirmation.tool_call_id"),
            (&json!({"tool_call_id": "nobody"}), json!(["a"]), "confirmation.tool_call_id"),
        ] {
            let surplus = confirmation(&task, call, "proceed_once", json!({"answers": answers}));
            let refused = client.refused(binding, "ConfirmToolCall", surplus).await;
            assert_eq!(refused, ("INVALID_ARGUMENT".to_owned(), field.to_owned()), "{binding:?} {call}");
        }
        let fits = confirmation(&task, &call, "proceed_once", json!({"answers": ["a"]}));
        client.one(binding, "ConfirmToolCall", fits).await;
        assert_eq!(state(to_the_end(&client, binding, &task).await.last().unwrap()), "TASK_STATE_COMPLETED");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_as_it_stands_holds_a_mebibyte_of_artifacts() {
    let server = server();
    let client = Client::new(&server.url, TESTER).await;
    let (half, bit) = ("x".repeat(600 << 10), "y".repeat(100 << 10));
    let artifact = |name: &str, text: &str| format!("- artifact: {{name: {name}, text: {text}}}\n");
    let steps = [artifact("a", &half), artifact("b", &half), artifact("c", &bit)].concat();
    let told = client.call(Binding::Http, "StartTask", json!({"prompt": script(&steps)})).await.answers;
    assert_eq!(state(told.last().unwrap()), "TASK_STATE_COMPLETED");
    let request = json!({"task_id": told[0]["update"]["task_id"]});
    for binding in Binding::ALL {
        let task = client.one(binding, "GetTask", request.clone()).await;
        let seen = task["artifacts"].as_array().unwrap().iter();
        let seen = seen.map(|artifact| (artifact["name"].as_str().unwrap(), artifact.get("parts")));
        let size = |parts: Option<&Value>| parts.map_or(0, |parts| parts[0]["text"].as_str().unwrap().len());
        let seen: Vec<_> = seen.map(|(name, parts)| (name, size(parts))).collect();
        assert_eq!(seen, [("a", half.len()), ("b", 0), ("c", bit.len())], "{binding:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_told_more_and_one_that_has_ended_goes_on_in_another() {
    let server = server();
    let client = Client::new(&server.url, TESTER).await;
    for binding in Binding::ALL {
        let (task, context, _) = asking(&client, binding, &shell()).await;
        let said = json!({"task_id": task, "prompt": "yes"});
        let sent = client.one(binding, "ContinueTask", said).await;
        assert_eq!(sent["task_id"], json!(task));
        let told = to_the_end(&client, binding, &task).await;
        assert_eq!(state(told.last().unwrap()), "TASK_STATE_COMPLETED");
        // The same id is the same message, also when it goes elsewhere.
        let more = json!({"task_id": task, "prompt": "And now?", "message_id": format!("more-{binding:?}")});
        let sent = client.one(binding, "ContinueTask", more.clone()).await;
        assert_eq!(client.one(binding, "ContinueTask", more).await, sent);
        assert_eq!(sent["context_id"], json!(context));
        assert_ne!(sent["task_id"], json!(task));
        let told = to_the_end(&client, binding, sent["task_id"].as_str().unwrap()).await;
        assert_eq!(told[0]["update"]["created"]["reference_task_ids"], json!([task]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_cancelled_once() {
    let server = server();
    let client = Client::new(&server.url, TESTER).await;
    for binding in Binding::ALL {
        let (task, ..) = asking(&client, binding, &shell()).await;
        let cancelled = client.one(binding, "CancelTask", json!({"task_id": task})).await;
        assert_eq!(cancelled["task"]["state"], "TASK_STATE_CANCELED");
        let again = client.refused(binding, "CancelTask", json!({"task_id": task})).await;
        assert_eq!(again.0, "TASK_NOT_CANCELABLE");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_missing_is_named() {
    let server = server();
    let client = Client::new(&server.url, TESTER).await;
    let long = "x".repeat(300);
    for binding in Binding::ALL {
        for (rpc, request, field) in [
            ("StartTask", json!({}), "prompt"),
            ("StartTask", json!({"prompt": "x", "context_id": long}), "context_id"),
            ("StartTask", json!({"prompt": "x", "settings": {"model": "none"}}), "settings.model"),
            ("ContinueTask", json!({"task_id": "x"}), "prompt"),
            ("ListTasks", json!({"page_size": 101}), "page_size"),
            ("ListTasks", json!({"page_token": "x"}), "page_token"),
            ("ListContexts", json!({"page_size": -1}), "page_size"),
            ("ListRules", json!({"page_token": "x"}), "page_token"),
        ] {
            let refused = client.refused(binding, rpc, request).await;
            assert_eq!(refused, ("INVALID_ARGUMENT".to_owned(), field.to_owned()), "{binding:?} {rpc}");
        }
        let none = client.refused(binding, "FollowTask", json!({"task_id": "none"})).await;
        assert_eq!(none.0, "TASK_NOT_FOUND");
    }
}
