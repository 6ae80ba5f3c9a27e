//! The body of an answer, piece by piece, with its deadlines. One timer for all pieces: it is set again only when it
//! rings too early.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures::{Stream, StreamExt};
use http_body::Body;
use tokio::time::{Instant, Sleep, sleep_until};

use super::Clock;
use crate::domain::model::{ModelCause, ModelError};

pub struct Pieces {
    /// None once nothing more comes.
    body: Option<reqwest::Body>,
    alarm: Pin<Box<Sleep>>,
    /// Since then nothing has come.
    quiet: Instant,
    /// For so long nothing may come now.
    patience: Duration,
    begun: bool,
    clock: Clock,
}

impl Pieces {
    pub(super) fn new(body: reqwest::Body, clock: Clock) -> Self {
        let (quiet, patience) = (clock.asked, clock.deadlines.first_byte);
        let alarm = Box::pin(sleep_until((quiet + patience).min(clock.end())));
        Self { body: Some(body), alarm, quiet, patience, begun: false, clock }
    }

    pub(super) async fn whole(mut self, limit: usize) -> Result<Bytes, ModelError> {
        let mut whole = BytesMut::new();
        while let Some(piece) = self.next().await {
            whole.extend_from_slice(&piece?);
            if whole.len() > limit {
                let message = format!("{} answered with more than {limit} bytes", self.clock.host);
                return Err(ModelError::new(ModelCause::Broken, message));
            }
        }
        Ok(whole.freeze())
    }

    /// From now on nothing is waited for longer than this.
    pub fn hurry(&mut self, patience: Duration) {
        if patience < self.patience {
            self.patience = patience;
            let due = (self.quiet + patience).min(self.clock.end());
            self.alarm.as_mut().reset(due);
        }
    }

    /// Rings at the end of patience, or of everything.
    fn poll_alarm(&mut self, context: &mut Context<'_>) -> Poll<ModelError> {
        loop {
            ready!(self.alarm.as_mut().poll(context));
            let (now, end, silence) = (Instant::now(), self.clock.end(), self.quiet + self.patience);
            if now >= end {
                let most = self.clock.deadlines.total.as_secs_f64();
                return Poll::Ready(self.clock.unavailable(&format!("took longer than {most} s")));
            }
            if now >= silence {
                return Poll::Ready(self.clock.silent(self.patience));
            }
            self.alarm.as_mut().reset(silence.min(end));
        }
    }

    fn came(&mut self) {
        self.quiet = Instant::now();
        if !std::mem::replace(&mut self.begun, true) {
            self.patience = self.clock.deadlines.idle;
            let first = (self.quiet + self.patience).min(self.clock.end());
            self.alarm.as_mut().reset(first);
        }
    }
}

impl Stream for Pieces {
    type Item = Result<Bytes, ModelError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            let Some(body) = &mut this.body else { return Poll::Ready(None) };
            let failed = match Pin::new(body).poll_frame(context) {
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) => {
                        this.came();
                        return Poll::Ready(Some(Ok(data)));
                    }
                    Err(_trailers) => continue,
                },
                Poll::Ready(Some(Err(error))) => Some(this.clock.unreached(&error)),
                Poll::Ready(None) => None,
                Poll::Pending => Some(ready!(this.poll_alarm(context))),
            };
            this.body = None;
            return Poll::Ready(failed.map(Err));
        }
    }
}
