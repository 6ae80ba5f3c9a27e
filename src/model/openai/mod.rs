//! Servers that speak OpenAI's chat completions: OpenAI itself, Ollama, vLLM, llama.cpp and many others.

pub mod error;
pub mod request;
pub mod stream;
