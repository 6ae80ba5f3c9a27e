//! google.protobuf.Empty: `{}`, and any unknown member is ignored as in every other message.

use prost_reflect::DescriptorPool;
use serde::{Deserialize, Serialize};

use crate::proto::POOL;
use crate::proto::schema::{Field, Inspect, Inspector, Schema};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, prost::Message)]
pub struct Empty {}

impl prost::Name for Empty {
    const PACKAGE: &'static str = "google.protobuf";
    const NAME: &'static str = "Empty";
}

impl Inspect for Empty {
    fn inspect(&self, _: &mut Inspector) {}
}

impl Schema for Empty {
    fn pool() -> &'static DescriptorPool {
        &POOL
    }

    fn fields() -> &'static [Field] {
        &[]
    }
}
