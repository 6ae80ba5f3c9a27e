//! Members that hold any JSON as the text that stood there, so that numbers and the order of members survive. The
//! empty text is absence.

use serde::ser::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// Nothing is mostly left out; where it is printed it is `null`.
pub fn serialize<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    if text.is_empty() { serializer.serialize_none() } else { Raw(text).serialize(serializer) }
}

pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = Box::<RawValue>::deserialize(deserializer)?;
    Ok(if text.get() == "null" { String::new() } else { Box::<str>::from(text).into_string() })
}

/// Several of them.
pub mod list {
    use super::{Deserialize, Deserializer, Raw, RawValue, Serializer};

    pub fn serialize<S: Serializer>(texts: &[String], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(texts.iter().map(|text| Raw(text)))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
        let texts = Option::<Vec<Box<RawValue>>>::deserialize(deserializer)?.unwrap_or_default();
        Ok(texts.into_iter().map(|text| Box::<str>::from(text).into_string()).collect())
    }
}

/// Prints a text that must be JSON. Line breaks can only stand between its tokens, and would end a server-sent event.
pub(in crate::proto) struct Raw<'a>(pub(in crate::proto) &'a str);

impl Serialize for Raw<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bad = |e: serde_json::Error| S::Error::custom(format_args!("a member is not JSON: {e}"));
        if self.0.contains(['\n', '\r']) {
            let line = self.0.replace(['\n', '\r'], " ");
            return serde_json::from_str::<&RawValue>(&line).map_err(bad)?.serialize(serializer);
        }
        serde_json::from_str::<&RawValue>(self.0).map_err(bad)?.serialize(serializer)
    }
}
