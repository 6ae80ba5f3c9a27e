//! The commands besides serving, and what the server says at start. `main` calls them. `show` is how the terminal client
//! looks.

pub mod banner;
pub mod show;
pub mod token;
pub mod trust;
