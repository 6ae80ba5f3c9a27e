//! Members that servers write in more than one way. What is read in several ways is printed in the vendor's.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::{Error, Usage};

/// A list of texts, or one without the brackets.
pub mod texts {
    use super::{Deserializer, Serialize, Serializer, Texts};

    pub fn serialize<S: Serializer>(texts: &[String], serializer: S) -> Result<S::Ok, S::Error> {
        texts.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
        deserializer.deserialize_any(Texts)
    }
}

struct Texts;

impl<'de> Visitor<'de> for Texts {
    type Value = Vec<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or a list of strings")
    }

    fn visit_unit<E>(self) -> Result<Vec<String>, E> {
        Ok(Vec::new())
    }

    fn visit_str<E>(self, text: &str) -> Result<Vec<String>, E> {
        Ok(vec![text.to_owned()])
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<String>, A::Error> {
        let mut texts = Vec::new();
        while let Some(text) = seq.next_element()? {
            texts.push(text);
        }
        Ok(texts)
    }
}

/// What a piece of an answer took. Where nothing is counted yet, `null` says that it will be.
pub mod usage {
    use super::{Deserialize, Deserializer, Serialize, Serializer, Usage};

    pub fn serialize<S: Serializer>(usage: &Option<Usage>, serializer: S) -> Result<S::Ok, S::Error> {
        usage.as_ref().filter(|usage| **usage != Usage::default()).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Usage>, D::Error> {
        // What counts nothing would be printed as `null`, which is read as none.
        let read: Option<Usage> = Option::deserialize(deserializer)?;
        Ok(read.filter(|usage| *usage != Usage::default()))
    }
}

/// JSON inside of a string. Some servers leave the string out and send the object itself.
pub mod arguments {
    use super::{Deserialize, Deserializer, RawValue, Serialize, Serializer, unquoted};

    pub fn serialize<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
        text.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
        optional::deserialize(deserializer).map(Option::unwrap_or_default)
    }

    pub mod optional {
        use super::{Deserialize, Deserializer, RawValue, Serialize, Serializer, unquoted};

        pub fn serialize<S: Serializer>(text: &Option<String>, serializer: S) -> Result<S::Ok, S::Error> {
            text.serialize(serializer)
        }

        pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
            Ok(unquoted(Box::<RawValue>::deserialize(deserializer)?.get()))
        }
    }
}

/// A word, or the number that some put there.
pub mod code {
    use super::{Deserialize, Deserializer, RawValue, Serialize, Serializer, unquoted};

    pub fn serialize<S: Serializer>(code: &Option<String>, serializer: S) -> Result<S::Ok, S::Error> {
        code.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
        Ok(unquoted(Box::<RawValue>::deserialize(deserializer)?.get()))
    }
}

/// What a string says, any other JSON as it stands, and nothing for `null`.
fn unquoted(json: &str) -> Option<String> {
    (json != "null").then(|| serde_json::from_str(json).unwrap_or_else(|_| json.to_owned()))
}

/// An error, or only its message.
pub mod error_or_text {
    use super::{Deserializer, Error, ErrorOrText, Serialize, Serializer};

    pub fn serialize<S: Serializer>(error: &Option<Error>, serializer: S) -> Result<S::Ok, S::Error> {
        error.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Error>, D::Error> {
        deserializer.deserialize_any(ErrorOrText)
    }
}

struct ErrorOrText;

impl<'de> Visitor<'de> for ErrorOrText {
    type Value = Option<Error>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an error")
    }

    fn visit_unit<E>(self) -> Result<Option<Error>, E> {
        Ok(None)
    }

    fn visit_str<E>(self, message: &str) -> Result<Option<Error>, E> {
        Ok(Some(Error { message: message.to_owned(), ..Error::default() }))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Option<Error>, A::Error> {
        <Error as Deserialize>::deserialize(MapAccessDeserializer::new(map)).map(Some)
    }
}
