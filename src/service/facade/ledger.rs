//! Thought signatures for clients that know nothing of them.

use crate::domain::principal::Principal;
use crate::proto::gemini::{GenerateContentRequest, GenerateContentResponse};

/// What was signed, on the shelf.
#[derive(Clone, Default)]
pub struct Ledger;

impl Ledger {
    /// Signs the calls of a conversation that lost their signatures on the way.
    pub async fn restore(
        &self,
        _who: &Principal,
        _upstream: &str,
        request: GenerateContentRequest,
    ) -> GenerateContentRequest {
        request
    }

    pub async fn keep(&self, _who: &Principal, _notes: Notes) {}
}

/// Signatures of one answer.
#[derive(Debug, Default)]
pub struct Notes {
    _upstream: String,
}

impl Notes {
    pub fn new(upstream: String) -> Self {
        Self { _upstream: upstream }
    }

    pub fn see(&mut self, _chunk: &GenerateContentResponse) {}

    pub fn is_empty(&self) -> bool {
        true
    }
}
