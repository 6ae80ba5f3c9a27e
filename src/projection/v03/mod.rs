//! A2A 0.3, for clients that have not moved on. 1.0 is native, and what 0.3 cannot say is left out here and
//! nowhere else. Knows neither transport nor service.
//!
//! | module | what it is | who calls it |
//! | --- | --- | --- |
//! | [`write`] | borrowed views that print 1.0 messages as the JSON of 0.3 | the JSON-RPC front, push |
//! | [`read`] | the params of a JSON-RPC method as a 1.0 request | the JSON-RPC front |
//! | [`errors`] | the error object of JSON-RPC | the JSON-RPC front |
//! | [`wire`] | the messages of the package `a2a.v1`, to and from 1.0 | its gRPC service |
//! | [`rest`] | HTTP bodies in JSON-RPC's spelling as the ProtoJSON that the routes read | the HTTP front |
//! | [`card`] | one agent card for both generations, and the card of `a2a.v1` | the card's handlers |

pub mod card;
pub mod errors;
mod names;
pub mod read;
pub mod rest;
pub mod wire;
pub mod write;

/// 0.3's word for a state.
pub fn state_name(state: crate::proto::a2a::TaskState) -> &'static str {
    names::state(state.into())
}

/// What a 0.3 card says of the protocol it speaks.
pub const PROTOCOL_VERSION: &str = "0.3.0";
