//! Bytes of another server as the body of an answer. Where their number is known, the last of them is told together with the
//! end, so that head and body leave in one write.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{Stream, StreamExt};
use http_body::{Body, Frame, SizeHint};
use tonic::Status;

use crate::domain::model::ModelError;
use crate::service::facade::fault;

pub(super) struct Passed {
    bytes: BoxStream<'static, Result<Bytes, ModelError>>,
    /// How many are to come, if that is known.
    left: Option<u64>,
    ended: bool,
}

impl Passed {
    pub(super) fn new(bytes: BoxStream<'static, Result<Bytes, ModelError>>, length: Option<u64>) -> Self {
        Self { bytes, left: length, ended: false }
    }

    /// Whoever counts along should hear of the end: nobody polls behind the last byte.
    fn count(&mut self, came: usize, cx: &mut Context<'_>) {
        self.left = self.left.map(|left| left.saturating_sub(came as u64));
        if self.left == Some(0) {
            self.ended = matches!(self.bytes.poll_next_unpin(cx), Poll::Ready(None));
        }
    }
}

impl Body for Passed {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let this = &mut *self;
        if this.ended {
            return Poll::Ready(None);
        }
        Poll::Ready(match ready!(Pin::new(&mut this.bytes).poll_next(cx)) {
            Some(Ok(bytes)) => {
                this.count(bytes.len(), cx);
                Some(Ok(Frame::data(bytes)))
            }
            Some(Err(error)) => Some(Err(fault(error).into())),
            None => None,
        })
    }

    fn is_end_stream(&self) -> bool {
        self.ended
    }

    fn size_hint(&self) -> SizeHint {
        self.left.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}
