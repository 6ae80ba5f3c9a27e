//! google.protobuf.Duration: `"1.5s"`, at most 10000 years either way. pbjson-types panics at some texts and takes
//! others that ProtoJSON does not have.

use std::fmt;

use serde::de::{self, Deserializer, Visitor};
use serde::ser::{self, Serializer};
use serde::{Deserialize, Serialize};

/// About 10000 years.
const MAX_SECONDS: i64 = 315_576_000_000;
const NANOS: i32 = 1_000_000_000;

#[derive(Clone, Copy, PartialEq, Eq, Hash, prost::Message)]
pub struct Duration {
    #[prost(int64, tag = "1")]
    pub seconds: i64,
    #[prost(int32, tag = "2")]
    pub nanos: i32,
}

impl From<std::time::Duration> for Duration {
    fn from(time: std::time::Duration) -> Self {
        let seconds = i64::try_from(time.as_secs()).unwrap_or(MAX_SECONDS).min(MAX_SECONDS);
        Self { seconds, nanos: time.subsec_nanos().cast_signed() }
    }
}

impl Serialize for Duration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (seconds, nanos) = (self.seconds, self.nanos);
        let opposed = (seconds > 0 && nanos < 0) || (seconds < 0 && nanos > 0);
        if opposed
            || seconds.unsigned_abs() > MAX_SECONDS.unsigned_abs()
            || nanos.unsigned_abs() >= NANOS.unsigned_abs()
        {
            return Err(ser::Error::custom("a duration outside of 10000 years"));
        }
        let sign = if seconds < 0 || nanos < 0 { "-" } else { "" };
        // Nothing, or as many digits as it takes in groups of three.
        let digits = format!("{:09}", nanos.unsigned_abs());
        let fraction = match digits.trim_end_matches("000") {
            "" => String::new(),
            rest => format!(".{rest}"),
        };
        serializer.collect_str(&format_args!("{sign}{}{fraction}s", seconds.unsigned_abs()))
    }
}

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(DurationVisitor)
    }
}

struct DurationVisitor;

impl Visitor<'_> for DurationVisitor {
    type Value = Duration;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("seconds such as \"1.5s\"")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Duration, E> {
        parse(text).ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
    }
}

fn parse(text: &str) -> Option<Duration> {
    let number = text.strip_suffix('s')?;
    let (negative, number) = number.strip_prefix('-').map_or((false, number), |rest| (true, rest));
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let seconds: i64 = digits(whole)?.parse().ok().filter(|seconds| *seconds <= MAX_SECONDS)?;
    let nanos: i32 = format!("{:0<9}", digits(fraction).filter(|f| f.len() <= 9)?).parse().ok()?;
    Some(if negative { Duration { seconds: -seconds, nanos: -nanos } } else { Duration { seconds, nanos } })
}

/// Digits and nothing else: `parse` would take a sign as well.
fn digits(text: &str) -> Option<&str> {
    (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())).then_some(text)
}
