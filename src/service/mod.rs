//! What calls mean: A2A and its card. Behind it stands the agent; before it, every front, so nothing here knows
//! HTTP or JSON.

pub mod a2a;
pub mod a2a_v03;
pub mod card;
