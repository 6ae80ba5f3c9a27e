//! Plain members as vendors send them: `null` for nothing, numbers as text, one thing where a list is asked for.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Nothing, or what JSON has no number for.
pub fn no_number(value: &Option<f64>) -> bool {
    value.is_none_or(|number| !number.is_finite())
}

/// A whole number without a point, as most write it: where the vendor has an integer it is one.
pub fn print_double<S: Serializer>(value: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    #[allow(clippy::cast_possible_truncation, reason = "doubles below this bound are exact integers")]
    match value {
        Some(number) if number.fract() == 0.0 && number.abs() < EXACT => {
            serializer.serialize_i64(*number as i64)
        }
        other => other.serialize(serializer),
    }
}

pub fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// A list, or the only thing in it without the brackets, as older documentation writes `parts`.
pub fn one_or_many<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    deserializer.deserialize_any(OneOrMany(PhantomData))
}

struct OneOrMany<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for OneOrMany<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_unit<E>(self) -> Result<Vec<T>, E> {
        Ok(Vec::new())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<T>, A::Error> {
        // Most hold one, which is large; room for four would be the first that a list takes by itself.
        let Some(first) = seq.next_element()? else { return Ok(Vec::new()) };
        let mut items = vec![first];
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(items)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Vec<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(|item| vec![item])
    }
}

pub fn integer<'de, D: Deserializer<'de>, T: TryFrom<i64> + Default>(deserializer: D) -> Result<T, D::Error> {
    optional_integer(deserializer).map(Option::unwrap_or_default)
}

/// `5`, `5.0` or `"5"`.
pub fn optional_integer<'de, D: Deserializer<'de>, T: TryFrom<i64>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    let Some(number) = deserializer.deserialize_any(Number::<i64>(PhantomData))? else { return Ok(None) };
    let fits = || D::Error::invalid_value(Unexpected::Signed(number), &"a whole number that fits");
    T::try_from(number).map(Some).map_err(|_| fits())
}

/// A number, also as text; never one that JSON cannot print.
pub fn double<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    deserializer.deserialize_any(Number(PhantomData))
}

/// Reads what is printed as a number or as its text.
struct Number<T>(PhantomData<T>);

/// As it came, without a way over its text where it came as a number.
trait Numeric: Sized {
    fn of_text(text: &str) -> Option<Self>;

    fn of_whole(number: i128) -> Option<Self>;

    fn of_double(number: f64) -> Option<Self>;
}

impl Numeric for i64 {
    /// As a whole number first, so that none loses a digit on its way.
    fn of_text(text: &str) -> Option<Self> {
        text.parse().ok().or_else(|| text.parse().ok().and_then(Self::of_double))
    }

    fn of_whole(number: i128) -> Option<Self> {
        number.try_into().ok()
    }

    fn of_double(number: f64) -> Option<Self> {
        // The greatest double below the end of int64; above it, the nearest int64 would be another number.
        const END: f64 = 9_223_372_036_854_775_808.0;
        #[allow(clippy::cast_possible_truncation, reason = "what has a fraction or does not fit was refused")]
        (number.fract() == 0.0 && number.abs() < END).then_some(number as Self)
    }
}

impl Numeric for f64 {
    fn of_text(text: &str) -> Option<Self> {
        text.parse().ok().and_then(Self::of_double)
    }

    #[allow(clippy::cast_precision_loss, reason = "the nearest double is what a double means")]
    fn of_whole(number: i128) -> Option<Self> {
        Some(number as Self)
    }

    fn of_double(number: f64) -> Option<Self> {
        Some(number).filter(|number| number.is_finite())
    }
}

impl<T: Numeric> Visitor<'_> for Number<T> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    fn visit_unit<E>(self) -> Result<Option<T>, E> {
        Ok(None)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Option<T>, E> {
        let wrong = || E::invalid_value(Unexpected::Signed(number), &self);
        T::of_whole(number.into()).map(Some).ok_or_else(wrong)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Option<T>, E> {
        let wrong = || E::invalid_value(Unexpected::Unsigned(number), &self);
        T::of_whole(number.into()).map(Some).ok_or_else(wrong)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Option<T>, E> {
        let wrong = || E::invalid_value(Unexpected::Float(number), &self);
        T::of_double(number).map(Some).ok_or_else(wrong)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Option<T>, E> {
        T::of_text(text).map(Some).ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
    }
}
