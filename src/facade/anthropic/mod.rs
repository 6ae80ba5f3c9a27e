//! Anthropic's Messages API: its requests become the hub's, and the hub's chunks its blocks and events. What the vendor
//! hides in opaque values is hidden in ours, see `carrier`.

mod carrier;
mod client_tools;
mod error;
mod fold;
mod grounding;
mod line;
mod models;
mod parts;
mod request;
mod results;
mod settings;
mod stop;
mod stream;
mod tools;
mod turns;
mod usage;
mod version;
mod work;

pub use error::ANTHROPIC;
pub use models::{list, model};
pub use request::{convert, count};
pub use stream::Answer;
