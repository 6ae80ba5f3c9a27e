//! From the bytes of an answer to its chunks: all that one piece completes are there at once, and whoever leaves ends the
//! connection. Knows no dialect, which is the reader's; the backends put both together.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures::future::BoxFuture;
use futures::{Stream, StreamExt};

use super::http::Pieces;
use crate::domain::model::{Chunks, ModelError};
use crate::proto::gemini::GenerateContentResponse;

/// Chunks that are there, and perhaps the error that ends them.
pub type Out = VecDeque<Result<GenerateContentResponse, ModelError>>;

/// Reads one dialect. Pure.
pub trait Reader: Send + Unpin + 'static {
    fn push(&mut self, bytes: &[u8], out: &mut Out);

    /// Nothing more comes.
    fn finish(&mut self, out: &mut Out);

    /// The answer is whole, whatever may still come.
    fn is_whole(&self) -> bool;
}

/// Behind a whole answer there may be a last word on what it took, and nothing to wait for long.
const REST: Duration = Duration::from_secs(2);

pub fn chunks(pieces: Pieces, reader: impl Reader) -> Chunks {
    Read { pieces: Some(Box::pin(pieces)), reader, out: Out::new() }.boxed()
}

/// Chunks of an answer that has to be opened first. What opening it took is gone as soon as it is open: streams are long, and
/// there are many.
pub fn opened(opening: impl Future<Output = Result<Chunks, ModelError>> + Send + 'static) -> Chunks {
    Opened::Opening(Box::pin(opening)).boxed()
}

enum Opened {
    Opening(BoxFuture<'static, Result<Chunks, ModelError>>),
    Open(Chunks),
    Failed,
}

impl Stream for Opened {
    type Item = Result<GenerateContentResponse, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            match this {
                Self::Open(chunks) => return chunks.poll_next_unpin(context),
                Self::Failed => return Poll::Ready(None),
                Self::Opening(opening) => match ready!(opening.as_mut().poll(context)) {
                    Ok(chunks) => *this = Self::Open(chunks),
                    Err(error) => {
                        *this = Self::Failed;
                        return Poll::Ready(Some(Err(error)));
                    }
                },
            }
        }
    }
}

struct Read<R> {
    /// None once nothing more is wanted.
    pieces: Option<Pin<Box<Pieces>>>,
    reader: R,
    out: Out,
}

impl<R: Reader> Stream for Read<R> {
    type Item = Result<GenerateContentResponse, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            match this.out.pop_front() {
                Some(Err(error)) => {
                    // Whatever comes behind an error is not the answer any more.
                    this.out.clear();
                    this.pieces = None;
                    return Poll::Ready(Some(Err(error)));
                }
                Some(chunk) => return Poll::Ready(Some(chunk)),
                None => {}
            }
            let Some(pieces) = &mut this.pieces else { return Poll::Ready(None) };
            match ready!(pieces.poll_next_unpin(context)) {
                Some(Ok(piece)) => {
                    this.reader.push(&piece, &mut this.out);
                    if this.reader.is_whole() {
                        pieces.hurry(REST);
                    }
                }
                Some(Err(error)) if !this.reader.is_whole() => this.out.push_back(Err(error)),
                // A connection that ends badly behind a whole answer takes nothing from it.
                Some(Err(_)) | None => {
                    this.pieces = None;
                    this.reader.finish(&mut this.out);
                }
            }
        }
    }
}
