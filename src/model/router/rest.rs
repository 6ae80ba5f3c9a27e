//! Who should be left alone for a while: a backend that just failed is asked again only when nobody else is left, or when
//! its rest is over.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::table::Stop;
use crate::domain::model::{ModelCause, ModelError};

/// Where the other side does not say for how long.
const USUAL: Duration = Duration::from_secs(30);
const LONGEST: Duration = Duration::from_secs(300);
/// Names that clients make up must not add up.
const MOST: usize = 1000;

#[derive(Debug, Default)]
pub(super) struct Rests(Mutex<HashMap<Stop, Instant>>);

/// Whether somebody else may answer instead. What is wrong with the request or the key is wrong everywhere, or should
/// be known.
pub(super) fn passes_on(error: &ModelError) -> bool {
    matches!(
        error.cause,
        ModelCause::Limited
            | ModelCause::Exhausted
            | ModelCause::Unavailable
            | ModelCause::Failed
            | ModelCause::NotFound
    )
}

impl Rests {
    pub(super) fn begin(&self, stop: &Stop, error: &ModelError, now: Instant) {
        let length = error.retry_after.unwrap_or(USUAL).min(LONGEST);
        let mut rests = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if rests.len() >= MOST {
            rests.retain(|_, until| *until > now);
        }
        if rests.len() < MOST {
            rests.insert(stop.clone(), now + length);
        }
    }

    pub(super) fn end(&self, stop: &Stop) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(stop);
    }

    /// Those that rest come last.
    pub(super) fn order(&self, stops: &mut [Stop], now: Instant) {
        if stops.len() > 1 {
            let rests = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            stops.sort_by_key(|stop| rests.get(stop).is_some_and(|until| *until > now));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_rests_comes_last_until_the_rest_is_over() {
        let stop = |model: &str| Stop { backend: 0, model: model.to_owned() };
        let (rests, now) = (Rests::default(), Instant::now());
        let ordered = |after: u64| {
            let mut stops = [stop("a"), stop("b")];
            rests.order(&mut stops, now + Duration::from_secs(after));
            stops.map(|stop| stop.model).concat()
        };
        assert_eq!(ordered(0), "ab");
        let told = ModelError {
            retry_after: Some(Duration::from_secs(10)),
            ..ModelError::new(ModelCause::Limited, "")
        };
        rests.begin(&stop("a"), &told, now);
        assert_eq!([ordered(0), ordered(9), ordered(10)], ["ba", "ba", "ab"]);
        rests.begin(&stop("b"), &ModelError::new(ModelCause::Unavailable, ""), now);
        assert_eq!([ordered(0), ordered(10), ordered(31)], ["ab", "ab", "ab"]);
        rests.begin(&stop("a"), &told, now);
        rests.end(&stop("a"));
        assert_eq!(ordered(0), "ab");
    }
}
