//! One visit to one webhook: what is behind its cursor, event after event, each acknowledged and recorded before the
//! next is sent. The loop sends it and makes sure that no two visit the same webhook.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::sync::watch;
use tokio::time::Instant;

use super::client::Client;
use super::request::headers;
use super::{Counts, Failure, Options};
use crate::domain::backoff;
use crate::domain::failpoint;
use crate::domain::notice::{Notice, Render};
use crate::domain::snapshot::Snapshot;
use crate::domain::store::{Due, Push, PushState, Result, Store, StoreError};
use crate::proto::task::TaskEvent;

/// Events that are read at a time where the past is not needed.
const EVENTS: usize = 256;
/// A longer visit makes room for those that are waiting; the rest is due again at once.
const VISIT: Duration = Duration::from_secs(5);

pub(super) struct Courier {
    pub(super) store: Arc<dyn Store>,
    pub(super) render: Arc<dyn Render>,
    pub(super) client: Client,
    pub(super) options: Options,
    pub(super) counts: Arc<Counts>,
    /// Becomes true when the server stops.
    pub(super) stop: watch::Receiver<bool>,
}

/// What is to be told, and what it is told about.
struct Story {
    /// As it is before the first of the events.
    task: Snapshot,
    events: Vec<TaskEvent>,
}

/// How a visit goes on.
enum Next {
    Go,
    Leave,
}

impl Courier {
    /// An error is the store's; what the webhook does wrong is recorded.
    pub(super) async fn visit(&self, due: Due) -> Result<()> {
        match self.tell(due).await {
            // Purged in between, and the webhook with it.
            Err(StoreError::NotFound) => Ok(()),
            done => done,
        }
    }

    async fn tell(&self, due: Due) -> Result<()> {
        let began = Instant::now();
        let Story { mut task, events } = self.story(&due).await?;
        // Of the events that need no request; recorded with the next that does, or at the end.
        let mut passed = due.push.delivered;
        for event in &events {
            task.fold(event);
            if let Some(notice) = self.render.notice(due.push.version, &task, event) {
                let late = *self.stop.borrow() || began.elapsed() > VISIT;
                if late || matches!(self.send(&due, passed, event.sequence, notice).await?, Next::Leave) {
                    return Ok(());
                }
            }
            passed = event.sequence;
        }
        let now = PushState::Active { not_before: SystemTime::now() };
        match self.current(&due).await? {
            Some(push) if push.delivered < passed => {
                self.store.record_push(&due.principal, &Push { delivered: passed, state: now, ..push }).await
            }
            _ => Ok(()),
        }
    }

    async fn story(&self, due: &Due) -> Result<Story> {
        let (who, head, from) = (&due.principal, &due.head, due.push.delivered);
        if !self.render.needs_past(due.push.version) {
            let mut task = Snapshot { tenant: head.tenant.clone(), sequence: from, ..Snapshot::default() };
            task.task.id.clone_from(&head.task_id);
            task.task.context_id.clone_from(&head.context_id);
            return Ok(Story { task, events: self.store.events(who, &head.task_id, from, EVENTS).await? });
        }
        let mut past = self.store.events(who, &head.task_id, 0, usize::MAX).await?;
        let events = past.split_off(past.partition_point(|event| event.sequence <= from));
        Ok(Story { task: Snapshot::of(&past), events })
    }

    /// One request, and what it means for the webhook. `passed` is the sequence before it.
    async fn send(&self, due: &Due, passed: u64, sequence: u64, notice: Notice) -> Result<Next> {
        // Its owner may have removed or replaced it since the last request.
        let Some(push) = self.current(due).await? else { return Ok(Next::Leave) };
        let sent = self.post(&push, sequence, notice).await;
        failpoint::reach("after-webhook");
        let (next, push) = match sent {
            Ok(()) => {
                Counts::count(&self.counts.delivered);
                let state = PushState::Active { not_before: SystemTime::now() };
                (Next::Go, Push { delivered: sequence, attempts: 0, state, ..push })
            }
            Err(failure) => (Next::Leave, self.failed(Push { delivered: passed, ..push }, &failure)),
        };
        self.store.record_push(&due.principal, &push).await?;
        Ok(next)
    }

    async fn post(&self, push: &Push, sequence: u64, notice: Notice) -> std::result::Result<(), Failure> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let headers = headers(&push.config, sequence, &notice, now.as_secs())?;
        self.client.post(&push.config.url, headers, notice.body).await
    }

    /// The webhook as it is stored now, if it is still the one that was due.
    async fn current(&self, due: &Due) -> Result<Option<Push>> {
        let config = &due.push.config;
        let push = self.store.push(&due.principal, &config.task_id, &config.id).await?;
        Ok(push.filter(|push| push.config == *config && push.version == due.push.version))
    }

    fn failed(&self, push: Push, failure: &Failure) -> Push {
        Counts::count(&self.counts.failed);
        let attempts = push.attempts.saturating_add(1);
        if attempts >= self.options.attempts {
            return self.stopped(push, attempts, failure);
        }
        let Options { first_delay, longest_delay, .. } = self.options;
        let delay = backoff::delay(first_delay, longest_delay, attempts, backoff::chance());
        let (task, id) = (&push.config.task_id, &push.config.id);
        tracing::debug!(task, id, attempts, ?delay, problem = %failure, "a webhook did not take a notice");
        Push { attempts, state: PushState::Active { not_before: SystemTime::now() + delay }, ..push }
    }

    /// Of the URL only the host is logged: path and query may hold secrets.
    fn stopped(&self, push: Push, attempts: u32, failure: &Failure) -> Push {
        let stopped = Counts::count(&self.counts.stopped);
        let uri: http::Uri = push.config.url.parse().unwrap_or_default();
        let (task, id, host) = (&push.config.task_id, &push.config.id, uri.host().unwrap_or_default());
        tracing::warn!(task, id, host, attempts, problem = %failure, stopped, "a webhook was stopped");
        Push { attempts, state: PushState::Stopped { problem: failure.to_string() }, ..push }
    }
}
