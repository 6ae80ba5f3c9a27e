//! Models: what stands behind [`Backend`](crate::domain::model::Backend). So far the rehearsal, which needs no network:
//! it follows a script, or understands a few plain requests.

pub mod openai;
pub mod rehearsal;
