//! The integration tests, in one binary. Each module says what belongs in it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)]

mod a2a;
mod a2a03;
mod agent;
mod bad_input;
mod bindings;
mod cli;
mod coder;
mod command;
mod commands;
mod devtool;
mod errors;
mod facade;
mod kit;
mod limits;
mod mcp;
mod model;
mod policy;
mod probe;
mod protojson;
mod push;
mod rim;
mod secrets;
mod shutdown;
mod store;
mod streams;
mod tool;
mod trust;
