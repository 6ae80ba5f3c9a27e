//! Pictures and documents that lie elsewhere: what fetching them is to those who need them. Facades name them, services
//! fetch them through this, and who does it knows the network.

use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;

#[async_trait]
pub trait Fetch: Send + Sync + 'static {
    /// The whole of it, as long as there is room.
    async fn fetch(&self, url: &str, room: &Room) -> Result<Fetched, Unfetched>;
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// For example `image/png`; what the bytes are rather than what somebody says.
    pub mime_type: String,
    pub data: Vec<u8>,
}

/// What is wrong, so that it reads on behind the name of a field.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unfetched(pub String);

/// How many bytes all that is fetched for one request may still have.
#[derive(Debug)]
pub struct Room(AtomicUsize);

impl Room {
    pub fn new(bytes: usize) -> Self {
        Self(AtomicUsize::new(bytes))
    }

    pub fn has(&self, bytes: usize) -> bool {
        self.0.load(Ordering::Relaxed) >= bytes
    }

    /// False if there is not so much left.
    pub fn take(&self, bytes: usize) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes)).is_ok()
    }
}
