//! The error table as clients meet it: what each gRPC code and each of A2A's reasons is over HTTP.

use serde_json::{Value, json};
use tonic::Code;

use crate::kit::{Binding, Client, Http, Outcome, server, with_token};
use crate::probe::pb::{EchoRequest, FailRequest, Kinds};

const A2A: &str = "a2a-protocol.org";

async fn fail(client: &Client, request: &Value) -> (Outcome, crate::kit::Told) {
    let body = request.to_string();
    let form = Http { method: "POST", path: "/probe:fail", body: &body };
    (client.call(Binding::Grpc, "Fail", &body, form).await, client.http(form).await)
}

fn reason(outcome: &Outcome) -> (String, String) {
    let info = &outcome.error.as_ref().unwrap()["details"][0];
    (info["reason"].as_str().unwrap().to_owned(), info["domain"].as_str().unwrap().to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn each_grpc_code_has_its_http_status() {
    let server = server().await;
    let client = Client::new(&server).await;
    for (code, name, http) in [
        (1, "CANCELLED", 499),
        (2, "UNKNOWN", 500),
        (3, "INVALID_ARGUMENT", 400),
        (4, "DEADLINE_EXCEEDED", 504),
        (5, "NOT_FOUND", 404),
        (6, "ALREADY_EXISTS", 409),
        (7, "PERMISSION_DENIED", 403),
        (8, "RESOURCE_EXHAUSTED", 429),
        (9, "FAILED_PRECONDITION", 400),
        (10, "ABORTED", 409),
        (11, "OUT_OF_RANGE", 400),
        (12, "UNIMPLEMENTED", 501),
        (13, "INTERNAL", 500),
        (14, "UNAVAILABLE", 503),
        (15, "DATA_LOSS", 500),
        (16, "UNAUTHENTICATED", 401),
    ] {
        let (grpc, told) = fail(&client, &json!({"code": code, "message": "why"})).await;
        assert_eq!(told.status, http, "{name}");
        assert_eq!(grpc.error.as_ref().unwrap()["status"], name);
        assert_eq!(reason(&grpc), (name.to_owned(), "agena".to_owned()));
        assert_eq!(told.outcome, grpc, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_reason_of_a2a_has_its_http_status() {
    let server = server().await;
    let client = Client::new(&server).await;
    for (name, code, http) in [
        ("TASK_NOT_FOUND", 5, 404),
        ("TASK_NOT_CANCELABLE", 9, 400),
        ("PUSH_NOTIFICATION_NOT_SUPPORTED", 9, 400),
        ("UNSUPPORTED_OPERATION", 9, 400),
        ("CONTENT_TYPE_NOT_SUPPORTED", 3, 400),
        ("INVALID_AGENT_RESPONSE", 13, 500),
        ("EXTENDED_AGENT_CARD_NOT_CONFIGURED", 9, 400),
        ("EXTENSION_SUPPORT_REQUIRED", 9, 400),
        ("VERSION_NOT_SUPPORTED", 9, 400),
    ] {
        let wire = agena::domain::error::TABLE.into_iter().find(|row| row.reason == name).unwrap();
        assert_eq!((wire.grpc, wire.http, wire.domain), (Code::from(code), http, A2A), "{name}");
        let (grpc, told) = fail(&client, &json!({"code": code, "reason": name, "domain": A2A})).await;
        assert_eq!((told.status, reason(&grpc)), (http, (name.to_owned(), A2A.to_owned())));
        assert_eq!(told.outcome, grpc, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delay_is_a_header_over_http() {
    let server = server().await;
    let client = Client::new(&server).await;
    let (_, told) = fail(&client, &json!({"message": "later", "retryAfterSeconds": 7})).await;
    assert_eq!((told.status, told.retry_after.as_deref()), (503, Some("7")));
    let (_, told) = fail(&client, &json!({"code": 5})).await;
    assert_eq!((told.status, told.retry_after), (404, None));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_is_internal_on_every_binding() {
    let server = server().await;
    let client = Client::new(&server).await;
    let request = || with_token(FailRequest { panic: true, ..FailRequest::default() });
    for status in [client.grpc().fail(request()).await, client.web().fail(request()).await] {
        let status = status.unwrap_err();
        assert_eq!((status.code(), status.message()), (Code::Internal, "the server failed at this request"));
    }
    let (_, told) = fail(&client, &json!({"panic": true})).await;
    let error = told.outcome.error.unwrap();
    assert_eq!((told.status, &error["message"]), (500, &json!("the server failed at this request")));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ok_that_is_thrown_is_internal() {
    let server = server().await;
    let client = Client::new(&server).await;
    let (grpc, told) = fail(&client, &json!({"code": 0, "message": "fine"})).await;
    assert_eq!((told.status, &grpc.error.as_ref().unwrap()["status"]), (500, &json!("INTERNAL")));
    assert_eq!(told.outcome, grpc);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_implemented_is_named() {
    let server = server().await;
    let client = Client::new(&server).await;
    let form = Http { method: "GET", path: "/probe/stub", body: "" };
    let told = client.http(form).await;
    assert_eq!(told.status, 501);
    assert_eq!(reason(&told.outcome), ("METHOD_UNKNOWN".to_owned(), "agena".to_owned()));
    let message = told.outcome.error.as_ref().unwrap()["message"].as_str().unwrap().to_owned();
    assert!(message.starts_with("agena.probe.v1.ProbeService/Stub is declared"), "{message}");

    let mut channel = tonic::client::Grpc::new(
        tonic::transport::Channel::from_shared(server.url("")).unwrap().connect().await.unwrap(),
    );
    for path in ["/no.such.Service/Method", "/agena.probe.v1.ProbeService/NoSuch"] {
        channel.ready().await.unwrap();
        let codec = agena::transcode::codec::CheckedCodec::<EchoRequest, Kinds>::default();
        let path = http::uri::PathAndQuery::from_static(path);
        let called = channel.unary(with_token(EchoRequest::default()), path.clone(), codec).await;
        let outcome = Outcome::of_status(&called.unwrap_err());
        assert_eq!(reason(&outcome), ("METHOD_UNKNOWN".to_owned(), "agena".to_owned()), "{path}");
        let message = outcome.error.unwrap()["message"].to_string();
        assert!(message.contains(&path.as_str()[1..]), "{message}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_says_grpc_and_is_not_gets_a_plain_answer() {
    let server = server().await;
    for (method, content_type, status, part) in [
        ("POST", "application/grpc", 400, "gRPC needs HTTP/2"),
        ("POST", "application/grpc+proto", 400, "gRPC needs HTTP/2"),
        ("GET", "application/grpc-web+proto", 405, "is a POST"),
        ("POST", "application/grpc-web+json", 415, "application/grpc-web-text"),
    ] {
        let url = server.url("/agena.probe.v1.ProbeService/Echo");
        let request = crate::kit::http().request(method.parse().unwrap(), url).bearer_auth(crate::kit::TOKEN);
        let response = request.header("content-type", content_type).send().await.unwrap();
        assert_eq!(response.status(), status, "{content_type}");
        assert_eq!(response.headers().get("allow").is_some(), status == 405);
        let body: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
        assert!(body["error"]["message"].as_str().unwrap().contains(part), "{body}");
    }
}
