//! Gemini's own API. Its requests are the hub's, so there is little to convert; what remains is how it prints streams and
//! errors.

mod error;
mod request;
mod stream;

pub use error::GEMINI;
pub use request::convert;
pub use stream::Answer;
