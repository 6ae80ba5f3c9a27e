//! Where tasks are kept. Each store implements the trait in `domain::store` and passes the same suite; the
//! composition root opens one, the agent uses it through the trait. Knows no wire and no agent.

pub mod sqlite;

pub use sqlite::{Durability, OpenError, Sqlite};
