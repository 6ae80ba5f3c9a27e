//! What facades keep between requests: small things under a key, each for a while. Everything belongs to a principal, and
//! what is another's looks missing. The store implements it; services use it.

use std::time::SystemTime;

use super::principal::Principal;
use super::store::Result;

/// What kind of thing it is; keys are unique within one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// An answer that can be asked for again and gone on from.
    Response,
    /// The signature of a model under a call of its own.
    Signature,
}

/// One thing on the shelf.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    pub kind: Kind,
    pub key: String,
    pub value: Vec<u8>,
    /// Forgotten then.
    pub until: SystemTime,
}

#[tonic::async_trait]
pub trait Shelf: Send + Sync + 'static {
    /// All or nothing. What has the same key is replaced. Durable when it returns.
    async fn put(&self, who: &Principal, items: Vec<Item>) -> Result<()>;

    /// In the order of the keys; nothing for one that is not there, or no longer.
    async fn get(
        &self,
        who: &Principal,
        kind: Kind,
        keys: Vec<String>,
        now: SystemTime,
    ) -> Result<Vec<Option<Vec<u8>>>>;

    /// Whether there was one.
    async fn remove(&self, who: &Principal, kind: Kind, key: &str) -> Result<bool>;

    /// Forgets the oldest until the rest is no larger than this, in bytes. Returns how many.
    async fn trim(&self, who: &Principal, kind: Kind, most: u64) -> Result<u64>;

    /// Forgets what is over. Returns how many.
    async fn sweep(&self, now: SystemTime) -> Result<u64>;
}
