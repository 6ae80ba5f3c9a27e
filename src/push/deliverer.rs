//! The loop of the deliveries: whenever something was stored, or the time of a webhook has come, couriers go to those
//! that are due. A webhook is visited by one courier at a time, and one that is slow takes one place of many. Nobody has
//! all places: only so many are for one principal, and only so many for one host.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::sync::{Notify, watch};
use tokio::task::{Id, JoinSet};
use tokio::time::Instant;

use super::client::{Client, ClientError};
use super::courier::Courier;
use super::{Counts, Options};
use crate::domain::backoff;
use crate::domain::notice::Render;
use crate::domain::principal::Principal;
use crate::domain::store::{Due, PushState, Result, Store, StoreError, Taken};
use crate::domain::webhook;

/// A task at work commits in quick succession; what comes within this time is looked at together.
const GATHER: Duration = Duration::from_millis(5);
/// The longest sleep, so that a changed clock does no lasting harm.
const SLEEP: Duration = Duration::from_mins(1);
/// Everything that waits, however long: the loop sorts out what is due.
const HORIZON: Duration = Duration::from_hours(24 * 365);
/// Between looks at a store that fails.
const FIRST_REST: Duration = Duration::from_millis(500);
const LONGEST_REST: Duration = Duration::from_secs(30);

/// Delivers until it is told to stop.
pub struct Deliverer {
    courier: Arc<Courier>,
    wake: Arc<Notify>,
    stop: watch::Sender<bool>,
}

/// The visits of the moment.
#[derive(Default)]
struct UnderWay {
    visits: JoinSet<Result<()>>,
    keys: HashMap<Id, Key>,
}

/// A webhook, among all of them, and whom it calls.
#[derive(Debug, PartialEq, Eq)]
struct Key {
    principal: Principal,
    task_id: String,
    id: String,
    host: String,
}

/// How the store does.
#[derive(Default)]
struct Trouble {
    failures: u32,
    until: Option<Instant>,
}

impl Deliverer {
    /// `wake` is notified whenever something was stored; nobody else may wait for it.
    pub fn new(
        store: Arc<dyn Store>,
        render: Arc<dyn Render>,
        wake: Arc<Notify>,
        options: Options,
    ) -> std::result::Result<Self, ClientError> {
        let (stop, stopped) = watch::channel(false);
        let client = Client::new(&options)?;
        let counts = Arc::new(Counts::default());
        let courier = Arc::new(Courier { store, render, client, options, counts, stop: stopped });
        Ok(Self { courier, wake, stop })
    }

    pub fn counts(&self) -> Arc<Counts> {
        Arc::clone(&self.courier.counts)
    }

    /// Begins with what an earlier run left behind. Ends soon after `stop`, without waiting for slow webhooks: what
    /// was not acknowledged is sent again by the next run.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let mut stop = pin!(stop);
        let mut under_way = UnderWay::default();
        let mut trouble = Trouble::default();
        loop {
            let sleep = match trouble.rest() {
                Some(rest) => rest,
                None => self.dispatch(&mut under_way).await.unwrap_or_else(|error| trouble.begin(&error)),
            };
            tokio::select! {
                () = &mut stop => break,
                Some(visit) = under_way.next() => trouble.hear(visit),
                () = self.wake.notified() => tokio::time::sleep(GATHER).await,
                () = tokio::time::sleep(sleep) => {}
            }
        }
        self.stop.send_replace(true);
        let end = async { while under_way.next().await.is_some() {} };
        let _ = tokio::time::timeout(self.courier.options.grace, end).await;
    }

    /// Sends couriers to all that are due, as long as there are any left. Returns when to look again.
    async fn dispatch(&self, under_way: &mut UnderWay) -> Result<Duration> {
        let parallel = self.courier.options.parallel;
        // Again as long as places are left and those who were served may hide others.
        while under_way.keys.len() < parallel {
            let (now, before) = (SystemTime::now(), under_way.keys.len());
            let taken = under_way.taken(&self.courier.options);
            // Those under way are still due, so this many more than there are places has whatever comes next.
            let waiting = self.courier.store.due(now + HORIZON, parallel + 1, &taken).await?;
            let all = waiting.len() <= parallel;
            if let Some(wait) = self.send_out(under_way, waiting, now) {
                return Ok(wait.min(SLEEP));
            }
            if all || under_way.keys.len() == before {
                break;
            }
        }
        Ok(SLEEP)
    }

    /// To each that is due, as far as there are places for it. Returns how long the first has to wait that is not due.
    fn send_out(&self, under_way: &mut UnderWay, waiting: Vec<Due>, now: SystemTime) -> Option<Duration> {
        let options = &self.courier.options;
        for due in waiting {
            let PushState::Active { not_before } = due.push.state else { continue };
            let wait = not_before.duration_since(now).unwrap_or_default();
            // Nothing is put off for longer than the longest delay, unless the clock was set back.
            let is_due = wait.is_zero() || wait > options.longest_delay;
            let key = key(&due);
            if under_way.has(&key) {
                continue;
            }
            if !is_due {
                return Some(wait);
            }
            if under_way.has_place(&key, options) {
                under_way.start(&self.courier, key, due);
            }
        }
        None
    }
}

