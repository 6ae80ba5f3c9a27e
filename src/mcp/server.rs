//! One server: connected when it is needed, by one at a time; after it died or could not be reached, tried again, but not
//! at once. Knows its spec and its connection; crews ask it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::link::{Link, Means};
use crate::domain::backoff;
use crate::domain::mcp::{Origin, ServerStatus, Spec, State};
use crate::telemetry::metrics::McpCalls;

/// How long a turn waits for one that connects.
const WAIT: Duration = Duration::from_secs(5);
const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_mins(1);
/// Who lived so long has not failed at once.
const LIVED: Duration = Duration::from_secs(30);

pub(super) struct Server {
    pub(super) spec: Spec,
    means: Means,
    approved: AtomicBool,
    now: Mutex<Now>,
    /// Held by whoever connects.
    gate: tokio::sync::Mutex<()>,
    metrics: Arc<McpCalls>,
}

#[derive(Default)]
struct Now {
    link: Option<Arc<Link>>,
    /// Somebody tries since then.
    trying: Option<Instant>,
    failures: u32,
    /// Not before.
    again: Option<Instant>,
    error: Option<String>,
}

impl Server {
    pub(super) fn new(spec: Spec, means: Means, metrics: Arc<McpCalls>) -> Arc<Self> {
        let approved = AtomicBool::new(spec.origin != Origin::Client);
        Arc::new(Self {
            spec,
            means,
            approved,
            now: Mutex::default(),
            gate: tokio::sync::Mutex::default(),
            metrics,
        })
    }

    pub(super) fn is_approved(&self) -> bool {
        self.approved.load(Ordering::Acquire)
    }

    /// The user has agreed that it is started or dialled.
    pub(super) fn approve(&self) {
        self.approved.store(true, Ordering::Release);
    }

    pub(super) fn metrics(&self) -> &McpCalls {
        &self.metrics
    }

    /// The connection that there is.
    pub(super) fn linked(&self) -> Option<Arc<Link>> {
        let mut now = self.lock();
        let link = now.link.as_ref()?;
        let Some(why) = link.ended() else { return Some(Arc::clone(link)) };
        let lived = link.since.elapsed();
        now.link = None;
        tracing::warn!(server = self.spec.name, why, "an MCP server is gone");
        now.error = Some(why);
        match lived >= LIVED {
            true => (now.failures, now.again) = (0, None),
            false => now.fail(),
        }
        None
    }

    /// The connection, made if need be. The error is for the user and for the model.
    pub(super) async fn link(&self) -> Result<Arc<Link>, String> {
        if !self.is_approved() {
            return Err("nobody has agreed yet that it is used; call connect_mcp_server first".to_owned());
        }
        if let Some(link) = self.linked() {
            return Ok(link);
        }
        let _alone = self.gate.lock().await;
        if let Some(link) = self.linked() {
            return Ok(link);
        }
        self.lock().patience()?;
        self.lock().trying = Some(Instant::now());
        let opening = Link::open(&self.spec, &self.means);
        let opened = match tokio::time::timeout(self.spec.connect, opening).await {
            Ok(opened) => opened,
            Err(_) => Err(format!("it was not ready within {} s", self.spec.connect.as_secs_f32())),
        };
        self.metrics.connected(&self.spec.name, opened.is_ok());
        let mut now = self.lock();
        now.trying = None;
        match opened {
            Ok(link) => {
                let link = Arc::new(link);
                tracing::info!(
                    server = self.spec.name,
                    tools = link.offer().tools.len(),
                    "an MCP server is connected"
                );
                now.link = Some(Arc::clone(&link));
                Ok(link)
            }
            Err(error) => {
                tracing::warn!(server = self.spec.name, error, "an MCP server cannot be used");
                now.error = Some(error.clone());
                now.fail();
                Err(error)
            }
        }
    }

    /// The connection with its newest list, if it is there soon. Who needs longer goes on connecting meanwhile.
    pub(super) async fn soon(self: &Arc<Self>) -> Option<Arc<Link>> {
        if !self.is_approved() {
            return None;
        }
        let tried = self.lock().trying.map_or(Duration::ZERO, |since| since.elapsed());
        let server = Arc::clone(self);
        let connecting = tokio::spawn(async move {
            let link = server.link().await.ok()?;
            link.refresh(&server.spec).await;
            Some(link)
        });
        tokio::time::timeout(WAIT.saturating_sub(tried), connecting).await.ok()?.ok()?
    }

    /// Ends the connection; the next use makes another.
    pub(super) fn reload(&self) {
        let gone = {
            let mut now = self.lock();
            (now.failures, now.again, now.error) = (0, None, None);
            now.link.take()
        };
        drop(gone);
    }

    pub(super) fn status(&self) -> ServerStatus {
        let link = self.linked();
        let now = self.lock();
        let state = match (&link, now.trying, &now.error) {
            _ if !self.is_approved() => State::Unapproved,
            (Some(_), ..) => State::Connected,
            (None, Some(_), _) => State::Connecting,
            (None, None, Some(_)) => State::Failed,
            (None, None, None) => State::Idle,
        };
        let offer = link.map(|link| link.offer());
        let tools = offer.iter().flat_map(|offer| offer.tools.iter().map(|t| t.declaration.name.clone()));
        let left_out = offer.iter().flat_map(|offer| offer.problems.clone());
        ServerStatus {
            name: self.spec.name.clone(),
            origin: self.spec.origin,
            way: match self.spec.origin {
                Origin::Settings => self.spec.way.brief(),
                Origin::Workspace | Origin::Client => self.spec.way.words(),
            },
            trusted: self.spec.trusted,
            state,
            tools: tools.collect(),
            problems: now.error.iter().cloned().chain(left_out).collect(),
        }
    }

    /// Every change is whole, so a panic elsewhere cannot leave it broken.
    fn lock(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Now {
    fn fail(&mut self) {
        self.failures = self.failures.saturating_add(1);
        let delay = backoff::delay(FIRST, LONGEST, self.failures, backoff::chance());
        self.again = Some(Instant::now() + delay);
    }

    fn patience(&self) -> Result<(), String> {
        let left = self.again.map_or(Duration::ZERO, |again| again.saturating_duration_since(Instant::now()));
        if left.is_zero() {
            return Ok(());
        }
        let error = self.error.as_deref().unwrap_or("it failed");
        Err(format!("{error}; it is tried again in {:.1} s", left.as_secs_f32()))
    }
}
