//! What calls mean: A2A, its card, and what its webhooks hear; the typed service beside it; and the APIs of other vendors, which a model answers
//! without the agent. Before it stands every front, so nothing here knows HTTP, and JSON only where a webhook, which has
//! no front, gets a body.

pub mod a2a;
pub mod a2a_v03;
pub mod anthropic;
pub mod card;
mod commands;
pub mod devtool;
pub mod facade;
pub mod gemini;
mod limits;
pub mod openai;
mod paging;
pub mod push_body;
pub mod responses;
mod told;
mod undecided;
mod who;

pub use who::{last_event_id, who};
