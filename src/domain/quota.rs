//! How much of a model somebody may use: which ones, how many requests and how many tokens in a minute. Pure: the time is
//! told, nobody looks at a clock here. The guard of the facades asks; settings say what holds.

use std::time::Duration;

use super::pattern::covers;

/// What one key may ask. The default sets no bounds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Allowance {
    /// Names, in which `*` stands for anything; none for all.
    pub models: Vec<String>,
    /// In a minute.
    pub requests: Option<u32>,
    /// In a minute, of questions and answers together.
    pub tokens: Option<u32>,
}

impl Allowance {
    pub fn allows(&self, model: &str) -> bool {
        self.models.is_empty() || self.models.iter().any(|pattern| covers(pattern, model))
    }
}

const MINUTE: f64 = 60.0;

/// Fills evenly, up to what a minute brings. What is taken out may be more than is in it when it was not known
/// beforehand; then nothing more is given until that is made up for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bucket {
    size: f64,
    left: f64,
    /// When `left` was so.
    at: Duration,
}

/// What a bucket holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Level {
    pub limit: u32,
    pub remaining: u32,
    /// Until it is full again.
    pub reset: Duration,
}

impl Bucket {
    /// Full. `now` is since any moment, always the same one.
    pub fn new(per_minute: u32, now: Duration) -> Self {
        let size = f64::from(per_minute);
        Self { size, left: size, at: now }
    }

    fn fill(&mut self, now: Duration) {
        let passed = now.saturating_sub(self.at).as_secs_f64();
        self.left = (self.left + passed * self.size / MINUTE).min(self.size);
        self.at = self.at.max(now);
    }

    /// How long until this much can be taken; nothing if it can be now. What is more than a bucket ever holds can be taken
    /// from a full one.
    pub fn wait(&mut self, amount: u32, now: Duration) -> Duration {
        self.fill(now);
        let missing = f64::from(amount).min(self.size) - self.left;
        if missing <= 0.0 { Duration::ZERO } else { seconds(missing * MINUTE / self.size) }
    }

    /// Whatever is in it.
    pub fn take(&mut self, amount: u32, now: Duration) {
        self.fill(now);
        self.left -= f64::from(amount);
    }

    /// Was taken and not used.
    pub fn give_back(&mut self, amount: u32, now: Duration) {
        self.fill(now);
        self.left = (self.left + f64::from(amount)).min(self.size);
    }

    pub fn level(&mut self, now: Duration) -> Level {
        self.fill(now);
        let left = self.left.max(0.0).floor();
        // Whole and within the size, which came from such a number.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let (limit, remaining) = (self.size as u32, left as u32);
        Level { limit, remaining, reset: seconds((self.size - self.left) * MINUTE / self.size) }
    }
}

/// Rounded up to a millisecond, so that whoever waits for just that long does not come too early.
fn seconds(seconds: f64) -> Duration {
    let millis = (seconds * 1000.0).ceil().clamp(0.0, f64::from(u32::MAX));
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let millis = millis as u64;
    Duration::from_millis(millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: f64) -> Duration {
        Duration::from_secs_f64(seconds)
    }

    #[test]
    fn a_list_of_models_holds_for_all_if_it_is_empty() {
        for (models, model, allowed) in [
            (&[][..], "anything", true),
            (&["gemini-*"], "gemini-3.8-flash", true),
            (&["gemini-*"], "gpt-4o", false),
            (&["gpt-4o", "claude-*"], "gpt-4o", true),
            (&["gpt-4o"], "gpt-4o-mini", false),
        ] {
            let models = models.iter().map(|model| (*model).to_owned()).collect();
            let allowance = Allowance { models, ..Allowance::default() };
            assert_eq!(allowance.allows(model), allowed, "{model}");
        }
    }

    #[test]
    fn a_bucket_fills_evenly_and_says_exactly_how_long_to_wait() {
        let mut bucket = Bucket::new(6, at(0.0));
        for _ in 0..6 {
            assert_eq!(bucket.wait(1, at(0.0)), Duration::ZERO);
            bucket.take(1, at(0.0));
        }
        assert_eq!(bucket.wait(1, at(0.0)), at(10.0));
        assert_eq!(bucket.wait(1, at(7.5)), at(2.5));
        assert_eq!(bucket.level(at(7.5)), Level { limit: 6, remaining: 0, reset: at(52.5) });
        assert_eq!(bucket.wait(1, at(10.0)), Duration::ZERO);
        assert_eq!(bucket.level(at(600.0)), Level { limit: 6, remaining: 6, reset: at(0.0) });
    }

    #[test]
    fn what_was_not_known_beforehand_is_made_up_for() {
        let mut bucket = Bucket::new(60, at(0.0));
        bucket.take(90, at(0.0));
        assert_eq!(bucket.wait(1, at(0.0)), at(31.0));
        assert_eq!(bucket.level(at(0.0)), Level { limit: 60, remaining: 0, reset: at(90.0) });
        bucket.give_back(40, at(0.0));
        assert_eq!(bucket.wait(10, at(0.0)), Duration::ZERO);
        bucket.give_back(1000, at(0.0));
        assert_eq!(bucket.level(at(0.0)).remaining, 60);
    }

    #[test]
    fn more_than_a_minute_brings_waits_for_a_full_bucket_and_not_for_ever() {
        let mut bucket = Bucket::new(60, at(0.0));
        assert_eq!(bucket.wait(1000, at(0.0)), Duration::ZERO);
        bucket.take(1, at(0.0));
        assert_eq!(bucket.wait(1000, at(0.0)), at(1.0));
    }

    #[test]
    fn a_clock_that_goes_back_gives_nothing() {
        let mut bucket = Bucket::new(60, at(100.0));
        bucket.take(60, at(100.0));
        assert_eq!(bucket.level(at(50.0)).remaining, 0);
        assert_eq!(bucket.level(at(101.0)).remaining, 1);
    }
}
