//! Models: what stands behind [`Backend`](crate::domain::model::Backend). So far the rehearsal, which needs no network:
//! it follows a script, or understands a few plain requests. What any of them answers can be recorded as a script.

pub mod record;
pub mod rehearsal;
