//! Connections: accepts them up to a number, speaks HTTP/1.1 and HTTP/2 with or without TLS, and on shutdown
//! lets open requests finish within a limit.

use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tonic::body::Body;

use super::stack::Stack;
use crate::domain::ears::Ears;

/// A client that has not shaken hands by then, or not asked for anything, is not going to.
const FIRST_REQUEST: Duration = Duration::from_secs(10);
const HEADERS: Duration = Duration::from_secs(30);
/// A peer that does not answer a ping is gone, and its streams with it.
const PING_EVERY: Duration = Duration::from_secs(20);
const PING_ANSWER: Duration = Duration::from_secs(10);
/// hyper's 200 are too few for one client that watches many tasks.
const STREAMS_PER_CONNECTION: u32 = 8192;
/// Out of file handles, most likely: a moment later some may be free.
const ACCEPT_AGAIN: Duration = Duration::from_millis(100);

/// A bound port. The address is known before anything is served, so that services can announce it.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
}

impl Listener {
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        let socket = TcpListener::bind(address).await?;
        let address = socket.local_addr()?;
        Ok(Self { socket, address })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// How a shutdown went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drained {
    /// Every open request got its answer.
    Whole,
    /// Some did not end within the limit and were cut.
    Cut,
}

/// Serves a stack on a port.
pub struct Server {
    pub stack: Stack,
    pub tls: Option<TlsAcceptor>,
    pub max_connections: usize,
    pub header_limit: usize,
    pub drain: Duration,
}

impl Server {
    /// Serves until `stop` completes; then takes no more connections and waits for the open ones.
    pub async fn serve(self, listener: Listener, stop: impl Future<Output = ()>) -> Drained {
        let graceful = GracefulShutdown::new();
        let http = Arc::new(Http::new(self.header_limit));
        let places = Arc::new(Semaphore::new(self.max_connections));
        tokio::pin!(stop);
        loop {
            let accepted = tokio::select! {
                () = &mut stop => break,
                accepted = listener.socket.accept() => accepted,
            };
            let stream = match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(ACCEPT_AGAIN).await;
                    continue;
                }
            };
            // Closing at once is the fastest refusal there is before TLS and HTTP are known.
            let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
                tracing::warn!(max = self.max_connections, "too many connections; one was closed");
                continue;
            };
            let connection = Connection {
                stream,
                tls: self.tls.clone(),
                stack: self.stack.clone(),
                http: Arc::clone(&http),
                watcher: graceful.watcher(),
            };
            tokio::spawn(async move {
                connection.run().await;
                drop(place);
            });
        }
        // New connections are refused from here on, not left waiting.
        drop(listener);
        drain(graceful, self.drain).await
    }
}

async fn drain(graceful: GracefulShutdown, limit: Duration) -> Drained {
    tracing::info!(connections = graceful.count(), "draining");
    match timeout(limit, graceful.shutdown()).await {
        Ok(()) => Drained::Whole,
        Err(_) => Drained::Cut,
    }
}

/// How connections are served, by what is known of them before they begin. To find it out while serving takes hyper a second
/// buffer and room for both kinds, for as long as the connection lives.
struct Http {
    one: http1::Builder,
    two: http2::Builder<TokioExecutor>,
    either: auto::Builder<TokioExecutor>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    One,
    Two,
    /// Not known yet.
    Either,
}

/// What HTTP/2 begins with, and no method of HTTP/1.1.
const TWO: &[u8] = b"PRI ";

impl Version {
    /// By the first bytes.
    fn begun(first: &[u8]) -> Self {
        match first {
            first if first.starts_with(TWO) => Self::Two,
            first if TWO.starts_with(first) => Self::Either,
            _ => Self::One,
        }
    }

    /// By what the handshake agreed on.
    fn agreed(protocol: Option<&[u8]>) -> Self {
        match protocol {
            Some(b"h2") => Self::Two,
            Some(b"http/1.1") => Self::One,
            _ => Self::Either,
        }
    }
}

impl Http {
    fn new(header_limit: usize) -> Self {
        let list = u32::try_from(header_limit).unwrap_or(u32::MAX);
        let mut one = http1::Builder::new();
        one.timer(TokioTimer::new()).header_read_timeout(HEADERS).max_buf_size(header_limit);
        let mut two = http2::Builder::new(TokioExecutor::new());
        two.timer(TokioTimer::new())
            .keep_alive_interval(PING_EVERY)
            .keep_alive_timeout(PING_ANSWER)
            .max_concurrent_streams(STREAMS_PER_CONNECTION)
            .max_header_list_size(list);
        let mut either = auto::Builder::new(TokioExecutor::new());
        either.http1().timer(TokioTimer::new()).header_read_timeout(HEADERS).max_buf_size(header_limit);
        either
            .http2()
            .timer(TokioTimer::new())
            .keep_alive_interval(PING_EVERY)
            .keep_alive_timeout(PING_ANSWER)
            .max_concurrent_streams(STREAMS_PER_CONNECTION)
            .max_header_list_size(list);
        Self { one, two, either }
    }

