//! Who is asking. The rim finds out; services and stores decide by it; nobody else makes one.

use std::sync::{Arc, LazyLock};

/// The owner of a key. Two principals with the same name are the same.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Principal(Arc<str>);

impl Principal {
    /// Holds the generated token, or comes from loopback when no token is asked for.
    pub fn local() -> Self {
        static LOCAL: LazyLock<Principal> = LazyLock::new(|| Principal::named("local"));
        LOCAL.clone()
    }

    pub fn named(name: &str) -> Self {
        Self(name.into())
    }

    pub fn name(&self) -> &str {
        &self.0
    }
}
