//! Agena: an agent server that every client can dock to.

pub mod domain;
