//! Chat completions: a request to the hub, and the chunks of its answer back. One machine tells the stream
//! and the answer as a whole, so that both say the same.

mod gather;
mod request;
mod stream;
#[cfg(test)]
mod tests;

pub use request::convert;
pub use stream::Answer;
