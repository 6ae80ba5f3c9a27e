//! The commands besides serving. May use only the domain and the configuration; `main` calls them.

pub mod token;
