//! Models: what stands behind [`Backend`](crate::domain::model::Backend).
//!
//! | module | what it is |
//! | --- | --- |
//! | `rehearsal` | follows a script or a few plain requests; needs no network |
//! | `google` | Gemini by key, on Vertex, with the account of Gemini CLI |
//! | `http`, `sse`, `chunks` | the way there and back: a client with deadlines, events from bytes, chunks from events |

pub mod chunks;
pub mod google;
pub mod http;
pub mod rehearsal;
pub mod sse;
