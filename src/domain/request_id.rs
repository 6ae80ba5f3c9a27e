//! The name of one request, the same in logs, in the answer and in what services see.

use std::sync::Arc;

use uuid::Uuid;
use uuid::fmt::Simple;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestId(Arc<str>);

impl RequestId {
    /// Takes over what a client or proxy sent if it is short and plain, so that it is safe in logs and headers.
    pub fn parse(text: &str) -> Option<Self> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
        (!text.is_empty() && text.len() <= 128 && text.chars().all(plain)).then(|| Self(text.into()))
    }

    /// Made here, from a number that no other request has.
    pub fn unique(number: u128) -> Self {
        let mut digits = [0; Simple::LENGTH];
        let text: &str = Uuid::from_u128(number).simple().encode_lower(&mut digits);
        Self(text.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}
