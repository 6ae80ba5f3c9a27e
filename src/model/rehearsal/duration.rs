//! Times as people write them: `200ms`, `1.5s`, `2m`.

use std::time::Duration;

use serde::{Deserialize, Deserializer, de};

/// More would only be a mistake in a script.
const MOST: f64 = 3600.0;

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse(&text)
        .ok_or_else(|| de::Error::custom(format_args!("{text:?} is not a time such as 200ms, 2s or 1m")))
}

pub(super) fn optional<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    deserialize(deserializer).map(Some)
}

pub(super) fn parse(text: &str) -> Option<Duration> {
    let split = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(split);
    let seconds = number.trim().parse::<f64>().ok()?
        * match unit {
            "ms" => 0.001,
            "s" => 1.0,
            "m" => 60.0,
            _ => return None,
        };
    (0.0..=MOST).contains(&seconds).then(|| Duration::from_secs_f64(seconds))
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
            ("1e9s", None),
        ] {
            assert_eq!(parse(text), expected.map(Duration::from_millis), "{text}");
        }
    }
}
