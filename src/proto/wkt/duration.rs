//! google.protobuf.Duration, as ProtoJSON reads it: `"1.5s"`, at most 10000 years either way. The type itself is
//! that of pbjson-types; generated code reads it through this one.

use std::fmt;

use pbjson_types::Duration;
use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};

/// About 10000 years.
const MAX_SECONDS: i64 = 315_576_000_000;

/// A duration that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadDuration(pub Duration);

impl<'de> Deserialize<'de> for ReadDuration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(DurationVisitor)
    }
}

struct DurationVisitor;

impl Visitor<'_> for DurationVisitor {
    type Value = ReadDuration;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("seconds such as \"1.5s\"")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<ReadDuration, E> {
        parse(text).map(ReadDuration).ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
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
