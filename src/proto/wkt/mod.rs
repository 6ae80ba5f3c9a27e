//! google.protobuf types whose ProtoJSON pbjson-types does not print or read as the standard asks.
//! `build.rs` puts them in place of the originals.

mod any;
mod duration;
mod empty;
mod field_mask;
mod timestamp;
mod value;

pub use any::Any;
pub use duration::Duration;
pub use empty::Empty;
pub use field_mask::FieldMask;
pub use timestamp::Timestamp;
pub use value::{Kind, ListValue, Struct, Value};
