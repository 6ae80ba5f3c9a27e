//! The commands besides serving, and what the server says at start. `main` calls them.

pub mod banner;
pub mod token;
pub mod trust;
