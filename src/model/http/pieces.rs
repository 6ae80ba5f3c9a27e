//! The body of an answer, piece by piece, with its deadlines.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures::{Stream, StreamExt};

use super::body::Body;
use super::clock::Clock;
use crate::domain::model::ModelError;

pub struct Pieces {
    /// None once nothing more comes.
    body: Option<Body>,
    clock: Clock,
}

impl Pieces {
    pub(super) fn new(body: Body, clock: Clock) -> Self {
        Self { body: Some(body), clock }
    }

    pub(super) async fn whole(mut self, limit: usize) -> Result<Bytes, ModelError> {
        let Some(first) = self.next().await.transpose()? else { return Ok(Bytes::new()) };
        // Most often there is no second one, and the first need not be copied.
        let Some(second) = self.next().await.transpose()? else { return self.within(limit, first) };
        let mut whole = BytesMut::from(first);
        whole.extend_from_slice(&second);
        while whole.len() <= limit
            && let Some(piece) = self.next().await
        {
            whole.extend_from_slice(&piece?);
        }
        self.within(limit, whole.freeze())
    }

    fn within(&self, limit: usize, whole: Bytes) -> Result<Bytes, ModelError> {
        if whole.len() > limit { Err(self.clock.too_long(limit)) } else { Ok(whole) }
    }

    /// From now on nothing is waited for longer than this.
    pub fn hurry(&mut self, patience: Duration) {
        self.clock.hurry(patience);
    }
}

impl Stream for Pieces {
    type Item = Result<Bytes, ModelError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let Some(body) = &mut this.body else { return Poll::Ready(None) };
        let failed = match body.poll_piece(context) {
            Poll::Ready(Some(Ok(data))) => {
                this.clock.came();
                return Poll::Ready(Some(Ok(data)));
            }
            Poll::Ready(Some(Err(lost))) => Some(this.clock.lost(&lost)),
            Poll::Ready(None) => None,
            Poll::Pending => Some(ready!(this.clock.poll_alarm(context))),
        };
        this.body = None;
        Poll::Ready(failed.map(Err))
    }
}
