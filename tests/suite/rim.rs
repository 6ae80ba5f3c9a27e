//! The rim: who may come in, from where, with what. Refusals are in the client's own protocol.

use reqwest::header::{HOST, ORIGIN};
use serde_json::Value;
use tonic::Code;

use crate::kit::{Client, Setup, TOKEN, http, server, with_token};
use crate::probe::pb::{PeekRequest, WaitRequest};

const OTHER: &str = "the-key-of-another-principal";

#[tokio::test(flavor = "multi_thread")]
async fn every_place_where_a_client_puts_a_key_works_and_is_checked() {
    let server = server().await;
    let get = |path: &str| http().get(server.url(path));
    let plain = "/probe/wait/0";
    for (key, status) in [(TOKEN, 200), ("wrong", 401), ("", 401)] {
        let tries = [
            ("bearer", get(plain).header("authorization", format!("Bearer {key}"))),
            ("bearer, lower case", get(plain).header("authorization", format!("bearer {key}"))),
            ("x-api-key", get(plain).header("x-api-key", key)),
            ("x-goog-api-key", get(plain).header("x-goog-api-key", key)),
            ("?key=", get(&format!("{plain}?key={key}"))),
        ];
        for (place, request) in tries {
            let response = request.send().await.unwrap();
            assert_eq!(response.status(), status, "{place} {key:?}");
            if status == 401 {
                assert!(response.headers()["www-authenticate"].to_str().unwrap().starts_with("Bearer"));
                let body: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
                assert_eq!(body["error"]["status"], "UNAUTHENTICATED");
                assert!(key.is_empty() || !body.to_string().contains(key), "the key is not repeated");
            }
        }
    }
    assert_eq!(get(plain).basic_auth("user", Some(TOKEN)).send().await.unwrap().status(), 401);
    let bare = get(plain).header("authorization", TOKEN).send().await.unwrap();
    assert_eq!(bare.status(), 401);
    assert!(bare.text().await.unwrap().contains("has no scheme"));
    // Some clients send an empty or foreign key in one place and the right one in another.
    let both = get(plain).header("x-api-key", "").bearer_auth(TOKEN).send().await.unwrap();
    assert_eq!(both.status(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_variable_does_not_reach_behind_a_public_path() {
    let server = server().await;
    for path in ["/.well-known/probe:echo", "/grpc.health.v1.Health/probe:echo", "/healthz/probe:echo"] {
        let post = || http().post(server.url(path)).json(&serde_json::json!({}));
        assert_eq!(post().send().await.unwrap().status(), 401, "{path}");
        assert_eq!(post().bearer_auth(TOKEN).send().await.unwrap().status(), 200, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn services_see_the_principal_and_the_request_id_but_no_key() {
    let server = server().await;
    for (key, principal) in [(TOKEN, "tester"), (OTHER, "other")] {
        let request =
            http().get(server.url("/probe/wait/0")).bearer_auth(key).header("x-request-id", "abc-1");
        let response = request.send().await.unwrap();
        assert_eq!(response.headers()["x-request-id"], "abc-1");
        let body: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
        assert_eq!(
            (body["principal"].as_str(), body["requestId"].as_str()),
            (Some(principal), Some("abc-1"))
        );
    }
    let odd = http().get(server.url("/probe/wait/0")).bearer_auth(TOKEN).header("x-request-id", "a b;c");
    let given = odd.send().await.unwrap().headers()["x-request-id"].to_str().unwrap().to_owned();
    assert!(given.len() == 32 && given.bytes().all(|b| b.is_ascii_hexdigit()), "{given}");
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_over_grpc_and_grpc_web_are_statuses() {
    let server = server().await;
    let client = Client::new(&server).await;
    let grpc = client.grpc().peek(PeekRequest::default()).await.unwrap_err();
    let web = client.web().peek(PeekRequest::default()).await.unwrap_err();
    for status in [grpc, web] {
        assert_eq!(status.code(), Code::Unauthenticated);
        assert!(status.message().contains("agena token"), "{}", status.message());
        assert!(!status.details().is_empty());
    }
    let answer = client.grpc().wait(with_token(WaitRequest::default())).await.unwrap();
    assert_eq!(answer.get_ref().principal, "tester");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_server_takes_everybody_for_the_local_user() {
    let server = Setup { open: true, ..Setup::default() }.start().await;
    let body = http().get(server.url("/probe/wait/0")).send().await.unwrap().text().await.unwrap();
    assert_eq!(serde_json::from_str::<Value>(&body).unwrap()["principal"], "local");
}

#[tokio::test(flavor = "multi_thread")]
async fn foreign_hosts_and_origins_are_refused_before_the_key_is_looked_at() {
    let server = server().await;
    let get = || http().get(server.url("/probe/wait/0"));
    for (name, value, reason) in [
        (HOST, "evil.example", "HOST_NOT_ALLOWED"),
        (HOST, "0.0.0.0", "HOST_NOT_ALLOWED"),
        (ORIGIN, "https://evil.example", "ORIGIN_NOT_ALLOWED"),
        (ORIGIN, "null", "ORIGIN_NOT_ALLOWED"),
    ] {
        let response = get().header(name, value).send().await.unwrap();
        assert_eq!(response.status(), 403, "{value}");
        assert!(response.headers().get("access-control-allow-origin").is_none());
        let body: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
        assert_eq!(body["error"]["details"][0]["reason"], reason, "{value}");
    }
    for (name, value) in [(HOST, "agent.example"), (HOST, "localhost"), (ORIGIN, "https://app.example")] {
        let response = get().header(name, value).bearer_auth(TOKEN).send().await.unwrap();
        assert_eq!(response.status(), 200, "{value}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_an_allowed_origin_may_read_what_grpc_web_needs() {
    let server = server().await;
    let preflight = http()
        .request(reqwest::Method::OPTIONS, server.url("/agena.probe.v1.ProbeService/Echo"))
        .header(ORIGIN, "http://localhost:5173")
        .header("access-control-request-method", "POST")
        .header("access-control-request-headers", "authorization,content-type,x-grpc-web,grpc-timeout")
        .send()
        .await
        .unwrap();
    assert_eq!(preflight.status(), 200);
    let said = |name: &str| preflight.headers()[name].to_str().unwrap().to_owned();
    assert_eq!(said("access-control-allow-origin"), "http://localhost:5173");
    assert!(said("access-control-allow-headers").contains("grpc-timeout"));
    let get =
        http().get(server.url("/probe/wait/0")).bearer_auth(TOKEN).header(ORIGIN, "http://localhost:5173");
    let response = get.send().await.unwrap();
    let exposed = response.headers()["access-control-expose-headers"].to_str().unwrap().to_owned();
    for name in ["grpc-status", "grpc-message", "grpc-status-details-bin", "x-request-id"] {
        assert!(exposed.contains(name), "{name} in {exposed}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_not_json_is_refused_unread() {
    let server = server().await;
    for content_type in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]
    {
        let post =
            http().post(server.url("/probe:echo")).bearer_auth(TOKEN).header("content-type", content_type);
        let response = post.body("{}").send().await.unwrap();
        assert_eq!(response.status(), 415, "{content_type}");
    }
    let untyped = http().post(server.url("/probe:echo")).bearer_auth(TOKEN).body("{}").send().await.unwrap();
    assert_eq!(untyped.status(), 415);
    for content_type in ["application/json; charset=utf-8", "application/a2a+json"] {
        let post =
            http().post(server.url("/probe:echo")).bearer_auth(TOKEN).header("content-type", content_type);
        let response = post.body("{}").send().await.unwrap();
        let expected = content_type.split(';').next().unwrap();
        assert_eq!(
            (response.status().as_u16(), response.headers()["content-type"].to_str().unwrap()),
            (200, expected)
        );
    }
    let empty = http().post(server.url("/probe:echo")).bearer_auth(TOKEN).send().await.unwrap();
    assert_eq!(empty.status(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_service_is_unimplemented() {
    let server = server().await;
    let post = |content_type: &str| {
        let url = server.url("/no.such.Service/Method");
        http().post(url).bearer_auth(TOKEN).header("content-type", content_type).body(vec![0; 5]).send()
    };
    let web = post("application/grpc-web+proto").await.unwrap();
    assert_eq!((web.status().as_u16(), web.headers()["grpc-status"].to_str().unwrap()), (200, "12"));
    let json = post("application/json").await.unwrap();
    assert_eq!(json.status(), 404);
    let known = http().post(server.url("/agena.probe.v1.ProbeService/Pluck")).bearer_auth(TOKEN);
    let known = known.json(&serde_json::json!({})).send().await.unwrap();
    assert_eq!(known.status(), 404);
    let text = known.text().await.unwrap();
    assert!(text.contains("call GET /probe/pluck") && text.contains("application/grpc"), "{text}");
}
