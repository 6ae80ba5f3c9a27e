//! What happened, as text for a terminal or as lines for a program. Pure: takes updates, returns strings, and knows
//! neither the server nor the screen. Whatever comes from a model, a file or a tool passes `safe` on its way.

pub mod call;
pub mod diff;
pub mod json;
pub mod list;
pub mod markdown;
pub mod paint;
pub mod request;
pub mod safe;
pub mod story;
