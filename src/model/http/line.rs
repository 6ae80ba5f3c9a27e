//! One connection to a server, driven by whoever waits for its answer: it has no task of its own, so nobody is woken but the
//! one who reads. Knows no vendor, no deadline and no pool.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker, ready};

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::TrySendError;
use hyper::client::conn::http1::{Connection, SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::unconstrained;

use crate::domain::ears::{Ears, deaf};

/// TCP, with or without TLS.
pub(super) trait Wire: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Wire for T {}

pub(super) struct Line {
    ears: Ears,
    sender: SendRequest<Full<Bytes>>,
    connection: Connection<TokioIo<Box<dyn Wire>>, Full<Bytes>>,
}

/// What went wrong, and the request if nothing of it was sent.
pub(super) type Failed = TrySendError<Request<Full<Bytes>>>;

impl Line {
    pub(super) async fn over(wire: Box<dyn Wire>) -> hyper::Result<Self> {
        let (sender, connection) = handshake(TokioIo::new(wire)).await?;
        Ok(Self { ears: Ears::default(), sender, connection })
    }

    /// Whether another request can go out on it. Looks whether the other side has left meanwhile.
    pub(super) fn poll_free(&mut self, context: &mut Context<'_>) -> bool {
        self.poll_open(context) && self.sender.is_ready()
    }

    /// The head of the answer.
    pub(super) async fn ask(&mut self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, Failed> {
        let Self { ears, sender, connection } = self;
        // With a budget of its own: who has none left would be woken later, and nobody is.
        let mut answer = pin!(unconstrained(quietly(|| sender.try_send_request(request))));
        let mut open = true;
        poll_fn(|context| {
            open = open && ears.listen(context, |cx| Pin::new(&mut *connection).poll(cx)).is_pending();
            answer.as_mut().poll(&mut unheard())
        })
        .await
    }

    fn poll_open(&mut self, context: &mut Context<'_>) -> bool {
        let Self { ears, connection, .. } = self;
        ears.listen(context, |context| Pin::new(connection).poll(context)).is_pending()
    }
}

/// Whoever asks or reads drives the connection afterwards, and need not be told that it wants to be driven. What the connection says
/// while it is driven is heard: it may want to go on in another turn.
fn quietly<T>(act: impl FnOnce() -> T) -> T {
    deaf(act).0
}

/// What the connection hands over it hands over while it is polled, so it need not wake anybody for that.
fn unheard() -> Context<'static> {
    Context::from_waker(Waker::noop())
}

/// The body of an answer, with the line that it comes on. Dropping it hangs up.
pub(super) struct Heard {
    body: Incoming,
    line: Option<Box<Line>>,
}

impl Heard {
    pub(super) fn new(body: Incoming, line: Box<Line>) -> Self {
        Self { body, line: Some(line) }
    }

    pub(super) fn length(&self) -> Option<u64> {
        self.body.size_hint().exact()
    }

    pub(super) fn poll_piece(&mut self, context: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        loop {
            let frame = match self.poll_body() {
                Poll::Ready(frame) => frame,
                Poll::Pending => ready!(self.poll_line(context)),
            };
            match frame {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => return Poll::Ready(Some(Ok(data))),
                    Err(_trailers) => {}
                },
                Some(Err(error)) => return Poll::Ready(Some(Err(io::Error::other(error)))),
                None => return Poll::Ready(None),
            }
        }
    }

    /// Reads on. What comes of it is there at once, or never if the line is dead.
    fn poll_line(&mut self, context: &mut Context<'_>) -> Poll<Option<hyper::Result<Frame<Bytes>>>> {
        let open = self.line.as_mut().is_some_and(|line| line.poll_open(context));
        if !open {
            self.line = None;
        }
        match self.poll_body() {
            Poll::Pending if !open => Poll::Ready(None),
            frame => frame,
        }
    }

    /// What is there of the body. It wants more from then on, which the line is told when it is driven.
    fn poll_body(&mut self) -> Poll<Option<hyper::Result<Frame<Bytes>>>> {
        quietly(|| Pin::new(&mut self.body).poll_frame(&mut unheard()))
    }

    /// The line, if it can be used again. For whoever has heard the end: a line that broke off before is not there any more.
    pub(super) fn free(&mut self, context: &mut Context<'_>) -> Option<Box<Line>> {
        let mut line = self.line.take()?;
        line.poll_free(context).then_some(line)
    }
}
