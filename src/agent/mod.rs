//! The agent: tasks that live, one actor each. Knows no wire; services call the [`Engine`], brains and stores stand
//! behind it.

mod acting;
pub mod batch;
pub mod brought;
pub mod call;
mod command;
mod commanding;
pub mod compress;
pub mod conversation;
mod engine;
mod follow;
mod hands;
mod hearing;
mod held;
mod joined;
mod live;
pub mod loops;
mod machine;
pub mod made;
pub mod mind;
mod opening;
pub mod policy;
pub mod prompt;
mod referring;
pub mod reply;
mod runner;
pub mod scheduler;
mod script;
mod session;
mod tasks;
mod thinking;
mod toolboxes;
mod watch;
pub mod work;

pub use command::{Executed, Wanted};
pub use engine::{Engine, EngineError, Further, NewTask, Repeat, Sent};
pub use machine::Refused;
pub use mind::Mind;
pub use opening::Offered;
pub use runner::Changed;
pub use watch::{Events, Watch};
