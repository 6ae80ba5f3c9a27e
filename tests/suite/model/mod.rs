//! Models on the wire: the real clients against a server that answers as it is told.

mod gemini;
mod openai;
