//! Sizes and numbers are bounded, and what is over them is refused with the limit in the answer.

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tonic::Code;

use crate::kit::{Client, Outcome, Setup, TOKEN, http, server, soon, with_token};
use crate::probe::pb::{EchoRequest, Kinds};

fn large(bytes: usize) -> EchoRequest {
    EchoRequest {
        kinds: Some(Kinds { text: "x".repeat(bytes), ..Kinds::default() }),
        ..EchoRequest::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_json_body_over_the_limit_is_refused_declared_or_not() {
    let server = server().await;
    let body = format!(r#"{{"kinds": {{"text": "{}"}}}}"#, "x".repeat(64 * 1024));
    let pieces: Vec<Result<Vec<u8>, std::io::Error>> =
        body.as_bytes().chunks(1000).map(|c| Ok(c.to_vec())).collect();
    let streamed = reqwest::Body::wrap_stream(futures::stream::iter(pieces));
    for (how, body) in [("declared", body.clone().into()), ("chunked", streamed)] {
        let post = http()
            .post(server.url("/probe:echo"))
            .bearer_auth(TOKEN)
            .header("content-type", "application/json");
        let response = post.body(body).send().await.unwrap();
        assert_eq!(response.status(), 413, "{how}");
        let answer: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
        assert_eq!(answer["error"]["message"], "the body is larger than 65536 bytes");
    }
}

/// All at once, a byte at a time, and behind a head that asks whether it may come: what is there is read, and what is not is
/// waited for.
#[tokio::test(flavor = "multi_thread")]
async fn a_body_comes_in_whatever_pieces() {
    let server = server().await;
    let body = format!(r#"{{"kinds": {{"text": "{}"}}}}"#, "x".repeat(3000));
    let small: String = body.chars().map(|byte| format!("1\r\n{byte}\r\n")).collect();
    let (length, chunked) =
        (format!("content-length: {}", body.len()), "transfer-encoding: chunked".to_owned());
    for (how, headers, pieces) in [
        ("one write", length.clone(), vec![body.clone()]),
        ("two writes", length.clone(), vec![body[..1000].to_owned(), body[1000..].to_owned()]),
        ("asked before", format!("{length}\r\nexpect: 100-continue"), vec![body.clone()]),
        ("bytes", chunked.clone(), vec![small.clone() + "0\r\n\r\n"]),
        ("bytes, and then the end", chunked, vec![small, "0\r\n\r\n".to_owned()]),
    ] {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        let host = server.address;
        let head = format!(
            "POST /probe:echo HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {TOKEN}\r\n\
             content-type: application/json\r\nconnection: close\r\n{headers}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        if how == "asked before" {
            let mut go_on = [0; "HTTP/1.1 100 Continue\r\n\r\n".len()];
            soon(stream.read_exact(&mut go_on)).await.unwrap();
        }
        for piece in pieces {
            stream.write_all(piece.as_bytes()).await.unwrap();
            // So that the server has read it before the next one comes, most often.
            tokio::task::yield_now().await;
        }
        let mut answer = String::new();
        soon(stream.read_to_string(&mut answer)).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{how}: {answer}");
        assert!(answer.contains(&"x".repeat(3000)), "{how}");
    }
}

/// One connection, several requests: two that come together, and one behind their answers.
#[tokio::test(flavor = "multi_thread")]
async fn a_connection_goes_on_behind_a_whole_body() {
    let server = server().await;
    let one = |text: &str| {
        let (host, body) = (server.address, format!(r#"{{"kinds": {{"text": "{text}"}}}}"#));
        format!(
            "POST /probe:echo HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {TOKEN}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
    };
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let (mut heard, mut buffer) = (String::new(), [0; 4096]);
    for (sent, last) in [(one("first") + &one("second"), "second"), (one("third"), "third")] {
        stream.write_all(sent.as_bytes()).await.unwrap();
        while !heard.contains(last) {
            let read = soon(stream.read(&mut buffer)).await.unwrap();
            assert!(read > 0, "closed behind {heard}");
            heard += std::str::from_utf8(&buffer[..read]).unwrap();
        }
    }
    assert_eq!(heard.matches("HTTP/1.1 200").count(), 3, "{heard}");
    assert!(heard.find("first") < heard.find("second"), "{heard}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_grpc_message_over_the_limit_is_refused() {
    let server = server().await;
    let client = Client::new(&server).await;
    assert_eq!(
        client
            .grpc()
            .echo(with_token(large(60 * 1024)))
            .await
            .unwrap()
            .get_ref()
            .kinds
            .as_ref()
            .unwrap()
            .text
            .len(),
        60 * 1024
    );
    for refused in [
        client.grpc().echo(with_token(large(65 * 1024))).await.unwrap_err(),
        client.web().echo(with_token(large(65 * 1024))).await.unwrap_err(),
    ] {
        assert_eq!(refused.code(), Code::ResourceExhausted, "{refused}");
        assert_eq!(refused.message(), "the message is larger than 65536 bytes");
        let outcome = Outcome::of_status(&refused).error.unwrap();
        assert_eq!(outcome["details"][0]["reason"], "BODY_TOO_LARGE");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_over_the_limit_are_refused() {
    let server = server().await;
    let get =
        http().get(server.url("/probe/wait/0")).bearer_auth(TOKEN).header("x-large", "x".repeat(20 * 1024));
    assert_eq!(get.send().await.unwrap().status(), 431);
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_over_the_limit_are_closed_at_once() {
    let server = Setup { max_connections: 2, ..Setup::default() }.start().await;
    let mut held = Vec::new();
    for _ in 0..2 {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        let request = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n", server.address);
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut first = [0; 12];
        soon(stream.read_exact(&mut first)).await.unwrap();
        held.push(stream);
    }
    let mut third = TcpStream::connect(server.address).await.unwrap();
    // Closed without a byte; some systems say so with a reset.
    let mut rest = Vec::new();
    let closed = soon(third.read_to_end(&mut rest)).await;
    assert!(closed.map_or(true, |read| read == 0));
    drop(held);
}

#[tokio::test(flavor = "multi_thread")]
async fn garbage_on_the_port_harms_nobody() {
    let server = server().await;
    for garbage in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..],
        b"\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nxxxxxxxxx",
        b"GET / HTTP/9.9\r\n\r\n",
    ] {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        stream.write_all(garbage).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut rest = Vec::new();
        let _ = soon(stream.read_to_end(&mut rest)).await;
    }
    let alive = http().get(server.url("/probe/wait/0")).bearer_auth(TOKEN).send().await.unwrap();
    assert_eq!(alive.status(), 200);
}

// Real time has to pass here, because the limit is on a real socket; the three wait side by side.
#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_asks_for_nothing_is_closed() {
    let server = server().await;
    let tries = [&b""[..], b"P", b"PRI * HTTP/2.0\r\n"].map(|start| async {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        stream.write_all(start).await.unwrap();
        let mut rest = Vec::new();
        let limit = std::time::Duration::from_secs(15);
        tokio::time::timeout(limit, stream.read_to_end(&mut rest)).await.is_ok()
    });
    assert_eq!(futures::future::join_all(tries).await, [true, true, true]);
}
