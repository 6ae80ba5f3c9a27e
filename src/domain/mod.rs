//! Values and contracts that every layer shares: who asks, what went wrong, what must not be printed, what thinks
//! and what stores. Knows the schema and nothing above it.

pub mod backoff;
pub mod brain;
pub mod calls;
pub mod change;
pub mod confirmation;
pub mod dialect;
pub mod ears;
pub mod error;
pub mod extension;
pub mod failpoint;
pub mod grant;
pub mod mcp;
pub mod media;
pub mod model;
pub mod notice;
mod parts;
pub mod pattern;
pub mod principal;
pub mod quota;
pub mod reference;
pub mod request_id;
pub mod secret;
pub mod settings;
pub mod shelf;
pub mod snapshot;
pub mod store;
pub mod stretch;
pub mod tool;
pub mod webhook;
