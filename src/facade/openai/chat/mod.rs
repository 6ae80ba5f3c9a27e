//! Chat completions: a request to the hub, and the chunks of its answer back. The answer as a whole is its own stream put
//! together, so that both say the same.

mod gather;
mod request;
mod stream;
#[cfg(test)]
mod tests;

pub use request::convert;
pub use stream::Answer;
