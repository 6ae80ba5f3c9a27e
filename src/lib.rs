//! Agena: an agent server that every client can dock to.

// Generated code names this crate from inside (the product) and from outside (the tests' own service).
extern crate self as agena;

pub mod cli;
pub mod config;
pub mod domain;
pub mod proto;
pub mod transcode;
