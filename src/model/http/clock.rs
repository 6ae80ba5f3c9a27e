//! The deadlines of one answer, and what is told when they are not kept or the server is lost. One timer for all of them: it is
//! set again only when it rings too early.

use std::error::Error;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http::Uri;
use http::uri::Authority;
use tokio::time::{Instant, Sleep, sleep_until};

use super::Deadlines;
use super::way::Lost;
use crate::domain::model::{ModelCause, ModelError};

pub(super) struct Clock {
    /// That is asked.
    server: Option<Authority>,
    deadlines: Deadlines,
    end: Instant,
    alarm: Pin<Box<Sleep>>,
    /// Since then nothing has come.
    quiet: Instant,
    /// For so long nothing may come now.
    patience: Duration,
    begun: bool,
}

impl Clock {
    /// Starts when the question is put.
    pub(super) fn start(uri: &Uri, deadlines: Deadlines) -> Self {
        let asked = Instant::now();
        let (end, patience) = (asked + deadlines.total, deadlines.first_byte);
        let alarm = Box::pin(sleep_until((asked + patience).min(end)));
        Self { server: uri.authority().cloned(), deadlines, end, alarm, quiet: asked, patience, begun: false }
    }

    pub(super) async fn until_first_byte<T>(
        &mut self,
        asked: impl Future<Output = T>,
    ) -> Result<T, ModelError> {
        let mut asked = pin!(asked);
        poll_fn(|context| match asked.as_mut().poll(context) {
            Poll::Ready(answered) => Poll::Ready(Ok(answered)),
            Poll::Pending => self.poll_alarm(context).map(Err),
        })
        .await
    }

    /// From now on nothing is waited for longer than this.
    pub(super) fn hurry(&mut self, patience: Duration) {
        if patience < self.patience {
            self.patience = patience;
            self.set();
        }
    }

    /// Something came.
    pub(super) fn came(&mut self) {
        self.quiet = Instant::now();
        if !std::mem::replace(&mut self.begun, true) {
            self.patience = self.deadlines.idle;
            // Later is found out when it rings; sooner has to be set.
            if self.deadlines.idle < self.deadlines.first_byte {
                self.set();
            }
        }
    }

    fn set(&mut self) {
        let due = (self.quiet + self.patience).min(self.end);
        self.alarm.as_mut().reset(due);
    }

    /// Rings at the end of patience, or of everything.
    pub(super) fn poll_alarm(&mut self, context: &mut Context<'_>) -> Poll<ModelError> {
        loop {
            ready!(self.alarm.as_mut().poll(context));
            let (now, silence) = (Instant::now(), self.quiet + self.patience);
            if now >= silence && silence <= self.end {
                let waited = self.patience.as_secs_f64();
                return Poll::Ready(self.unavailable(&format!("said nothing for {waited} s")));
            }
            if now >= self.end {
                let most = self.deadlines.total.as_secs_f64();
                return Poll::Ready(self.unavailable(&format!("took longer than {most} s")));
            }
            self.set();
        }
    }

    pub(super) fn too_long(&self, limit: usize) -> ModelError {
        let message = format!("{} answered with more than {limit} bytes", name(self.server.as_ref()));
        ModelError::new(ModelCause::Broken, message)
    }

    pub(super) fn lost(&self, lost: &Lost) -> ModelError {
        match lost {
            Lost::Nowhere => nowhere(self.server.as_ref()),
            Lost::Unreached(error) => self.unavailable(&format!("cannot be reached{}", why(error.as_ref()))),
            Lost::Broken(error) => {
                self.unavailable(&format!("broke the connection off{}", why(error.as_ref())))
            }
        }
    }

    fn unavailable(&self, what: &str) -> ModelError {
        ModelError::new(ModelCause::Unavailable, format!("{} {what}", name(self.server.as_ref())))
    }
}

/// A URL that cannot be asked is a setting, not the weather.
pub(super) fn nowhere(server: Option<&Authority>) -> ModelError {
    ModelError::new(ModelCause::Invalid, format!("{} cannot be asked: mend its base_url", name(server)))
}

/// `host:port`, for messages: the rest of a URL is nobody's business.
fn name(server: Option<&Authority>) -> String {
    match server.map(|server| (server.host(), server.port_u16())) {
        Some((host, Some(port))) => format!("{host}:{port}"),
        Some((host, None)) => host.to_owned(),
        None => "the model's server".to_owned(),
    }
}

/// What the system said, if it said something: the innermost words that are its own.
fn why(error: &(dyn Error + 'static)) -> String {
    let mut found = Some(error);
    let mut said = None;
    while let Some(error) = found {
        let own = error.downcast_ref::<io::Error>().filter(|io| io.get_ref().is_none() || is_late(io));
        said = own.map(ToString::to_string).or(said);
        found = error.source();
    }
    said.map(|said| format!(" ({said})")).unwrap_or_default()
}

fn is_late(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::TimedOut
}
