//! What stands behind a brain. So far the rehearsal, which needs no network: it follows a script.

pub mod rehearsal;
