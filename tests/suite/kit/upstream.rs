//! A model's server that answers as it is told, down to the byte, and keeps what it was asked. It speaks plain HTTP/1.1
//! on a socket of its own, so that it can also break off, fall silent and talk nonsense.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use super::until;

/// What happens next on a connection.
#[derive(Debug, Clone)]
pub enum Step {
    /// These bytes.
    Send(Vec<u8>),
    /// Nothing, until the test lets one go on.
    Hold,
    /// Nothing more, for ever.
    Silence,
    /// The connection is reset.
    Reset,
}

/// One answer.
#[derive(Debug, Clone, Default)]
pub struct Reply(pub Vec<Step>);

impl Reply {
    /// With a length, so that the connection can be used again.
    pub fn json(status: u16, body: &Value) -> Self {
        Self::text(status, "application/json", &body.to_string(), "")
    }

    /// `headers` are whole lines, each with its line end.
    pub fn text(status: u16, content_type: &str, body: &str, headers: &str) -> Self {
        let head = format!(
            "HTTP/1.1 {status} Status\r\ncontent-type: {content_type}\r\ncontent-length: {}\r\n{headers}\r\n",
            body.len()
        );
        Self(vec![Step::Send([head.as_bytes(), body.as_bytes()].concat())])
    }

    /// The head of a stream; what follows is its body, as long as the connection is there.
    pub fn open() -> Self {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        Self(vec![Step::Send(head.as_bytes().to_vec())])
    }

    /// A stream with one event for each value, each in a write of its own.
    pub fn stream(events: &[Value]) -> Self {
        events.iter().fold(Self::open(), |reply, event| reply.event(event))
    }

    pub fn event(self, event: &Value) -> Self {
        self.send(format!("data: {event}\r\n\r\n"))
    }

    pub fn send(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.0.push(Step::Send(bytes.as_ref().to_vec()));
        self
    }

    pub fn then(mut self, step: Step) -> Self {
        self.0.push(step);
        self
    }

    pub fn reset() -> Self {
        Self(vec![Step::Reset])
    }

    pub fn silence() -> Self {
        Self(vec![Step::Silence])
    }
}

/// A chunk of Gemini's with these parts; the last one says why it ends.
pub fn chunk(parts: Value, finish: &str) -> Value {
    let mut candidate = json!({"content": {"role": "model", "parts": parts}});
    if !finish.is_empty() {
        candidate["finishReason"] = finish.into();
    }
    json!({"candidates": [candidate], "modelVersion": "gemini-fake"})
}

/// One text, whole, with its end.
pub fn says(text: &str) -> Reply {
    Reply::stream(&[chunk(json!([{"text": text}]), "STOP")])
}

/// One request, as it came.
#[derive(Debug, Clone)]
pub struct Asked {
    pub method: String,
    /// With its query.
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Asked {
    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value.as_str())
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

#[derive(Default)]
struct State {
    /// For the requests to come; then the last one always.
    script: Mutex<VecDeque<Reply>>,
    asked: Mutex<Vec<Asked>>,
    connections: AtomicUsize,
    /// Connections that the client has left.
    left: AtomicUsize,
    released: Option<Semaphore>,
}

#[derive(Clone)]
pub struct Upstream {
    pub address: SocketAddr,
    state: Arc<State>,
}

impl Upstream {
    /// Answers by the script; the last answer is given again and again.
    pub async fn start(script: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State {
            script: Mutex::new(script.into_iter().collect()),
            released: Some(Semaphore::new(0)),
            ..State::default()
        });
        let upstream = Self { address, state };
        let serving = upstream.clone();
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                serving.state.connections.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(serving.clone().serve(socket));
            }
        });
        upstream
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Lets one go on that is held.
    pub fn release(&self) {
        self.state.released.as_ref().unwrap().add_permits(1);
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.state.asked.lock().unwrap().clone()
    }

    pub fn connections(&self) -> usize {
        self.state.connections.load(Ordering::SeqCst)
    }

    /// Waits until so many connections were left by the client.
    pub async fn was_left(&self, times: usize) {
        until("a client that leaves", || self.state.left.load(Ordering::SeqCst) >= times).await;
    }

    fn next(&self) -> Reply {
        let mut script = self.state.script.lock().unwrap();
        match script.len() {
            0 => panic!("the fake model has nothing to say"),
            1 => script[0].clone(),
            _ => script.pop_front().unwrap(),
        }
    }

    async fn serve(self, mut socket: TcpStream) {
        let mut buffer = Vec::new();
        while let Some(asked) = read(&mut socket, &mut buffer).await {
            self.state.asked.lock().unwrap().push(asked);
            for step in self.next().0 {
                match step {
                    Step::Send(bytes) => {
                        if socket.write_all(&bytes).await.is_err() {
                            self.state.left.fetch_add(1, Ordering::SeqCst);
                            return;
                        }
                        socket.flush().await.unwrap();
                        let closes = bytes.windows(17).any(|window| window == b"connection: close");
                        if closes {
                            // Marks a stream: it ends with the connection.
                            buffer.push(0);
                        }
                    }
                    Step::Hold => {
                        if self.left_while_waiting(&mut socket).await {
                            return;
                        }
                    }
                    Step::Silence => {
                        self.gone(&mut socket).await;
                        return;
                    }
                    Step::Reset => {
                        socket.set_zero_linger().unwrap();
                        return;
                    }
                }
            }
            if buffer.last() == Some(&0) {
                return;
            }
        }
    }

    /// Waits to be let on; true if the client leaves before.
    async fn left_while_waiting(&self, socket: &mut TcpStream) -> bool {
        let released = self.state.released.as_ref().unwrap();
        tokio::select! {
            permit = released.acquire() => { permit.unwrap().forget(); false }
            () = self.gone(socket) => true,
        }
    }

    async fn gone(&self, socket: &mut TcpStream) {
        let mut byte = [0; 1];
        // A client has nothing to say before the answer has ended.
        let _ = socket.read(&mut byte).await;
        self.state.left.fetch_add(1, Ordering::SeqCst);
    }
}

async fn read(socket: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<Asked> {
    let end = loop {
        if let Some(end) = buffer.windows(4).position(|window| window == b"\r\n\r\n") {
            break end + 4;
        }
        more(socket, buffer).await?;
    };
    let head = String::from_utf8(buffer[..end].to_vec()).unwrap();
    let mut lines = head.lines();
    let mut first = lines.next()?.split(' ').map(str::to_owned);
    let (method, path) = (first.next()?, first.next()?);
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length: usize = length.map_or(0, |(_, value)| value.parse().unwrap());
    while buffer.len() < end + length {
        more(socket, buffer).await?;
    }
    let body = buffer[end..end + length].to_vec();
    buffer.drain(..end + length);
    Some(Asked { method, path, headers, body })
}

async fn more(socket: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<()> {
    match socket.read_buf(buffer).await {
        Ok(0) | Err(_) => None,
        Ok(_) => Some(()),
    }
}
