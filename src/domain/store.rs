//! What the agent asks of a store. Every method takes the principal, and what belongs to another looks missing;
//! only the housekeeping at the end, which no client can reach, sees all.

use std::time::{Duration, SystemTime};

use super::grant::{AlwaysRule, Grant};
use super::principal::Principal;
use super::stretch::Stretch;
use crate::proto::a2a::{TaskPushNotificationConfig, TaskState};
use crate::proto::task::TaskEvent;

/// More webhooks than this on one task are a mistake or an attack.
pub const MOST_PUSHES: usize = 16;

/// A task as it stands, without its events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    pub task_id: String,
    pub context_id: String,
    pub tenant: String,
    pub state: TaskState,
    /// When the state last changed, to the millisecond.
    pub updated: SystemTime,
    /// Of the last event that is stored.
    pub sequence: u64,
}

/// One atomic step of a task: all of it is stored, or nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Commit {
    pub task_id: String,
    /// Consecutive from the task's last sequence on; never empty. The first of a new task is `created`, with
    /// sequence 1, and brings the context and the tenant along.
    pub events: Stretch,
    /// After these events.
    pub state: TaskState,
    /// When the state changed; none if it did not. A new task brings it always.
    pub updated: Option<SystemTime>,
    /// What the send that caused it is recognised by when it comes again, to a new task or to an old one.
    pub send: Option<SendKey>,
    /// What the user always allows from now on, in the context of the task.
    pub grants: Vec<AlwaysRule>,
    /// A webhook that came along. It is stored as `put_push` would, and hears of all that comes behind the message that
    /// brought it; if there is no room for it, nothing is stored at all.
    pub push: Option<Push>,
}

/// Tasks that belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    pub tenant: String,
    pub id: String,
}

/// A send, as its repetition would look: a hash over context, message id and body.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SendKey {
    pub hash: [u8; 32],
    pub at: SystemTime,
    /// An older send of the same key is forgotten. A window of nothing recognises nothing.
    pub window: Duration,
}

/// How a commit went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Committed {
    Stored,
    /// The same send came within its window and went to this task already. Nothing was stored.
    Repeated {
        task_id: String,
    },
}

/// Which tasks to list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    pub tenant: String,
    pub context_id: Option<String>,
    pub state: Option<TaskState>,
    /// Whose state changed then or later.
    pub updated_since: Option<SystemTime>,
    /// Only what has not ended.
    pub open: bool,
}

/// Where a page begins: behind this task, in the order of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct After {
    pub updated: SystemTime,
    pub task_id: String,
}

/// Tasks whose state changed last come first; ids decide between equals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    pub heads: Vec<Head>,
    /// Over all pages.
    pub total: u64,
    /// There are more behind the last.
    pub more: bool,
}

/// A context as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextHead {
    pub context_id: String,
    /// The task that was made first.
    pub first_task: String,
    /// The task whose state changed last.
    pub newest: Head,
    pub tasks: u64,
    /// Of those, the ones that have not ended.
    pub open: u64,
}

/// Contexts in which a task changed last come first; ids decide between equals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextPage {
    pub contexts: Vec<ContextHead>,
    /// There are more behind the last.
    pub more: bool,
}

/// A webhook of a task. The outbox is its cursor: what is stored behind `delivered` is still to be sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Push {
    pub config: TaskPushNotificationConfig,
    /// The protocol version whose bodies it gets.
    pub version: PushVersion,
    /// The last sequence that was acknowledged, or that the webhook need not get.
    pub delivered: u64,
    pub attempts: u32,
    pub state: PushState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PushVersion {
    V03,
    V10,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PushState {
    /// To be tried at this time, as soon as there is something to send.
    Active { not_before: SystemTime },
    /// Given up after too many failures; the text says what the last one was.
    Stopped { problem: String },
}

/// Whose webhooks are passed over for now, because enough of theirs are being visited.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Taken {
    pub principals: Vec<Principal>,
    /// As `webhook::authority` writes them.
    pub hosts: Vec<String>,
}

