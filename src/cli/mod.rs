//! The commands besides serving, one file each, and what the server says at start. `main` calls them.
//!
//! `client` is the way into the terminal client: `link` reaches a server, `talk` goes through a turn with it, `show` says
//! how things look.

pub mod banner;
mod cancel;
mod chat;
pub mod client;
mod commands;
pub mod exit;
pub mod link;
mod once;
mod rules;
pub mod show;
pub mod talk;
mod tasks;
pub mod token;
pub mod trust;
mod watch;
mod work;
