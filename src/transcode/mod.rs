//! From HTTP+JSON to an RPC and back: routes out of `google.api.http` rules, messages out of path, query and
//! body, answers and SSE out of messages. Pure but for polling the service; the transport reads and writes.

mod answer;
mod call;
pub mod codec;
pub mod jsonrpc;
mod query;
mod route;
mod router;
mod sse;
mod template;
pub mod vendor;

pub use answer::{Media, Response, copy_metadata, error, error_object, json, unprintable};
pub use call::{Call, Unknown};
pub use route::{Body, Route, Rule};
pub use router::{Clash, Found, Mount, Router, Slash, Spelling, Tenants};
pub use sse::{Beat, EVENT_STREAM, Framing, events};
