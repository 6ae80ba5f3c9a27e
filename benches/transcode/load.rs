//! The load: calls or streams at a fixed concurrency, over gRPC or HTTP/1.1.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures::StreamExt;
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tonic::transport::Channel;

use crate::probe::pb::probe_service_client::ProbeServiceClient;
use crate::probe::pb::{CountRequest, EchoRequest, Inner, Kinds};

pub const KEY: &str = "the-key-of-the-benchmark";
const CONCURRENCY: usize = 32;
const CALLS: f64 = 40_000.0;
const STREAMS: f64 = 320.0;
const ITEMS: i32 = 2_000;

#[derive(Debug, Clone, Copy)]
pub enum Wire {
    Grpc,
    Http,
}

#[derive(Debug, Clone, Copy)]
pub enum Shape {
    /// A message with a dozen fields there and back.
    Call,
    /// Many small items, made without waiting.
    Stream,
}

#[derive(Debug, Clone, Copy)]
pub struct Load {
    pub wire: Wire,
    pub shape: Shape,
}

/// How much was done in which time.
pub struct Done {
    pub count: f64,
    pub elapsed: Duration,
}

impl Load {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small whole numbers")]
    pub async fn run(self, address: SocketAddr, part: f64) -> Done {
        let (total, each) = match self.shape {
            Shape::Call => (CALLS * part, 1.0),
            Shape::Stream => (STREAMS * part, f64::from(ITEMS)),
        };
        let rounds = (total / CONCURRENCY as f64) as usize;
        let started = Instant::now();
        let workers = (0..CONCURRENCY).map(|_| tokio::spawn(self.worker(address, rounds)));
        futures::future::join_all(workers).await.into_iter().for_each(|worker| worker.unwrap());
        Done { count: (rounds * CONCURRENCY) as f64 * each, elapsed: started.elapsed() }
    }

    async fn worker(self, address: SocketAddr, rounds: usize) {
        match self.wire {
            Wire::Grpc => {
                let channel =
                    Channel::from_shared(format!("http://{address}")).unwrap().connect().await.unwrap();
                let mut client = ProbeServiceClient::new(channel);
                for _ in 0..rounds {
                    self.grpc(&mut client).await;
                }
            }
            Wire::Http => {
                let client = Client::builder(TokioExecutor::new()).build_http();
                for _ in 0..rounds {
                    self.http(&client, address).await;
                }
            }
        }
    }

    async fn grpc(self, client: &mut ProbeServiceClient<Channel>) {
        match self.shape {
            Shape::Call => {
                client.echo(with_key(request())).await.unwrap();
            }
            Shape::Stream => {
                let request = CountRequest { to: ITEMS, ..CountRequest::default() };
                let items = client.count(with_key(request)).await.unwrap().into_inner();
                assert_eq!(items.count().await, usize::try_from(ITEMS).unwrap());
            }
        }
    }

    async fn http(self, client: &Client<HttpConnector, Full<Bytes>>, address: SocketAddr) {
        let request = http::Request::builder().header("x-api-key", KEY);
        let request = match self.shape {
            Shape::Call => request
                .method("POST")
                .uri(format!("http://{address}/probe:echo"))
                .header("content-type", "application/json")
                .body(serde_json::to_vec(&self::request()).unwrap().into()),
            Shape::Stream => {
                request.uri(format!("http://{address}/probe/count/{ITEMS}")).body(Full::default())
            }
        };
        let response = client.request(request.unwrap()).await.unwrap();
        assert_eq!(response.status(), 200);
        let body = response.into_body().collect().await.unwrap().to_bytes();
        if matches!(self.shape, Shape::Stream) {
            let events = body.windows(2).filter(|pair| *pair == b"\n\n").count();
            assert_eq!(events, usize::try_from(ITEMS).unwrap());
        }
    }
}

fn request() -> EchoRequest {
    let inner = |n: i64| Inner { label: format!("inner {n}"), size: n, ..Inner::default() };
    let kinds = Kinds {
        text: "a line of text that is about as long as a sentence".to_owned(),
        flag: true,
        i32: 42,
        i64: 1 << 40,
        color: 1,
        inner: Some(inner(0)),
        texts: vec!["one".to_owned(), "two".to_owned(), "three".to_owned()],
        inners: (1..4).map(inner).collect(),
        ..Kinds::default()
    };
    EchoRequest { tenant: String::new(), kinds: Some(kinds) }
}

fn with_key<T>(message: T) -> tonic::Request<T> {
    let mut request = tonic::Request::new(message);
    request.metadata_mut().insert("x-api-key", KEY.parse().unwrap());
    request
}
