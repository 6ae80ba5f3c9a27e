//! Agena: an agent server that every client can dock to.

pub mod config;
pub mod domain;
