//! A webhook that answers as it is told and keeps what it gets.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::kit::until;

/// What a webhook does with one request.
#[derive(Debug, Clone)]
pub enum Answer {
    Status(u16),
    /// 302 to this path of its own.
    Redirect(&'static str),
    /// 200 with so many bytes.
    Large(usize),
    /// Reads the request and hangs up.
    Drop,
    /// 200, as soon as it is let go on.
    Hold,
}

/// One request, as it came.
#[derive(Debug, Clone)]
pub struct Received {
    pub path: String,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Received {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// The sequence, from the id of the delivery.
    pub fn sequence(&self) -> u64 {
        self.header("x-agena-delivery").rsplit('/').next().unwrap().parse().unwrap()
    }
}

#[derive(Debug)]
struct State {
    /// For the requests to come; then always this.
    script: Mutex<(VecDeque<Answer>, Answer)>,
    received: Mutex<Vec<Received>>,
    connections: AtomicUsize,
    open: AtomicUsize,
    most_open: AtomicUsize,
    released: Semaphore,
}

#[derive(Debug, Clone)]
pub struct Hook {
    pub address: SocketAddr,
    state: Arc<State>,
}

impl Hook {
    /// Answers by the script, then with `then`.
    pub async fn start(script: impl IntoIterator<Item = Answer>, then: Answer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State {
            script: Mutex::new((script.into_iter().collect(), then)),
            received: Mutex::default(),
            connections: AtomicUsize::default(),
            open: AtomicUsize::default(),
            most_open: AtomicUsize::default(),
            released: Semaphore::new(0),
        });
        let hook = Self { address, state };
        tokio::spawn(hook.clone().serve(listener));
        hook
    }

    /// Says yes to everything.
    pub async fn willing() -> Self {
        Self::start([], Answer::Status(200)).await
    }

    pub fn url(&self) -> String {
        format!("http://{}/hook?secret=path", self.address)
    }

    pub fn answer_from_now_on(&self, answer: Answer) {
        *self.state.script.lock().unwrap() = (VecDeque::new(), answer);
    }

    /// Lets so many go that are held.
    pub fn release(&self, requests: usize) {
        self.state.released.add_permits(requests);
    }

    pub fn received(&self) -> Vec<Received> {
        self.state.received.lock().unwrap().clone()
    }

    pub fn sequences(&self) -> Vec<u64> {
        self.received().iter().map(Received::sequence).collect()
    }

    pub fn connections(&self) -> usize {
        self.state.connections.load(Ordering::SeqCst)
    }

    /// How many requests were open at the same time.
    pub fn most_open(&self) -> usize {
        self.state.most_open.load(Ordering::SeqCst)
    }

    /// Waits for so many requests.
    pub async fn wait(&self, requests: usize) -> Vec<Received> {
        until(&format!("{requests} requests"), || self.received().len() >= requests).await;
        self.received()
    }

    async fn serve(self, listener: TcpListener) {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            self.state.connections.fetch_add(1, Ordering::SeqCst);
            let hook = self.clone();
            let service = service_fn(move |request| hook.clone().take(request));
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    }

    async fn take(self, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, HungUp> {
        let (head, body) = request.into_parts();
        let body = body.collect().await.map_err(|_| HungUp)?.to_bytes();
        let open = self.state.open.fetch_add(1, Ordering::SeqCst) + 1;
        self.state.most_open.fetch_max(open, Ordering::SeqCst);
        let answer = {
            let mut script = self.state.script.lock().unwrap();
            script.0.pop_front().unwrap_or_else(|| script.1.clone())
        };
        let received = Received { path: head.uri.to_string(), headers: head.headers, body };
        self.state.received.lock().unwrap().push(received);
        let response = self.answer(answer).await;
        self.state.open.fetch_sub(1, Ordering::SeqCst);
        response
    }

    async fn answer(&self, answer: Answer) -> Result<Response<Full<Bytes>>, HungUp> {
        let response = Response::builder();
        let (response, body) = match answer {
            Answer::Status(status) => (response.status(status), Bytes::new()),
            Answer::Redirect(to) => (response.status(302).header("location", to), Bytes::new()),
            Answer::Large(length) => (response, vec![b'x'; length].into()),
            Answer::Drop => return Err(HungUp),
            Answer::Hold => {
                self.state.released.acquire().await.unwrap().forget();
                (response, Bytes::new())
            }
        };
        Ok(response.body(Full::new(body)).unwrap())
    }
}

/// hyper closes the connection without an answer.
#[derive(Debug)]
struct HungUp;

impl std::fmt::Display for HungUp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("hung up")
    }
}

impl std::error::Error for HungUp {}
