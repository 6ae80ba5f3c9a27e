//! Anthropic's API: conversions as recorded, and the real server with a Gemini on the wire.

mod golden;
mod life;
mod refusals;
