//! The agent: tasks that live, one actor each. Knows no wire; services call the [`Engine`], brains and stores stand
//! behind it.

pub mod batch;
pub mod call;
pub mod conversation;
mod engine;
mod follow;
mod live;
pub mod loops;
mod machine;
pub mod reply;
mod runner;
pub mod scheduler;
mod script;
mod tasks;
mod watch;

pub use engine::{Engine, EngineError, NewTask, Repeat, Sent};
pub use machine::Refused;
pub use watch::Watch;
