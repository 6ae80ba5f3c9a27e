//! When to try again. Pure: chance comes from outside. Webhooks, the loop that sends them and models ask it.

use std::time::Duration;

/// Behind the `failures`th failure in a row: doubled each time up to the longest, then anywhere in the upper half of
/// that, so that webhooks of one receiver that failed together do not come back together.
pub fn delay(first: Duration, longest: Duration, failures: u32, chance: u32) -> Duration {
    let factor = 1_u32.checked_shl(failures.saturating_sub(1)).unwrap_or(u32::MAX);
    let half = first.saturating_mul(factor).min(longest) / 2;
    half + half.mul_f64(f64::from(chance) / f64::from(u32::MAX))
}

/// Evenly spread. A system without randomness makes everybody wait for the longest, which is safe.
pub fn chance() -> u32 {
    getrandom::u32().unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_the_longest_and_spread_over_the_upper_half() {
        let delay =
            |failures, chance| delay(Duration::from_secs(1), Duration::from_mins(5), failures, chance);
        for (failures, seconds) in [(1, 1.0), (2, 2.0), (3, 4.0), (9, 256.0), (10, 300.0), (100, 300.0)] {
            assert_eq!(delay(failures, u32::MAX).as_secs_f64(), seconds);
            assert_eq!(delay(failures, 0).as_secs_f64(), seconds / 2.0);
        }
        assert_eq!(delay(0, u32::MAX), Duration::from_secs(1));
    }
}
