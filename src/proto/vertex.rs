//! Where Vertex speaks otherwise than Gemini's API. The JSON comes from the derives (`build/vendor.rs`).

pub use super::generated::agena::vertex::v1::*;
