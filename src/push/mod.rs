//! Deliveries: what is stored behind the cursor of a webhook is sent to it, at least once and in order. Knows the store
//! and the notices through their contracts, and neither agent nor service; the composition root starts it. Which
//! addresses a name may lead to is asked of the sandbox, when it is dialled.
//!
//! | module | what it is |
//! | --- | --- |
//! | `deliverer` | the loop: finds webhooks that are due and sends couriers, some at a time |
//! | `courier` | one visit to one webhook: event after event, each acknowledged before the next |
//! | `request` | the headers and the signature; pure |
//! | `client` | the HTTP client, which follows nothing and nobody |

mod client;
mod courier;
mod deliverer;
mod request;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

pub use crate::sandbox::dial::{Lookup, SystemLookup};
pub use client::ClientError;
pub use deliverer::Deliverer;

/// What can be set about deliveries. Operators set the hosts, tests the rest.
#[derive(Debug, Clone)]
pub struct Options {
    /// Hosts that may lie inside.
    pub allow_hosts: Vec<String>,
    /// After so many failures in a row a webhook is stopped.
    pub attempts: u32,
    /// Before the second attempt; doubled each time.
    pub first_delay: Duration,
    pub longest_delay: Duration,
    /// For name, connection and TLS.
    pub connect: Duration,
    /// For the whole request, up to the status of the answer.
    pub total: Duration,
    /// How many webhooks are visited at the same time.
    pub parallel: usize,
    /// Of these, how many of one principal, and how many at one host and port: the rest of theirs waits, and nobody else
    /// does.
    pub per_principal: usize,
    pub per_host: usize,
    /// How long a stop waits for requests that are under way.
    pub grace: Duration,
    pub lookup: Arc<dyn Lookup>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            allow_hosts: Vec::new(),
            attempts: 12,
            first_delay: Duration::from_secs(1),
            longest_delay: Duration::from_mins(5),
            connect: Duration::from_secs(5),
            total: Duration::from_secs(15),
            parallel: 64,
            per_principal: 16,
            per_host: 8,
            grace: Duration::from_secs(3),
            lookup: Arc::new(SystemLookup),
        }
    }
}

/// What came of the deliveries since the start.
#[derive(Debug, Default)]
pub struct Counts {
    delivered: AtomicU64,
    failed: AtomicU64,
    stopped: AtomicU64,
}

impl Counts {
    /// Requests that were acknowledged.
    pub fn delivered(&self) -> u64 {
        self.delivered.load(Ordering::Relaxed)
    }

    /// Requests that were not, whether they were sent or not.
    pub fn failed(&self) -> u64 {
        self.failed.load(Ordering::Relaxed)
    }

    /// Webhooks that were given up.
    pub fn stopped(&self) -> u64 {
        self.stopped.load(Ordering::Relaxed)
    }

    fn count(number: &AtomicU64) -> u64 {
        number.fetch_add(1, Ordering::Relaxed) + 1
    }
}

/// Why a webhook did not get a notice. Names nothing of the webhook, so that it can be stored and logged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum Failure {
    #[error("answered {0}")]
    Status(u16),
    #[error("gave no answer in time")]
    Timeout,
    #[error("cannot be reached, or shows a certificate that is not trusted")]
    Connect,
    #[error("broke the connection off")]
    Lost,
    #[error("has a URL that {0}")]
    Url(crate::domain::webhook::BadWebhook),
    #[error("leads inside; allow the host with push.allow_hosts if that is meant")]
    Inward,
    #[error("has a token or credentials that cannot be a header")]
    Header,
}
