//! JSON as vendors print it, on the generated types: what the attributes from `build/vendor.rs` name, and what impls
//! by hand share. Both spellings of a member are read, `null` is absence, JSON text is kept byte for byte, and unknown
//! members travel on where a message has a place for them. Knows no vendor; facades and backends call [`decode`] and
//! [`encode`].

mod extra;
mod plain;
pub mod raw;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use extra::{Extra, Members};
pub(crate) use extra::{Keep, Key, KeyOf, keep_extra, with_extra};
pub use plain::{
    double, integer, is_default, no_number, one_or_many, optional_integer, or_default, print_double,
};

use super::json::{BadJson, Unprintable, not_utf8, path};

/// Reads a message.
pub fn decode<T: DeserializeOwned>(text: &[u8]) -> Result<T, BadJson> {
    // Checked as a whole, or what is wrong in an ignored member would pass.
    let Ok(text) = std::str::from_utf8(text) else { return Err(not_utf8(text)) };
    // Only a text that is wrong is worth the way on which members are counted.
    serde_json::from_str(text).or_else(|_| decode_tracked(text))
}

/// What a member that is JSON text says. None where there is no text, which is what most messages have, or where it is of
/// another shape.
pub fn kept<T: DeserializeOwned>(text: &str) -> Option<T> {
    if text.is_empty() { None } else { serde_json::from_str(text).ok() }
}

fn decode_tracked<T: DeserializeOwned>(text: &str) -> Result<T, BadJson> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let message = serde_path_to_error::deserialize(&mut reader)
        .map_err(|e| BadJson { field: path(e.path()), problem: e.into_inner().to_string() })?;
    reader.end().map_err(BadJson::whole)?;
    Ok(message)
}

/// Appends the message to `out`, on one line. `out` is left as it was if the message cannot be printed.
pub fn encode<T: Serialize + prost::Name>(message: &T, out: &mut Vec<u8>) -> Result<(), Unprintable> {
    let start = out.len();
    serde_json::to_writer(&mut *out, message).map_err(|e| {
        out.truncate(start);
        Unprintable { message: T::full_name(), problem: e.to_string() }
    })
}
