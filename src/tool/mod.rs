//! The built-in tools of the agent, each in a file of its own, for one workspace at a time. They know files, processes
//! and addresses only through the sandbox, models only as `domain::model` has them, and nothing of policy or tasks; the
//! agent calls them through the contract in `domain::tool`, the composition root makes the [`Bench`].
//!
//! | module | what it is |
//! | --- | --- |
//! | `bench` | opens workspaces for clients |
//! | `toolbox` | the tools of one workspace: finds them, checks arguments |
//! | `shape` | what tools have in common: those that look, those that edit |
//! | `schema` | arguments against their schema; pure |
//! | `memory` | what the files of a workspace tell every model |
//! | `commands` | the user's own slash commands, as files |
//! | `web` | pages of the web, for the tools that fetch them |
//! | `asks` | a model that looks things up on the web by itself |
//! | `text`, `kept`, `diff`, `matching`, `html`, `grounding` | texts read, cut, compared, found again, undressed and cited; pure |
//! | the others | one tool each |

mod ask_user;
mod asks;
mod background;
mod bench;
mod commands;
mod diff;
mod glob;
mod google_web_search;
mod grep_search;
mod grounding;
mod html;
mod kept;
mod list_directory;
mod matching;
mod memory;
mod read_file;
mod read_many_files;
mod replace;
mod restore_files;
mod save_memory;
mod schema;
mod shape;
mod shell;
mod text;
mod toolbox;
mod web;
mod web_fetch;
mod write_file;
mod write_todos;

pub use asks::Asks;
pub use bench::{Bench, OpenError, Options, ShellLimits};
pub use toolbox::Tools;
pub use web::WebOptions;
