//! The body of an answer on either way, in pieces.

use std::error::Error;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::Body as _;
use hyper::body::Incoming;

use super::line::{Heard, Line};
use super::pool::{Origin, Pool};
use super::way::Lost;

pub(super) enum Body {
    /// With where its line belongs.
    Direct(Heard, Arc<Pool>, Option<Origin>),
    Proxied(reqwest::Body),
}

impl Body {
    pub(super) fn direct(body: Incoming, line: Box<Line>, pool: Arc<Pool>, origin: Origin) -> Self {
        Self::Direct(Heard::new(body, line), pool, Some(origin))
    }

    pub(super) fn length(&self) -> Option<u64> {
        match self {
            Self::Direct(heard, ..) => heard.length(),
            Self::Proxied(body) => body.size_hint().exact(),
        }
    }

    pub(super) fn poll_piece(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, Lost>>> {
        match self {
            Self::Direct(heard, pool, origin) => {
                let piece = ready!(heard.poll_piece(context));
                if piece.is_none()
                    && let (Some(line), Some(origin)) = (heard.free(context), origin.take())
                {
                    pool.keep(origin, line);
                }
                Poll::Ready(piece.map(|piece| piece.map_err(broken)))
            }
            Self::Proxied(body) => loop {
                match ready!(Pin::new(&mut *body).poll_frame(context)) {
                    Some(Ok(frame)) => match frame.into_data() {
                        Ok(data) => return Poll::Ready(Some(Ok(data))),
                        Err(_trailers) => {}
                    },
                    Some(Err(error)) => return Poll::Ready(Some(Err(broken(error)))),
                    None => return Poll::Ready(None),
                }
            },
        }
    }
}

fn broken(error: impl Error + Send + Sync + 'static) -> Lost {
    Lost::Broken(error.into())
}
