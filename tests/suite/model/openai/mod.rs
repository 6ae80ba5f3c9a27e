//! Servers of OpenAI's dialect: conversions by golden files, and the real client against a fake on the wire.

mod conversations;
mod golden;
mod wire;
