//! Values that every layer shares: who asks, what went wrong, what must not be printed. Knows the schema and
//! nothing above it.

pub mod error;
pub mod failpoint;
pub mod principal;
pub mod request_id;
pub mod secret;
pub mod store;
