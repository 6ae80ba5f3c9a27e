//! Models: what stands behind [`Backend`](crate::domain::model::Backend).
//!
//! | module | what it is |
//! | --- | --- |
//! | `rehearsal` | follows a script or a few plain requests; needs no network |
//! | `google` | Gemini by key, on Vertex, with the account of Gemini CLI |
//! | `openai` | OpenAI, Ollama, vLLM, llama.cpp and whatever else speaks chat completions |
//! | `router` | from the name of a model to who answers for it: routes, arms, fallbacks |
//! | `patient` | asks again what failed before anything came of it |
//! | `continued` | asks for the rest of answers that are longer than one request may give |
//! | `record` | writes what any of them answers as a script |
//! | `names` | names of functions that a server refuses, and back |
//! | `http`, `sse`, `chunks` | the way there and back: a client with deadlines, events from bytes, chunks from events |

pub mod chunks;
pub mod continued;
pub mod google;
pub mod http;
pub mod names;
pub mod openai;
pub mod patient;
pub mod record;
pub mod rehearsal;
pub mod router;
pub mod sse;