/// What a webhook is waiting for.
#[derive(Debug, Clone, PartialEq)]
pub struct Due {
    pub principal: Principal,
    pub push: Push,
    /// The head of its task.
    pub head: Head,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// Another's task, or none: nobody is told which.
    #[error("the task does not exist")]
    NotFound,
    /// Somebody else appended first. An actor that owns its task never meets it.
    #[error("the task is at sequence {actual}, not at {expected}")]
    Conflict { expected: u64, actual: u64 },
    #[error("the task has {MOST_PUSHES} webhooks, which are the most")]
    Full,
    /// The disk, most likely.
    #[error("the store failed: {0}")]
    Failed(String),
}

pub type Result<T> = std::result::Result<T, StoreError>;

#[tonic::async_trait]
pub trait Store: Send + Sync + 'static {
    /// Durable when it returns.
    async fn commit(&self, who: &Principal, commit: Commit) -> Result<Committed>;

    async fn head(&self, who: &Principal, task_id: &str) -> Result<Head>;

    /// Events behind `after`, in order, at most about `limit`: whole commits, so a few more are possible.
    async fn events(
        &self,
        who: &Principal,
        task_id: &str,
        after: u64,
        limit: usize,
    ) -> Result<Vec<TaskEvent>>;

    async fn list(
        &self,
        who: &Principal,
        filter: &Filter,
        after: Option<&After>,
        size: usize,
    ) -> Result<Page>;

    /// The contexts behind a place, which is a time and the id of a context.
    async fn contexts(
        &self,
        who: &Principal,
        tenant: &str,
        after: Option<&After>,
        size: usize,
    ) -> Result<ContextPage>;

    /// The task that a send went to, if it is recognised.
    async fn sent(&self, who: &Principal, key: &SendKey) -> Result<Option<String>>;

    /// Creates or replaces by (task, id), and returns what is stored. One that is replaced goes on where it stood. One
    /// without an id is the one that is the same in all else, or a new one that gets an id here. `Full` if it is new and
    /// the task has `MOST_PUSHES` already.
    async fn put_push(&self, who: &Principal, push: Push) -> Result<Push>;

    async fn push(&self, who: &Principal, task_id: &str, id: &str) -> Result<Option<Push>>;

    /// In the order of their ids.
    async fn pushes(&self, who: &Principal, task_id: &str) -> Result<Vec<Push>>;

    /// Whether there was one.
    async fn delete_push(&self, who: &Principal, task_id: &str, id: &str) -> Result<bool>;

    /// What is always allowed in a context, oldest first. Nothing in a context that is another's, or none.
    async fn grants(&self, who: &Principal, context: &Context) -> Result<Vec<Grant>>;

    /// The same of all contexts, each with the id of its context.
    async fn all_grants(&self, who: &Principal, tenant: &str) -> Result<Vec<(String, Grant)>>;

    /// Whether there was one.
    async fn revoke_grant(&self, who: &Principal, context: &Context, id: &str) -> Result<bool>;

    // Housekeeping.

    /// Every task that is not in a terminal state: what a start has to look at.
    async fn unfinished(&self) -> Result<Vec<(Principal, Head)>>;

    /// Active webhooks whose time has come and whose task has events behind their cursor.
    async fn due(&self, now: SystemTime, limit: usize, taken: &Taken) -> Result<Vec<Due>>;

    /// When the next webhook that has something to send may be tried.
    async fn next_due(&self) -> Result<Option<SystemTime>>;

    /// Records how a delivery went: cursor, attempts and state of a webhook. One that is gone or has another
    /// configuration by now is left alone, and the cursor never goes back.
    async fn record_push(&self, who: &Principal, push: &Push) -> Result<()>;

    /// Forgets terminal tasks that last changed before this, with all that belongs to them. Returns how many.
    async fn purge(&self, before: SystemTime) -> Result<u64>;
}