    async fn serve<I>(&self, version: Version, stream: I, stack: Stack, watcher: Watcher)
    where
        I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let asked = Arc::new(AtomicBool::new(false));
        let asks = Arc::clone(&asked);
        let service = service_fn(move |request: http::Request<Incoming>| {
            asks.store(true, Ordering::Relaxed);
            stack.call(request.map(Body::new))
        });
        let io = TokioIo::new(stream);
        match version {
            Version::One => {
                // In its place before it is driven: whoever takes it by value has room for it twice.
                let connection = pin!(watcher.watch(self.one.serve_connection(io, service)));
                drive(connection, &asked).await;
            }
            // Apart, since they are large, and most are of the first kind.
            Version::Two => {
                drive(Box::pin(watcher.watch(self.two.serve_connection(io, service))).as_mut(), &asked).await
            }
            Version::Either => {
                let connection = self.either.serve_connection(io, service).into_owned();
                drive(Box::pin(watcher.watch(connection)).as_mut(), &asked).await;
            }
        }
    }
}

/// Until it ends, or was never asked anything.
async fn drive<E: fmt::Display>(
    mut connection: Pin<&mut impl Future<Output = Result<(), E>>>,
    asked: &AtomicBool,
) {
    // hyper waits without a limit for the bytes that tell which HTTP it is.
    let ears = Ears::default();
    let mut connection = poll_fn(|context| ears.listen(context, |context| connection.as_mut().poll(context)));
    let ended = match timeout(FIRST_REQUEST, &mut connection).await {
        Ok(ended) => ended,
        Err(_) if asked.load(Ordering::Relaxed) => connection.await,
        Err(_) => return tracing::debug!("a connection never asked for anything"),
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection broke");
    }
}

struct Connection {
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    stack: Stack,
    http: Arc<Http>,
    watcher: Watcher,
}

impl Connection {
    async fn run(mut self) {
        send_at_once(&self.stream);
        match self.tls.take() {
            None => self.plain().await,
            // Apart, since it is large: most that have many connections leave this to a proxy.
            Some(tls) => Box::pin(self.secured(tls)).await,
        }
    }

    async fn plain(self) {
        let Self { stream, stack, http, watcher, .. } = self;
        let mut first = [0; TWO.len()];
        match timeout(FIRST_REQUEST, stream.peek(&mut first)).await {
            Ok(Ok(count)) => {
                let first = first.get(..count).unwrap_or_default();
                http.serve(Version::begun(first), stream, stack, watcher).await;
            }
            Ok(Err(error)) => tracing::debug!(%error, "a connection broke"),
            Err(_) => tracing::debug!("a connection never asked for anything"),
        }
    }

    async fn secured(self, tls: TlsAcceptor) {
        let Self { stream, stack, http, watcher, .. } = self;
        match timeout(FIRST_REQUEST, tls.accept(stream)).await {
            Ok(Ok(stream)) => {
                let version = Version::agreed(stream.get_ref().1.alpn_protocol());
                http.serve(version, stream, stack, watcher).await;
            }
            Ok(Err(error)) => tracing::debug!(%error, "no TLS handshake"),
            Err(_) => tracing::debug!("no TLS handshake in time"),
        }
    }
}

/// Without it, small answers wait for the peer's delayed acknowledgement: 44 ms each.
fn send_at_once(stream: &TcpStream) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "cannot set TCP_NODELAY");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_tell_which_http_it_is() {
        for (first, expected) in [
            (&b"PRI "[..], Version::Two),
            (b"POST", Version::One),
            (b"GET ", Version::One),
            // Too few to tell.
            (b"PR", Version::Either),
            (b"", Version::Either),
        ] {
            assert_eq!(Version::begun(first), expected, "{first:?}");
        }
        assert_eq!(Version::agreed(Some(b"h2")), Version::Two);
        assert_eq!(Version::agreed(Some(b"http/1.1")), Version::One);
        assert_eq!(Version::agreed(None), Version::Either);
    }

    #[tokio::test]
    async fn small_answers_do_not_wait_for_more() {
        let listener = Listener::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let (_client, accepted) =
            tokio::join!(TcpStream::connect(listener.address()), listener.socket.accept());
        let (stream, _) = accepted.unwrap();
        assert!(!stream.nodelay().unwrap(), "the system does not do it by itself");
        send_at_once(&stream);
        assert!(stream.nodelay().unwrap());
    }
}
