//! What calls mean: A2A and its card, and whether the server is well. Behind it stands the agent; before it,
//! every front, so nothing here knows HTTP but the few routes that no annotation can express.

pub mod a2a;
pub mod card;
pub mod health;
pub mod well_known;
