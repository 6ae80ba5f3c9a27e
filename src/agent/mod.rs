//! The agent: tasks that live, one actor each. Knows no wire; services call the [`Engine`], brains and stores stand
//! behind it.

mod engine;
mod follow;
mod live;
mod machine;
mod runner;
mod script;
mod tasks;
mod watch;

pub use engine::{Engine, EngineError, NewTask, Repeat, Sent};
pub use machine::Refused;
pub use watch::{Events, Watch};
