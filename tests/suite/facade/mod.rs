//! The APIs of other vendors, through the real server: what a client sees, and what reached the model.

mod gemini;
mod responses;
