//! What answers there is no Agena: the client says so at once, and what to check.

use std::convert::Infallible;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};

use bytes::Bytes;
use http_body_util::Full;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};

use super::{client, ended, run};
use crate::kit::process::Running;

/// A web server of the old kind.
fn web() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream
                .write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 2\r\n\r\nhi");
        }
    });
    address
}

/// Over HTTP/2, whatever is asked: another gRPC server that does not know the service, or a page.
async fn modern(content_type: &'static str, status: Option<&'static str>) -> SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let answer = service_fn(move |_| async move {
                let response = http::Response::builder().header("content-type", content_type);
                let response = match status {
                    Some(status) => {
                        response.header("grpc-status", status).header("grpc-message", "unknown service")
                    }
                    None => response,
                };
                Ok::<_, Infallible>(response.body(Full::new(Bytes::new())).unwrap())
            });
            let served = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
            tokio::spawn(served.serve_connection(TokioIo::new(stream), answer));
        }
    });
    address
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_none_is_named_with_what_to_check() {
    let server = Running::start(&[]);
    for (address, part) in [
        (web(), "does not speak gRPC"),
        (modern("application/grpc", Some("12")).await, "does not know its service (unknown service)"),
        (modern("text/html", None).await, "does not know its service"),
    ] {
        let url = format!("http://{address}");
        for arguments in [&["tasks"][..], &["chat", "-p", "hello"], &["watch"]] {
            let came = ended(client(&server, arguments).env("AGENA_SERVER", &url).spawn().unwrap());
            assert_eq!((came.code, came.out.as_str()), (Some(4), ""), "{came:?}");
            let said = format!("error: no Agena server answers at {url}: what is there {part}");
            assert!(came.err.starts_with(&said), "{came:?}");
            let check = "; check the host, the port, and whether it should be https\n";
            assert!(came.err.ends_with(check) && came.err.lines().count() == 1, "{came:?}");
        }
    }
}

#[test]
fn a_model_that_is_none_is_answered_with_those_that_there_are() {
    let server = Running::start(&[]);
    let came = run(&server, &["chat", "-p", "hello", "--model", "nosuch"]);
    assert_eq!(came.code, Some(2), "{came:?}");
    assert!(came.err.contains("there is no model \"nosuch\" here, only rehearsal\n"), "{came:?}");
}
