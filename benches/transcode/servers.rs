//! The three servers that answer the same two calls: tonic alone, axum alone, and all of agena.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use agena::domain::principal::Principal;
use agena::domain::secret::Secret;
use agena::transcode::{Mount, Router};
use agena::transport::{Access, Keys, Listener, Origins, Rim, Server, stack};
use axum::Json;
use axum::extract::{Path, State};
use axum::response::sse::{Event, Sse};
use axum::routing::{get, post};
use futures::{Stream, StreamExt};
use tokio::net::TcpListener;
use tonic::service::Routes;

use crate::load::KEY;
use crate::probe::Shared;
use crate::probe::pb::probe_service_http;
use crate::probe::pb::probe_service_server::{ProbeService, ProbeServiceServer};
use crate::probe::pb::{CountRequest, EchoRequest, EchoResponse};

pub fn serve(name: &str) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        match name {
            "tonic" => tonic_alone().await,
            "axum" => axum_alone().await,
            _ => agena().await,
        }
    });
}

async fn tonic_alone() {
    let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("{}", socket.local_addr().unwrap());
    let incoming = tonic::transport::server::TcpIncoming::from(socket).with_nodelay(Some(true));
    let service = ProbeServiceServer::new(Shared::default());
    tonic::transport::Server::builder().add_service(service).serve_with_incoming(incoming).await.unwrap();
}

async fn axum_alone() {
    let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("{}", socket.local_addr().unwrap());
    let router = axum::Router::new()
        .route("/probe:echo", post(echo))
        .route("/probe/count/{to}", get(count))
        .with_state(Shared::default());
    let listener = axum::serve::ListenerExt::tap_io(socket, |stream| stream.set_nodelay(true).unwrap());
    axum::serve(listener, router).await.unwrap();
}

async fn echo(State(service): State<Shared>, Json(request): Json<EchoRequest>) -> Json<EchoResponse> {
    Json(service.echo(tonic::Request::new(request)).await.unwrap().into_inner())
}

async fn count(
    State(service): State<Shared>,
    Path(to): Path<i32>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let request = CountRequest { to, ..CountRequest::default() };
    let items = service.count(tonic::Request::new(request)).await.unwrap().into_inner();
    Sse::new(items.map(|item| Ok(Event::default().json_data(item.unwrap()).unwrap())))
}

/// With everything that a request goes through in production but the log.
async fn agena() {
    let listener = Listener::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    println!("{}", listener.address());
    let service = Arc::new(Shared::default());
    let mut router = Router::default();
    router.mount(Mount::ROOT, probe_service_http::routes(&service)).unwrap();
    let rim = Rim {
        bound: listener.address(),
        hosts: Vec::new(),
        origins: Origins { listed: [].into(), loopback: true },
        access: Access::Keys(Keys::new(vec![(Principal::local(), Secret::new(KEY))])),
        body_limit: 4 << 20,
    };
    let grpc = Routes::new(ProbeServiceServer::from_arc(service));
    let server = Server {
        stack: stack(rim, Arc::new(router), grpc),
        tls: None,
        max_connections: 1000,
        header_limit: 64 << 10,
        drain: Duration::ZERO,
    };
    server.serve(listener, std::future::pending()).await;
}
