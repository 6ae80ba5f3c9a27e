//! Where webhooks may lead: not inside, however it is put, unless the operator allows it.

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::SystemTime;

use agena::domain::store::{Push, PushState, PushVersion};
use agena::proto::a2a::TaskPushNotificationConfig;
use agena::push::{Lookup, Options};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Value, json};

use super::hook::Hook;
use super::{
    SHOWN, assert_in_order, quick, send_with, server, stored, until_done, until_stopped, waiting_task,
};
use crate::kit::{A2aServer, OTHER, TOKEN};

/// Every name leads to loopback, as one would that somebody points there on purpose.
#[derive(Debug)]
struct Rebound;

impl Lookup for Rebound {
    fn lookup(&self, _host: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        std::future::ready(Ok(vec![IpAddr::from(Ipv4Addr::LOCALHOST)])).boxed()
    }
}

fn rebound(allowed: &[&str]) -> Options {
    let allow_hosts = allowed.iter().map(|host| (*host).to_owned()).collect();
    Options { allow_hosts, attempts: 2, lookup: Arc::new(Rebound), ..quick() }
}

const LEADS_INSIDE: &str = "leads inside; allow the host with push.allow_hosts if that is meant";

async fn refused(server: &A2aServer, path: &str, body: &Value) -> String {
    let (status, answer) = server.call_as(TOKEN, "POST", path, Some(body)).await;
    assert_eq!(status, 400, "{body}: {answer}");
    answer["error"]["message"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_inward_url_is_refused_when_it_is_given() {
    let server = server(Options::default()).await;
    let task = waiting_task(&server).await;
    let path = format!("/tasks/{task}/pushNotificationConfigs");
    for url in
        ["http://127.0.0.1:9/", "http://localhost/", "http://[::1]/", "http://2130706433/", "file:///x"]
    {
        let message = refused(&server, &path, &json!({"url": url})).await;
        assert!(message.starts_with("url: "), "{message}");
        let sent = json!({
            "message": {"messageId": url, "role": "ROLE_USER", "parts": [{"text": "go"}]},
            "configuration": {"taskPushNotificationConfig": {"url": url}},
        });
        let message = refused(&server, "/message:send", &sent).await;
        assert!(message.starts_with("configuration.taskPushNotificationConfig.url: "), "{message}");
    }
    assert!(stored(&server, &task).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_leads_inside_is_refused_when_it_is_dialled() {
    let (server, hook) = (server(rebound(&[])).await, Hook::willing().await);
    let url = format!("http://hooks.example:{}/", hook.address.port());
    let task = send_with(&server, json!({"url": url})).await;
    assert_eq!(until_stopped(&server, &task).await, LEADS_INSIDE);
    assert_eq!(hook.connections(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_is_allowed_may_lead_inside() {
    let (server, hook) = (server(rebound(&["hooks.example"])).await, Hook::willing().await);
    let url = format!("http://hooks.example:{}/", hook.address.port());
    let task = send_with(&server, json!({"url": url})).await;
    until_done(&server, &task).await;
    assert_in_order(&hook, &SHOWN);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_from_before_a_changed_setting_is_not_called() {
    let (server, hook) = (server(rebound(&[])).await, Hook::willing().await);
    let port = hook.address.port();
    for url in [format!("http://127.0.0.1:{port}/"), format!("http://2130706433:{port}/")] {
        let task = waiting_task(&server).await;
        let config = TaskPushNotificationConfig { task_id: task.clone(), url, ..Default::default() };
        let push = Push {
            config,
            version: PushVersion::V10,
            delivered: 2,
            attempts: 0,
            state: PushState::Active { not_before: SystemTime::now() },
        };
        server.store.put_push(&A2aServer::tester(), push).await.unwrap();
        // Any commit wakes the deliveries.
        server.call("POST", &format!("/tasks/{task}:cancel"), Some(&json!({}))).await;
        assert_eq!(until_stopped(&server, &task).await, LEADS_INSIDE);
    }
    assert_eq!(hook.connections(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_cannot_break_out_of_their_headers() {
    let (server, hook) = (server(quick()).await, Hook::willing().await);
    let task = waiting_task(&server).await;
    let path = format!("/tasks/{task}/pushNotificationConfigs");
    for config in [
        json!({"url": hook.url(), "token": "a\r\nX-Evil: b"}),
        json!({"url": hook.url(), "authentication": {"scheme": "Bearer", "credentials": "a\nX-Evil: b"}}),
        json!({"url": hook.url(), "authentication": {"scheme": "Bearer\r\n", "credentials": "a"}}),
    ] {
        let message = refused(&server, &path, &config).await;
        assert!(message.contains("control characters") && !message.contains("Evil"), "{message}");
    }
    assert!(stored(&server, &task).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn another_principal_finds_no_task_to_attach_to_and_no_webhook_to_see() {
    let (server, hook, foreign) = (server(quick()).await, Hook::willing().await, Hook::willing().await);
    let task = waiting_task(&server).await;
    let path = format!("/tasks/{task}/pushNotificationConfigs");
    server.call("POST", &path, Some(&json!({"url": hook.url(), "id": "h", "token": "t0ken"}))).await;
    let config = json!({"url": foreign.url()});
    for (method, path, body) in [
        ("POST", path.clone(), Some(&config)),
        ("GET", path.clone(), None),
        ("GET", format!("{path}/h"), None),
        ("DELETE", format!("{path}/h"), None),
    ] {
        let (status, answer) = server.call_as(OTHER, method, &path, body).await;
        assert_eq!(status, 404, "{method} {path}");
        assert!(!answer.to_string().contains("t0ken"), "{answer}");
    }
    server.call("POST", &format!("/tasks/{task}:cancel"), Some(&json!({}))).await;
    until_done(&server, &task).await;
    assert_eq!((hook.received().len(), foreign.connections()), (1, 0));
}
