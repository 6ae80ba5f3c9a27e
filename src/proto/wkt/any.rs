//! google.protobuf.Any: printed as its content with an `@type`, for the types that this server knows.

use bytes::Bytes;
use prost::{Message, Name};
use prost_reflect::{DeserializeOptions, DynamicMessage};
use serde::de::{self, Deserializer};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};

use crate::proto::POOL;

#[derive(Clone, PartialEq, Eq, Hash, prost::Message)]
pub struct Any {
    #[prost(string, tag = "1")]
    pub type_url: String,
    #[prost(bytes = "bytes", tag = "2")]
    pub value: Bytes,
}

impl Any {
    pub fn pack<T: Message + Name>(message: &T) -> Self {
        Self {
            type_url: format!("type.googleapis.com/{}", T::full_name()),
            value: message.encode_to_vec().into(),
        }
    }

    /// None if it holds another type or does not decode.
    pub fn unpack<T: Message + Name + Default>(&self) -> Option<T> {
        let name = self.type_url.rsplit('/').next()?;
        (name == T::full_name()).then(|| T::decode(self.value.clone()).ok()).flatten()
    }

    fn as_dynamic(&self) -> Option<DynamicMessage> {
        let name = self.type_url.rsplit('/').next()?;
        let known = POOL.get_message_by_name(name)?;
        DynamicMessage::decode(known, self.value.clone()).ok()?;
        let mut any = DynamicMessage::new(POOL.get_message_by_name("google.protobuf.Any")?);
        any.transcode_from(self).ok()?;
        Some(any)
    }
}

impl Serialize for Any {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.as_dynamic() {
            Some(any) => any.serialize(serializer),
            None if *self == Self::default() => serializer.serialize_map(Some(0))?.end(),
            // An unknown type cannot be printed as JSON. Its name is still worth having.
            None => {
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry("@type", &self.type_url)?;
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Any {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let descriptor = POOL.get_message_by_name("google.protobuf.Any");
        let descriptor =
            descriptor.ok_or_else(|| de::Error::custom("google.protobuf.Any is not in the pool"))?;
        // Unknown members are ignored here as everywhere.
        let options = DeserializeOptions::new().deny_unknown_fields(false);
        let any = DynamicMessage::deserialize_with_options(descriptor, deserializer, &options)?;
        any.transcode_to().map_err(de::Error::custom)
    }
}
