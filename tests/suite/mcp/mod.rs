//! MCP servers: a fake one that behaves, and one that breaks every rule it can.

mod hostile;
mod kept;
pub mod kit;
mod life;
mod prompts;
