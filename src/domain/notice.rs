//! What a webhook gets to hear of an event. The deliveries ask; the services know the words of each dialect.

use bytes::Bytes;

use super::snapshot::Snapshot;
use super::store::PushVersion;
use crate::proto::task::TaskEvent;

/// The body of one request to a webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    pub content_type: &'static str,
    pub body: Bytes,
}

pub trait Render: Send + Sync + 'static {
    /// Whether notices of this version show the whole task, so that its past has to be known too.
    fn needs_past(&self, version: PushVersion) -> bool;

    /// What an event is to a webhook of this version; none if the dialect does not show it. `task` has the event in
    /// it, and what came before if it is needed.
    fn notice(&self, version: PushVersion, task: &Snapshot, event: &TaskEvent) -> Option<Notice>;
}
