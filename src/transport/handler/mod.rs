//! The few routes that no annotation can express, one file each. `app` mounts them beside the generated ones.

pub mod anthropic;
pub mod card_v03;
pub mod coder;
pub mod compact;
pub mod console;
pub mod gemini;
pub mod health;
pub mod jsonrpc;
pub mod metrics;
pub mod models;
pub mod well_known;
