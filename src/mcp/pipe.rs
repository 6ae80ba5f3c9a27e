//! The way to a server that was started here: a message a line, each of bounded size, on the socket that is its standard
//! input and output. What it complains about goes to the log, within bounds. Knows no call; `link` opens it.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf, pipe};

use crate::sandbox::talk::{Life, Talking};

/// Bytes of one message.
pub(super) const MESSAGE: usize = 16 * 1024 * 1024;
/// Lines or events that are no message; then it is no MCP server.
pub(super) const NONSENSE: u32 = 100;
/// Bytes of complaints that are logged, of each server and start.
const LOGGED: usize = 64 * 1024;
/// Bytes of complaints that tell why it ended.
const LAST: usize = 1_000;
/// What ends by itself says how.
const ENDING: Duration = Duration::from_secs(1);

/// Why a connection ended, in words; whoever knows first says it.
#[derive(Debug, Clone, Default)]
pub(super) struct Why(Arc<Mutex<Option<String>>>);

impl Why {
    pub(super) fn say(&self, why: impl Into<String>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| why.into());
    }

    pub(super) fn get(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

pub(super) struct Pipe {
    reader: BufReader<OwnedReadHalf>,
    writer: Arc<tokio::sync::Mutex<OwnedWriteHalf>>,
    /// Read of a message whose end has not come.
    line: Vec<u8>,
    nonsense: u32,
    life: Life,
    last_words: Arc<Mutex<Vec<u8>>>,
    why: Why,
}

impl Pipe {
    pub(super) fn new(server: &str, talking: Talking, why: Why) -> Self {
        let (reader, writer) = talking.voice.into_split();
        let last_words = Arc::default();
        tokio::spawn(log(server.to_owned(), talking.complaints, Arc::clone(&last_words)));
        Self {
            reader: BufReader::new(reader),
            writer: Arc::new(tokio::sync::Mutex::new(writer)),
            line: Vec::new(),
            nonsense: 0,
            life: talking.life,
            last_words,
            why,
        }
    }

    /// A line; none at the end. May be dropped and called again.
    async fn line(&mut self) -> Option<Vec<u8>> {
        loop {
            let piece = self.reader.fill_buf().await.ok().filter(|piece| !piece.is_empty())?;
            let end = memchr::memchr(b'\n', piece);
            let taken = end.map_or(piece.len(), |at| at + 1);
            if self.line.len() + taken > MESSAGE {
                self.why.say(format!("it sent a message of more than {MESSAGE} bytes"));
                return None;
            }
            self.line.extend_from_slice(&piece[..taken]);
            self.reader.consume(taken);
            if end.is_some() {
                return Some(std::mem::take(&mut self.line));
            }
        }
    }

    async fn note_end(&mut self) {
        let ended = tokio::time::timeout(ENDING, self.life.ended()).await;
        let ended = ended.unwrap_or_else(|_| "it closed its output".to_owned());
        let last = self.last_words.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let last = String::from_utf8_lossy(&last).split_whitespace().collect::<Vec<_>>().join(" ");
        self.why.say(if last.is_empty() { ended } else { format!("{ended}; its last words: {last}") });
    }
}

impl Transport<RoleClient> for Pipe {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let writer = Arc::clone(&self.writer);
        async move {
            let mut line = serde_json::to_vec(&item)?;
            line.push(b'\n');
            writer.lock().await.write_all(&line).await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let Some(line) = self.line().await else {
                self.note_end().await;
                return None;
            };
            let line = line.trim_ascii();
            if line.is_empty() {
                continue;
            }
            match serde_json::from_slice(line) {
                Ok(message) => return Some(message),
                Err(_) if self.nonsense < NONSENSE => self.nonsense += 1,
                Err(_) => {
                    self.why.say("it does not speak MCP: what it prints is no JSON-RPC");
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.writer.lock().await.shutdown().await
    }
}

/// Reads to the end, so that a server that complains a lot is not held up; logs the beginning and keeps the end.
async fn log(server: String, mut complaints: pipe::Receiver, last_words: Arc<Mutex<Vec<u8>>>) {
    let mut buffer = vec![0; 8 * 1024];
    let mut logged = 0;
    while let Ok(read @ 1..) = complaints.read(&mut buffer).await {
        let piece = &buffer[..read];
        if logged < LOGGED {
            tracing::debug!(server, said = %String::from_utf8_lossy(piece).trim_end(), "an MCP server complains");
        } else if logged < LOGGED + read {
            tracing::debug!(server, "an MCP server complains on and on; the rest is not logged");
        }
        logged += read;
        let mut last = last_words.lock().unwrap_or_else(PoisonError::into_inner);
        last.extend_from_slice(piece);
        let over = last.len().saturating_sub(LAST);
        last.drain(..over);
    }
}
