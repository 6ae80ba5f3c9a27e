//! Whether and when to ask again. Pure: time and chance come from outside.

use std::time::Duration;

use tokio::time::Instant;

use crate::domain::backoff;
use crate::domain::model::{ModelCause, ModelError};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// From the first question on. What would take longer is given up at once.
    pub patience: Duration,
    /// Before the second question; doubled each time.
    pub first: Duration,
    pub longest: Duration,
    /// So often for answers that cannot be read or say nothing: waiting does not mend them.
    pub broken: u32,
    /// Says that it waits, as a thought.
    pub tells: bool,
}

impl Policy {
    /// For the agent, whose tasks may take their time.
    pub fn agent(patience: Duration) -> Self {
        let seconds = Duration::from_secs;
        Self { patience, first: seconds(1), longest: seconds(30), broken: 2, tells: true }
    }

    /// For facades: their clients ask again by themselves when they are told when.
    pub fn facade() -> Self {
        let (first, patience) = (Duration::from_millis(200), Duration::from_secs(2));
        Self { patience, first, longest: Duration::from_secs(1), broken: 1, tells: false }
    }
}

#[derive(Debug)]
pub(super) struct Retry {
    policy: Policy,
    began: Instant,
    failures: u32,
    broken: u32,
}

impl Retry {
    pub(super) fn new(policy: Policy, now: Instant) -> Self {
        Self { policy, began: now, failures: 0, broken: 0 }
    }

    /// How long to wait before asking again; none if there is no use.
    pub(super) fn after(&mut self, error: &ModelError, now: Instant, chance: u32) -> Option<Duration> {
        // What a script stages comes again, unless the script says that another try is welcome.
        let meant = error.staged.is_some() && error.retry_after.is_none();
        if !error.cause.is_passing() || meant {
            return None;
        }
        self.failures += 1;
        self.broken += u32::from(error.cause == ModelCause::Broken);
        let Policy { patience, first, longest, broken, .. } = self.policy;
        let usual = backoff::delay(first, longest, self.failures, chance);
        // Who was told when to come does not come sooner, nor all at once.
        let told = error.retry_after.map_or(Duration::ZERO, |told| told.saturating_add(usual / 5));
        let wait = usual.max(told);
        let left = patience.saturating_sub(now.duration_since(self.began));
        (wait <= left && self.broken <= broken).then_some(wait)
    }

    /// A short wait is not worth a word.
    pub(super) fn tells(&self, wait: Duration) -> bool {
        self.policy.tells && wait >= Duration::from_secs(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::model::Staged;

    fn waits(error: &ModelError, times: usize) -> Vec<Option<f64>> {
        let mut now = Instant::now();
        let mut retry = Retry::new(Policy::agent(Duration::from_secs(100)), now);
        let mut waits = Vec::new();
        for _ in 0..times {
            let wait = retry.after(error, now, u32::MAX);
            waits.push(wait.map(|wait| wait.as_secs_f64()));
            now += wait.unwrap_or_default();
        }
        waits
    }

    #[test]
    fn waits_double_until_patience_ends() {
        let down = ModelError::new(ModelCause::Unavailable, "");
        let expected = [Some(1.0), Some(2.0), Some(4.0), Some(8.0), Some(16.0), Some(30.0), Some(30.0), None];
        assert_eq!(waits(&down, 8), expected);
    }

    #[test]
    fn what_waiting_does_not_mend_is_not_waited_for() {
        for cause in [
            ModelCause::Invalid,
            ModelCause::TooLong,
            ModelCause::Denied,
            ModelCause::Forbidden,
            ModelCause::NotFound,
            ModelCause::Unsupported,
            ModelCause::Exhausted,
        ] {
            assert_eq!(waits(&ModelError::new(cause, ""), 1), [None], "{cause:?}");
        }
        assert_eq!(waits(&ModelError::new(ModelCause::Broken, ""), 3), [Some(1.0), Some(2.0), None]);
    }

    #[test]
    fn what_the_other_side_asks_for_is_honoured_or_given_up() {
        let limited = |seconds| ModelError {
            retry_after: Some(Duration::from_secs(seconds)),
            ..ModelError::new(ModelCause::Limited, "")
        };
        assert_eq!(waits(&limited(40), 3), [Some(40.2), Some(40.4), None]);
        assert_eq!(waits(&limited(101), 1), [None]);
        assert_eq!(waits(&limited(u64::MAX), 6), [None; 6]);
        assert_eq!(waits(&limited(0), 2), [Some(1.0), Some(2.0)]);
        let staged = |error| ModelError { staged: Some(Staged::Reset), ..error };
        assert_eq!(waits(&staged(limited(0)), 1), [Some(1.0)]);
        assert_eq!(waits(&staged(ModelError::new(ModelCause::Unavailable, "")), 1), [None]);
    }
}
