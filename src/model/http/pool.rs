//! Connections to servers, kept for the next request while they are idle. Dials and shakes hands; knows neither vendors nor
//! proxies.

use std::future::poll_fn;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use http::uri::{Authority, Scheme};
use http::{Request, Response, Uri};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::client::legacy::connect::HttpConnector;
use rustls::pki_types::ServerName;
use tokio::time::{Instant, timeout};
use tokio_rustls::TlsConnector;
use tower::ServiceExt;

use super::line::{Line, Wire};

/// Servers close what was idle for longer anyway.
const IDLE: Duration = Duration::from_secs(90);
const KEEP_ALIVE: Duration = Duration::from_secs(60);

/// Where a connection leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) scheme: Scheme,
    pub(super) authority: Authority,
}

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Lost {
    /// There is no connection.
    Unreached(io::Error),
    /// There was one.
    Broken(io::Error),
}

pub(super) struct Pool {
    tcp: HttpConnector,
    tls: TlsConnector,
    connect: Duration,
    idle: Mutex<Idle>,
}

#[derive(Default)]
struct Idle {
    /// The oldest first.
    lines: Vec<(Origin, Instant, Box<Line>)>,
    /// Somebody clears them away when their time is over.
    watched: bool,
}

impl Pool {
    pub(super) fn new(tls: rustls::ClientConfig, connect: Duration) -> Self {
        let mut tcp = HttpConnector::new();
        tcp.set_nodelay(true);
        tcp.set_keepalive(Some(KEEP_ALIVE));
        tcp.enforce_http(false);
        Self { tcp, tls: TlsConnector::from(Arc::new(tls)), connect, idle: Mutex::default() }
    }

    /// The head of the answer and the line that it came on. A line that died while it was idle is not the request's fault.
    pub(super) async fn ask(
        &self,
        origin: &Origin,
        mut request: Request<Full<Bytes>>,
    ) -> Result<(Response<Incoming>, Box<Line>), Lost> {
        loop {
            let (mut line, used) = match self.kept(origin).await {
                Some(line) => (line, true),
                // Apart: a handshake is large, and rare. Within, every question would carry the room for it along.
                None => (Box::pin(self.dial(origin)).await?, false),
            };
            let mut failed = match line.ask(request).await {
                Ok(answer) => return Ok((answer, line)),
                Err(failed) => failed,
            };
            match failed.take_message() {
                Some(unsent) if used => request = unsent,
                _ => return Err(Lost::Broken(io::Error::other(failed.into_error()))),
            }
        }
    }

    /// One that is still open, the freshest first.
    async fn kept(&self, origin: &Origin) -> Option<Box<Line>> {
        loop {
            let mut line = self.take(origin)?;
            if poll_fn(|context| Poll::Ready(line.poll_free(context))).await {
                return Some(line);
            }
        }
    }

    fn take(&self, origin: &Origin) -> Option<Box<Line>> {
        let mut idle = self.idle();
        let at = idle.lines.iter().rposition(|(known, ..)| known == origin)?;
        Some(idle.lines.remove(at).2)
    }

    pub(super) fn keep(self: &Arc<Self>, origin: Origin, line: Box<Line>) {
        let mut idle = self.idle();
        idle.lines.push((origin, Instant::now(), line));
        if !std::mem::replace(&mut idle.watched, true) {
            tokio::spawn(clear(Arc::downgrade(self)));
        }
    }

    fn idle(&self) -> MutexGuard<'_, Idle> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn dial(&self, origin: &Origin) -> Result<Box<Line>, Lost> {
        match timeout(self.connect, self.dialled(origin)).await {
            Ok(Ok(line)) => Ok(Box::new(line)),
            Ok(Err(error)) => Err(Lost::Unreached(error)),
            Err(_) => Err(Lost::Unreached(io::Error::new(io::ErrorKind::TimedOut, "it takes too long"))),
        }
    }

    async fn dialled(&self, origin: &Origin) -> io::Result<Line> {
        let Origin { scheme, authority } = origin;
        let target = Uri::builder().scheme(scheme.clone()).authority(authority.clone()).path_and_query("/");
        let target = target.build().map_err(io::Error::other)?;
        let stream = self.tcp.clone().oneshot(target).await.map_err(io::Error::other)?.into_inner();
        let wire: Box<dyn Wire> = match *scheme == Scheme::HTTPS {
            false => Box::new(stream),
            true => {
                let host = authority.host().trim_matches(['[', ']']).to_owned();
                let name = ServerName::try_from(host).map_err(io::Error::other)?;
                Box::new(self.tls.connect(name, stream).await?)
            }
        };
        Line::over(wire).await.map_err(io::Error::other)
    }
}

/// Until nothing is idle any more, or nobody can ask.
async fn clear(pool: Weak<Pool>) {
    loop {
        tokio::time::sleep(IDLE).await;
        let Some(pool) = pool.upgrade() else { return };
        let mut idle = pool.idle();
        let now = Instant::now();
        idle.lines.retain(|(_, since, _)| now - *since < IDLE);
        if idle.lines.is_empty() {
            idle.watched = false;
            return;
        }
    }
}
