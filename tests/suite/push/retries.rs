//! What happens when a webhook does not say yes: again, in order, not for ever, and without harm to others.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agena::projection::push_state::PUSH_STATE;
use agena::push::Options;
use serde_json::json;

use super::hook::{Answer, Hook};
use super::{
    SHOWN, assert_in_order, create, quick, send_with, server, stored, until_all, until_done, until_stopped,
    waiting_task,
};
use crate::kit::until;

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_acknowledged_comes_again_before_anything_else() {
    let answers = [
        Answer::Status(500),
        Answer::Drop,
        Answer::Redirect("/elsewhere"),
        Answer::Status(404),
        Answer::Status(204),
        Answer::Drop,
        Answer::Large(1 << 20),
    ];
    let (server, hook) = (server(quick()).await, Hook::start(answers, Answer::Status(202)).await);
    let task = send_with(&server, json!({"url": hook.url(), "token": "t"})).await;
    until_done(&server, &task).await;
    assert_in_order(&hook, &[4, 4, 4, 4, 4, 6, 6, 7, 8, 9, 11]);
    let received = hook.received();
    for pair in received.windows(2).filter(|pair| pair[0].sequence() == pair[1].sequence()) {
        assert_eq!(pair[0].body, pair[1].body);
        assert_eq!(pair[0].header("x-agena-delivery"), pair[1].header("x-agena-delivery"));
    }
    assert!(received.iter().all(|one| one.path == "/hook?secret=path"), "no redirect is followed");
    assert_eq!((server.counts.delivered(), server.counts.failed(), server.counts.stopped()), (6, 5, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_does_not_come_is_not_waited_for() {
    let options = Options { total: Duration::from_millis(300), ..quick() };
    let (server, hook) = (server(options).await, Hook::start([Answer::Hold], Answer::Status(200)).await);
    let task = send_with(&server, json!({"url": hook.url()})).await;
    until_done(&server, &task).await;
    assert_eq!(hook.sequences()[..2], [4, 4]);
    assert!(server.counts.failed() >= 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_that_keeps_failing_is_stopped_and_can_be_revived() {
    let options = Options { attempts: 3, ..quick() };
    let (server, hook) = (server(options).await, Hook::start([], Answer::Status(503)).await);
    let task = send_with(&server, json!({"url": hook.url(), "id": "h"})).await;
    assert_eq!(until_stopped(&server, &task).await, "answered 503");
    assert_in_order(&hook, &[4, 4, 4]);
    assert_eq!((server.counts.failed(), server.counts.stopped()), (3, 1));
    assert_eq!(server.store.next_due().await.unwrap(), None);
    let path = format!("/tasks/{task}/pushNotificationConfigs/h");
    assert_eq!(server.call("GET", &path, None).await["url"], hook.url());

    hook.answer_from_now_on(Answer::Status(200));
    create(&server, &task, json!({"url": hook.url(), "id": "h"})).await;
    until_done(&server, &task).await;
    assert_eq!(hook.sequences()[3..], SHOWN);
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_asks_is_told_that_a_webhook_was_stopped() {
    let options = Options { attempts: 3, ..quick() };
    let (server, bad, good) =
        (server(options).await, Hook::start([], Answer::Status(503)).await, Hook::willing().await);
    let task = waiting_task(&server).await;
    create(&server, &task, json!({"url": bad.url(), "id": "bad"})).await;
    create(&server, &task, json!({"url": good.url(), "id": "good"})).await;
    server.call("POST", &format!("/tasks/{task}:cancel"), Some(&json!({}))).await;
    until_all(&server, &task, |push| push.attempts == 3 || push.delivered == 5).await;
    let expected = json!({"webhooks": [
        {"id": "bad", "state": "stopped", "problem": "answered 503", "attempts": 3, "delivered": 4},
        {"id": "good", "state": "active", "attempts": 0, "delivered": 5},
    ]});
    let get = |path: String| crate::kit::http().get(server.url(&path)).bearer_auth(crate::kit::TOKEN);
    for path in [format!("/tasks/{task}"), "/tasks".to_owned()] {
        for (extension, expected) in [(PUSH_STATE, &expected), ("urn:other", &serde_json::Value::Null)] {
            let answer = get(path.clone()).header("a2a-extensions", extension).send().await.unwrap();
            let answer: serde_json::Value = serde_json::from_str(&answer.text().await.unwrap()).unwrap();
            let shown = answer.get("tasks").map_or(&answer, |tasks| &tasks[0]);
            assert_eq!(&shown["metadata"][PUSH_STATE], expected, "{path}");
        }
    }
}

/// On one thread, so that the log of this test is its own.
#[tokio::test]
async fn a_stopped_webhook_is_logged_by_its_host_and_without_its_secrets() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(move || writer.clone())
        .with_ansi(false)
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let options = Options { attempts: 2, ..quick() };
    let (server, hook) = (server(options).await, Hook::start([], Answer::Drop).await);
    let authentication = json!({"scheme": "Bearer", "credentials": "cr3dentials"});
    let config = json!({"url": hook.url(), "token": "t0ken", "authentication": authentication});
    let task = send_with(&server, config).await;
    assert_eq!(until_stopped(&server, &task).await, "broke the connection off");
    let log = log.text();
    let line = log.lines().find(|line| line.contains("a webhook was stopped")).unwrap();
    assert!(line.contains("WARN") && line.contains("host=\"127.0.0.1\"") && line.contains(&task), "{line}");
    for secret in ["secret=path", "t0ken", "cr3dentials"] {
        assert!(!log.contains(secret), "{secret} in {log}");
    }
}

#[derive(Debug, Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_success_gives_all_attempts_back() {
    let failures =
        [Answer::Status(500), Answer::Status(500), Answer::Status(200)].into_iter().cycle().take(18);
    let options = Options { attempts: 3, ..quick() };
    let (server, hook) = (server(options).await, Hook::start(failures, Answer::Status(200)).await);
    let task = send_with(&server, json!({"url": hook.url()})).await;
    until_done(&server, &task).await;
    let thrice: Vec<u64> = SHOWN.iter().flat_map(|sequence| [*sequence; 3]).collect();
    assert_in_order(&hook, &thrice);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_webhook_holds_up_nobody_else() {
    let server = server(quick()).await;
    let (slow, fast) = (Hook::start([Answer::Hold], Answer::Status(200)).await, Hook::willing().await);
    let task = waiting_task(&server).await;
    create(&server, &task, json!({"url": slow.url(), "id": "a"})).await;
    create(&server, &task, json!({"url": fast.url(), "id": "b"})).await;
    server.say("working on it", json!({"taskId": task}), json!({})).await;
    slow.wait(1).await;
    fast.wait(1).await;
    server.call("POST", &format!("/tasks/{task}:cancel"), Some(&json!({}))).await;
    let head = server.store.head(&crate::kit::A2aServer::tester(), &task).await.unwrap();
    until("the fast one has all", || fast.sequences().last() == Some(&head.sequence)).await;
    assert_eq!(slow.received().len(), 1);
    slow.release(1);
    until_done(&server, &task).await;
    assert_eq!(slow.sequences(), fast.sequences());
}

#[tokio::test(flavor = "multi_thread")]
async fn only_so_many_are_visited_at_the_same_time() {
    let (server, hook) =
        (server(Options { parallel: 2, ..quick() }).await, Hook::start([], Answer::Hold).await);
    let task = waiting_task(&server).await;
    for id in ["a", "b", "c", "d"] {
        create(&server, &task, json!({"url": hook.url(), "id": id})).await;
    }
    server.call("POST", &format!("/tasks/{task}:cancel"), Some(&json!({}))).await;
    hook.wait(2).await;
    hook.release(4);
    hook.wait(4).await;
    until_done(&server, &task).await;
    assert_eq!((hook.most_open(), hook.sequences()), (2, vec![5; 4]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_that_was_removed_gets_nothing_any_more() {
    let pause = Duration::from_millis(200);
    let server = server(Options { first_delay: pause, longest_delay: pause, ..quick() }).await;
    let hook = || Hook::start([], Answer::Status(500));
    let (removed, kept) = (hook().await, hook().await);
    let task = waiting_task(&server).await;
    create(&server, &task, json!({"url": removed.url(), "id": "a"})).await;
    create(&server, &task, json!({"url": kept.url(), "id": "b"})).await;
    server.call("POST", &format!("/tasks/{task}:cancel"), Some(&json!({}))).await;
    until_all(&server, &task, |push| push.attempts == 1).await;
    server.call("DELETE", &format!("/tasks/{task}/pushNotificationConfigs/a"), None).await;
    // One may be on its way when it is removed. While the other one is visited four times, three more would have come.
    let (visited, before) = (removed.received().len(), kept.received().len());
    kept.wait(before + 4).await;
    assert!(removed.received().len() <= visited + 1, "{visited} and then {}", removed.received().len());
    assert_eq!(stored(&server, &task).await.len(), 1);
}
