//! What calls mean: A2A, its card, and what its webhooks hear. Behind it stands the agent; before it, every front, so
//! nothing here knows HTTP, and JSON only where a webhook, which has no front, gets a body.

pub mod a2a;
pub mod a2a_v03;
pub mod card;
pub mod push_body;
