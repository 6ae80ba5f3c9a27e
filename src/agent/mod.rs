//! The agent: tasks that live, one actor each. Knows no wire; services call the [`Engine`], brains and stores stand
//! behind it.

pub mod batch;
pub mod call;
pub mod compress;
pub mod conversation;
mod engine;
mod follow;
mod live;
pub mod loops;
mod machine;
pub mod prompt;
pub mod reply;
mod runner;
pub mod scheduler;
mod script;
mod tasks;
mod watch;
pub mod work;

pub use engine::{Engine, EngineError, NewTask, Repeat, Sent};
pub use machine::Refused;
pub use watch::Watch;
