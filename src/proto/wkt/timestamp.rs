//! google.protobuf.Timestamp: printed in UTC with `Z`, read with any offset.

use std::fmt;

use chrono::{DateTime, SecondsFormat, Utc};
use serde::de::{self, Deserializer, Visitor};
use serde::ser::{self, Serializer};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, PartialEq, Eq, Hash, prost::Message)]
pub struct Timestamp {
    #[prost(int64, tag = "1")]
    pub seconds: i64,
    #[prost(int32, tag = "2")]
    pub nanos: i32,
}

/// 0001-01-01T00:00:00Z to 9999-12-31T23:59:59Z, as ProtoJSON bounds it.
const SECONDS: std::ops::RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;

impl From<DateTime<Utc>> for Timestamp {
    fn from(time: DateTime<Utc>) -> Self {
        // The nanoseconds of a leap second reach 2e9; a Timestamp has no leap seconds.
        let nanos = time.timestamp_subsec_nanos().min(999_999_999);
        Self { seconds: time.timestamp(), nanos: nanos.cast_signed() }
    }
}

impl Timestamp {
    /// To the millisecond, as A2A recommends and stores keep it.
    pub fn of(time: std::time::SystemTime) -> Self {
        let exact = Self::from(DateTime::<Utc>::from(time));
        Self { nanos: exact.nanos - exact.nanos % 1_000_000, ..exact }
    }

    /// None outside of the years 1 to 9999, or with impossible nanoseconds.
    pub fn to_utc(self) -> Option<DateTime<Utc>> {
        let nanos = u32::try_from(self.nanos).ok().filter(|n| *n < 1_000_000_000)?;
        SECONDS.contains(&self.seconds).then(|| DateTime::from_timestamp(self.seconds, nanos)).flatten()
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let time =
            self.to_utc().ok_or_else(|| ser::Error::custom("a timestamp outside of the years 1 to 9999"))?;
        serializer.serialize_str(&time.to_rfc3339_opts(SecondsFormat::AutoSi, true))
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(TimestampVisitor)
    }
}

struct TimestampVisitor;

impl Visitor<'_> for TimestampVisitor {
    type Value = Timestamp;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an RFC 3339 time such as \"2026-01-31T12:00:00Z\"")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Timestamp, E> {
        let bad = || E::invalid_value(de::Unexpected::Str(text), &self);
        // chrono also reads a blank, lower case, leap seconds and fractions that a Timestamp cannot hold.
        let (seconds, fraction) = (text.get(17..19), text.get(19..).unwrap_or_default());
        let too_fine = fraction.bytes().skip(1).take_while(u8::is_ascii_digit).count() > 9;
        if text.as_bytes().get(10) != Some(&b'T') || text.ends_with('z') || seconds == Some("60") || too_fine
        {
            return Err(bad());
        }
        let time = DateTime::parse_from_rfc3339(text).map_err(|_| bad())?;
        Timestamp::from(time.to_utc()).to_utc().map(Timestamp::from).ok_or_else(bad)
    }
}
