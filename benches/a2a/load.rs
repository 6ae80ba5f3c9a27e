//! The load: tasks at a fixed concurrency, waited for or streamed.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use agena::proto::a2a::a2a_service_client::A2aServiceClient;
use agena::proto::a2a::{Message, Part, Role, SendMessageRequest};
use futures::StreamExt;
use tonic::transport::Channel;

pub const KEY: &str = "the-key-of-the-benchmark";
/// Pieces of text in a streamed task.
pub const PIECES: usize = 500;
const CONCURRENCY: usize = 32;
const TASKS: f64 = 12_000.0;
const STREAMS: f64 = 960.0;

#[derive(Debug, Clone, Copy)]
pub enum Shape {
    Task,
    Event,
}

/// How much was done in which time.
pub struct Done {
    pub count: f64,
    pub elapsed: Duration,
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small whole numbers")]
pub async fn run(shape: Shape, address: SocketAddr, part: f64) -> Done {
    let (total, each) = match shape {
        Shape::Task => (TASKS * part, 1.0),
        Shape::Event => (STREAMS * part, PIECES as f64),
    };
    let rounds = (total / CONCURRENCY as f64) as usize;
    let started = Instant::now();
    let workers = (0..CONCURRENCY).map(|_| tokio::spawn(worker(shape, address, rounds)));
    futures::future::join_all(workers).await.into_iter().for_each(|worker| worker.unwrap());
    Done { count: (rounds * CONCURRENCY) as f64 * each, elapsed: started.elapsed() }
}

async fn worker(shape: Shape, address: SocketAddr, rounds: usize) {
    let channel = Channel::from_shared(format!("http://{address}")).unwrap().connect().await.unwrap();
    let mut client = A2aServiceClient::new(channel);
    for _ in 0..rounds {
        match shape {
            Shape::Task => drop(client.send_message(request("unary")).await.unwrap()),
            Shape::Event => {
                let items = client.send_streaming_message(request("stream")).await.unwrap().into_inner();
                assert!(items.count().await >= PIECES);
            }
        }
    }
}

/// A message has an id of its own, or it would be taken for a repetition.
fn request(kind: &str) -> tonic::Request<SendMessageRequest> {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let message = Message {
        message_id: format!("{kind}-{}", NEXT.fetch_add(1, Ordering::Relaxed)),
        role: Role::User.into(),
        parts: vec![Part::text("a line of text that is about as long as a sentence")],
        ..Message::default()
    };
    let mut request =
        tonic::Request::new(SendMessageRequest { message: Some(message), ..Default::default() });
    request.metadata_mut().insert("x-api-key", KEY.parse().unwrap());
    request
}
