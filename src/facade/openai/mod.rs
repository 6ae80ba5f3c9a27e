//! OpenAI's API: chat completions, responses, embeddings and the list of models.

pub mod chat;
pub mod embeddings;
mod error;
pub mod models;
pub mod responses;
mod verbosity;

pub use error::OPENAI;
