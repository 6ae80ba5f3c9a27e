//! The nouns of the server. Knows no wire format, file, clock or environment; everything else may use it.

pub mod secret;
