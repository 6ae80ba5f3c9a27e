//! OpenAI's API: chat completions, responses, embeddings and the list of models.

mod error;

pub use error::OPENAI;
