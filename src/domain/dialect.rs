//! Which generation of A2A a request speaks, and where a stream stands. Fronts set it; services look at it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::proto::wkt::Struct;

/// Decided by the front, from the path or the method. Without it, the native one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    #[default]
    V10,
    V03,
}

/// Metadata of a request whose message has no place for it, as that of 0.3's `tasks/resubscribe`. It rides in the
/// extensions of the request.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestMetadata(pub Struct);

/// Rides in the extensions of a streaming answer that ends when the task pauses, although it was not asked for by a send.
#[derive(Debug, Clone, Copy)]
pub struct EndsAtPause;

/// The sequence of the item that a stream gave out last. It rides in the extensions of a streaming answer, so that
/// a front can put it beside the item (as the `id:` of an event) although the item itself has no place for it.
#[derive(Debug, Clone, Default)]
pub struct Cursor(Arc<AtomicU64>);

impl Cursor {
    /// Set right before the item is given out, in the same poll.
    pub fn set(&self, sequence: u64) {
        self.0.store(sequence, Ordering::Relaxed);
    }

    /// Read right after.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
