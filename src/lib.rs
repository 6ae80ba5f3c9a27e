//! Agena: an agent server that every client can dock to.

pub mod cli;
pub mod config;
pub mod domain;
