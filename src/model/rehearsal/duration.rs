//! Times as people write them: `200ms`, `1.5s`, `2m`.

use std::time::Duration;

use serde::{Deserialize, Deserializer, de};

/// Longer waits would only be a mistake in a script.
pub(super) const MOST: Duration = Duration::from_hours(1);
/// Quotas are filled up daily or monthly.
pub(super) const MOST_AFTER: Duration = Duration::from_hours(24 * 366);

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    up_to(MOST, deserializer)
}

/// When to try again.
pub(super) fn long<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    up_to(MOST_AFTER, deserializer).map(Some)
}

fn up_to<'de, D: Deserializer<'de>>(most: Duration, deserializer: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse(&text)
        .filter(|time| *time <= most)
        .ok_or_else(|| de::Error::custom(format_args!("{text:?} is not a time such as 200ms, 2s or 1m")))
}

/// As a recording writes it: whole milliseconds.
pub(super) fn print(time: Duration) -> String {
    format!("{}ms", time.as_millis())
}

fn parse(text: &str) -> Option<Duration> {
    let split = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(split);
    let seconds = number.trim().parse::<f64>().ok()?
        * match unit {
            "ms" => 0.001,
            "s" => 1.0,
            "m" => 60.0,
            _ => return None,
        };
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_their_unit() {
        for (text, expected) in [
            ("200ms", Some(200)),
            ("1.5s", Some(1500)),
            ("2m", Some(120_000)),
            ("5", None),
            ("-1s", None),
            ("2h", None),
            ("1e99s", None),
            ("3600000ms", Some(3_600_000)),
        ] {
            assert_eq!(parse(text), expected.map(Duration::from_millis), "{text}");
        }
        assert_eq!(print(MOST), "3600000ms");
    }
}
