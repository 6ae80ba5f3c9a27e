//! Cuts: which failures mean that nobody answered, so that the same may be asked again, and how often that is done.

use std::time::Duration;

use tokio::time::Instant;
use tonic::{Code, Status};

use crate::domain::backoff;
use crate::domain::error::details;

/// A server that restarts is back before that; one that is gone is not waited for without end.
const PATIENCE: Duration = Duration::from_secs(60);
const FIRST: Duration = Duration::from_millis(200);
const LONGEST: Duration = Duration::from_secs(3);
/// A stream that stood for so long was one, though nothing came: the next cut is another one.
const STOOD: Duration = Duration::from_secs(5);

/// Whether the call may never have got there, or its answer never came. What the server itself says has details.
pub fn is_cut(status: &Status) -> bool {
    match status.code() {
        Code::Unavailable => true,
        Code::Unknown | Code::Internal | Code::Cancelled | Code::DeadlineExceeded | Code::Aborted => {
            details(status).is_none()
        }
        _ => false,
    }
}

/// Whether nobody is there just now, rather than somebody who says something else.
pub fn is_away(status: &Status) -> bool {
    status.code() == Code::Unavailable
}

/// Attempts in a row.
#[derive(Debug, Default)]
pub struct Tries {
    failures: u32,
    since: Option<Instant>,
    opened: Option<Instant>,
}

impl Tries {
    /// Something came through.
    pub fn worked(&mut self) {
        *self = Self::default();
    }

    /// There is a stream, of which nothing has come yet.
    pub fn opened(&mut self) {
        self.opened = Some(Instant::now());
    }

    /// How long to wait before the next; none when it is time to give up.
    pub fn failed(&mut self) -> Option<Duration> {
        if self.opened.take().is_some_and(|opened| opened.elapsed() >= STOOD) {
            self.worked();
        }
        let since = *self.since.get_or_insert_with(Instant::now);
        self.failures += 1;
        (since.elapsed() < PATIENCE).then(|| backoff::delay(FIRST, LONGEST, self.failures, backoff::chance()))
    }
}

/// Calls until it is answered. Only for what may be sent twice.
pub async fn patiently<T, F: Future<Output = Result<T, Status>>>(
    mut call: impl FnMut() -> F,
) -> Result<T, Status> {
    let mut tries = Tries::default();
    loop {
        match call().await {
            Err(status) if is_cut(&status) => match tries.failed() {
                Some(delay) => tokio::time::sleep(delay).await,
                None => return Err(status),
            },
            answered => return answered,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::error::{Cause, Error};

    #[test]
    fn what_the_server_says_is_no_cut() {
        for (status, cut) in [
            (Status::unavailable("connection refused"), true),
            (Status::unknown("h2 protocol error"), true),
            (Status::internal("broken"), true),
            (Status::from(Error::new(Cause::Internal, "its log says why")), false),
            (Status::not_found("none"), false),
            (Status::unauthenticated("no"), false),
            (Status::from(Error::new(Cause::TooManyConnections, "later")), true),
        ] {
            assert_eq!(is_cut(&status), cut, "{status:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn tries_end_at_last() {
        let (mut tries, began) = (Tries::default(), Instant::now());
        while let Some(delay) = tries.failed() {
            tokio::time::sleep(delay).await;
        }
        // By the clock: it goes in whole milliseconds, so it is a little ahead of the sum of the waits.
        let waited = began.elapsed();
        assert!((PATIENCE..PATIENCE + LONGEST).contains(&waited), "{waited:?}");
        tries.worked();
        assert!(tries.failed().is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_cut_of_a_stream_that_stood_is_another_one() {
        let mut tries = Tries::default();
        for _ in 0..3 {
            assert!(tries.failed().is_some());
            tries.opened();
            tokio::time::sleep(PATIENCE * 2).await;
        }
        // One that only opens does not count.
        let began = Instant::now();
        while let Some(delay) = tries.failed() {
            tokio::time::sleep(delay).await;
            tries.opened();
        }
        assert!(began.elapsed() < PATIENCE + LONGEST * 2);
    }
}
