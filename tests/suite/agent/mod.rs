//! The agent at work: tool calls from the model's wish to their end, on real files and real processes, seen by clients
//! that know the development-tool extension and by clients that do not.

mod bounds;
mod cancel;
mod crowd;
mod floods;
mod hostile;
pub mod kit;
mod outcomes;
mod plain;
mod refine;
mod rfc;
mod turns;