impl UnderWay {
    // There are as many as there are places, at most, so that looking at all of them is cheap.

    fn has(&self, key: &Key) -> bool {
        self.keys.values().any(|other| other == key)
    }

    fn of_principal(&self, principal: &Principal) -> usize {
        self.keys.values().filter(|key| key.principal == *principal).count()
    }

    fn at_host(&self, host: &str) -> usize {
        self.keys.values().filter(|key| key.host == host).count()
    }

    fn has_place(&self, key: &Key, options: &Options) -> bool {
        self.keys.len() < options.parallel
            && self.of_principal(&key.principal) < options.per_principal
            && self.at_host(&key.host) < options.per_host
    }

    /// Who has all places that one may have.
    fn taken(&self, options: &Options) -> Taken {
        let mut taken = Taken::default();
        for key in self.keys.values() {
            let full = self.of_principal(&key.principal) >= options.per_principal;
            if full && !taken.principals.contains(&key.principal) {
                taken.principals.push(key.principal.clone());
            }
            if self.at_host(&key.host) >= options.per_host && !taken.hosts.contains(&key.host) {
                taken.hosts.push(key.host.clone());
            }
        }
        taken
    }

    fn start(&mut self, courier: &Arc<Courier>, key: Key, due: Due) {
        let courier = Arc::clone(courier);
        let visit = self.visits.spawn(async move { courier.visit(due).await });
        self.keys.insert(visit.id(), key);
    }

    /// The next visit that ends; none if there is none. One that panicked is a fault of the program, and the loop
    /// goes on as if the store had failed: not at once.
    async fn next(&mut self) -> Option<Result<()>> {
        let (id, outcome) = match self.visits.join_next_with_id().await? {
            Ok((id, outcome)) => (id, outcome),
            Err(error) => (error.id(), Err(StoreError::Failed(error.to_string()))),
        };
        self.keys.remove(&id);
        Some(outcome)
    }
}

fn key(due: &Due) -> Key {
    let config = &due.push.config;
    Key {
        principal: due.principal.clone(),
        task_id: config.task_id.clone(),
        id: config.id.clone(),
        host: webhook::authority(&config.url),
    }
}

impl Trouble {
    /// What is left of the pause after a failure.
    fn rest(&self) -> Option<Duration> {
        let left = self.until?.saturating_duration_since(Instant::now());
        Some(left).filter(|left| !left.is_zero())
    }

    /// A visit whose outcome was recorded shows that the store works.
    fn hear(&mut self, visit: Result<()>) {
        match visit {
            Ok(()) => *self = Self::default(),
            Err(error) => drop(self.begin(&error)),
        }
    }

    /// A webhook whose outcome cannot be recorded is due at once, and must not be called over and over. Returns the
    /// pause.
    fn begin(&mut self, error: &StoreError) -> Duration {
        self.failures = self.failures.saturating_add(1);
        let rest = backoff::delay(FIRST_REST, LONGEST_REST, self.failures, backoff::chance());
        tracing::warn!(%error, ?rest, "webhooks have to wait");
        self.until = Some(Instant::now() + rest);
        rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_store_that_fails_is_left_alone_for_longer_and_longer() {
        let mut trouble = Trouble::default();
        let mut fail = || trouble.begin(&StoreError::Failed("full".to_owned()));
        let rests: Vec<Duration> = (0..9).map(|_| fail()).collect();
        assert!(rests.windows(2).take(5).all(|pair| pair[0] <= pair[1]), "{rests:?}");
        assert!(rests.iter().all(|rest| (FIRST_REST / 2..=LONGEST_REST).contains(rest)), "{rests:?}");
        assert_eq!(trouble.rest(), rests.last().copied());
        tokio::time::advance(LONGEST_REST).await;
        assert_eq!(trouble.rest(), None);
        trouble.hear(Ok(()));
        assert_eq!(trouble.failures, 0);
    }
}
