//! OpenAI's Responses API: items in, items out. What was said before in a stored conversation comes in as items too; the
//! service brings it. Knows no store and no model.

mod echo;
mod error;
mod finish;
mod history;
mod input;
mod request;
mod signature;
mod stream;
mod tools;

pub use error::failed;
pub use history::{id, items, listed, named, places, resolve, shown};
pub use request::convert;
pub use stream::{Answer, Told};

/// What `include` says if thoughts are to travel with the client.
const ENCRYPTED: &str = "reasoning.encrypted_content";
/// And if the sources of a search are.
const SOURCES: &str = "web_search_call.action.sources";

#[cfg(test)]
mod tests;
