//! Who may ask which model, and how much. What holds for a key stands in the settings; whoever has no bounds there is let
//! through. Drives ask before a model is asked, and tell what came of it.

mod headers;
mod known;
mod relayed;
mod spending;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use self::known::Known;
pub use self::known::Routed;
pub use self::spending::Spending;
use super::size;
use crate::domain::error::{Cause, Error};
use crate::domain::model::Backend;
use crate::domain::principal::Principal;
use crate::domain::quota::{Allowance, Bucket, Level};
use crate::proto::gemini::GenerateContentRequest;

/// What holds for each principal.
#[derive(Debug, Default)]
pub struct Guard {
    /// Only those who have bounds.
    holders: HashMap<Principal, Arc<Holder>>,
    /// None if every name is taken for some model.
    known: Option<Known>,
}

/// One who has bounds, and what is left of them.
struct Holder {
    name: Principal,
    allowance: Allowance,
    began: Instant,
    buckets: Mutex<Buckets>,
}

#[derive(Debug, Clone, Copy)]
struct Buckets {
    requests: Option<Bucket>,
    tokens: Option<Bucket>,
}

impl Guard {
    /// `routed` says which names lead somewhere though no list has them; with it, others are refused that no list has.
    pub fn new(allowances: impl IntoIterator<Item = (Principal, Allowance)>, routed: Option<Routed>) -> Self {
        let bounded = allowances.into_iter().filter(|(_, allowance)| *allowance != Allowance::default());
        let holders = bounded.map(|(who, allowance)| (who.clone(), Arc::new(Holder::new(who, allowance))));
        Self { holders: holders.collect(), known: routed.map(Known::new) }
    }

    /// Whether this principal may ask this model at all.
    pub fn allow(&self, who: &Principal, model: &str) -> Result<(), Error> {
        match self.holders.get(who) {
            Some(holder) if !holder.allowance.allows(model) => Err(Error::new(
                Cause::ModelNotAllowed,
                format!(
                    "the key `{}` may not ask the model `{model}`, only {}",
                    who.name(),
                    holder.allowance.models.join(", ")
                ),
            )),
            _ => Ok(()),
        }
    }

    /// The same, and whether there is such a model, where that matters.
    pub async fn check(&self, backend: &dyn Backend, who: &Principal, model: &str) -> Result<(), Error> {
        self.allow(who, model)?;
        match &self.known {
            Some(known) => known.check(backend, model).await,
            None => Ok(()),
        }
    }

    /// Takes one request out of what the principal has left, and the tokens that it will take at the least.
    pub fn admit(&self, who: &Principal, request: &GenerateContentRequest) -> Result<Spending, Error> {
        self.allow(who, &request.model)?;
        self.take(who, || size::of(request))
    }

    /// The same for a request that is not read.
    pub fn admit_bytes(&self, who: &Principal, model: &str, body: &[u8]) -> Result<Spending, Error> {
        self.allow(who, model)?;
        self.take(who, || size::of_bytes(body))
    }

    /// Whether a request would be admitted now. Nothing is taken.
    pub fn has_room(&self, who: &Principal) -> Result<(), Error> {
        match self.holders.get(who) {
            Some(holder) => holder.has_room(),
            None => Ok(()),
        }
    }

    /// One request, whatever it takes.
    pub fn count(&self, who: &Principal, model: &str) -> Result<(), Error> {
        self.allow(who, model)?;
        self.holders.get(who).map_or(Ok(()), |holder| holder.take(0))
    }

    fn take(&self, who: &Principal, size: impl FnOnce() -> u32) -> Result<Spending, Error> {
        let Some(holder) = self.holders.get(who) else { return Ok(Spending::unbounded(who.clone())) };
        let tokens = holder.allowance.tokens.map_or(0, |_| size());
        holder.take(tokens)?;
        Ok(Spending::of(Arc::clone(holder), tokens))
    }
}

impl Holder {
    fn new(name: Principal, allowance: Allowance) -> Self {
        let bucket = |limit: Option<u32>| limit.map(|limit| Bucket::new(limit, Duration::ZERO));
        let buckets = Buckets { requests: bucket(allowance.requests), tokens: bucket(allowance.tokens) };
        Self { name, allowance, began: Instant::now(), buckets: Mutex::new(buckets) }
    }

    fn buckets(&self) -> (MutexGuard<'_, Buckets>, Duration) {
        let buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        // Behind the lock, so that time does not go back for a bucket.
        let now = self.began.elapsed();
        (buckets, now)
    }

    /// Out of both buckets or none.
    fn take(&self, tokens: u32) -> Result<(), Error> {
        let (mut buckets, now) = self.buckets();
        self.wait(&mut buckets, tokens, now)?;
        let Buckets { requests, tokens: of_tokens } = &mut *buckets;
        requests.iter_mut().for_each(|bucket| bucket.take(1, now));
        of_tokens.iter_mut().for_each(|bucket| bucket.take(tokens, now));
        Ok(())
    }

    fn has_room(&self) -> Result<(), Error> {
        let (mut buckets, now) = self.buckets();
        self.wait(&mut buckets, 1, now)
    }

    /// Refuses what has to wait, for as long as the longer of the two takes.
    fn wait(&self, buckets: &mut Buckets, tokens: u32, now: Duration) -> Result<(), Error> {
        let Buckets { requests, tokens: of_tokens } = buckets;
        let of_each = [(requests, 1, "requests"), (of_tokens, tokens, "tokens")];
        let waits = of_each.into_iter().filter_map(|(bucket, amount, what)| {
            let bucket = bucket.as_mut()?;
            Some((bucket.wait(amount, now), bucket.level(now).limit, what))
        });
        match waits.max_by_key(|(wait, ..)| *wait).filter(|(wait, ..)| !wait.is_zero()) {
            Some((wait, limit, what)) => Err(self.refuse(wait, limit, what)),
            None => Ok(()),
        }
    }

    fn refuse(&self, wait: Duration, limit: u32, what: &str) -> Error {
        let (name, seconds) = (self.name.name(), wait.as_secs_f64());
        let message = format!(
            "the key `{name}` has {limit} {what} in a minute, and they are used up; try again in {seconds} s"
        );
        Error::new(Cause::RateLimited, message).retry_after(wait)
    }

    /// Tokens were more or fewer than was thought.
    fn correct(&self, thought: u32, used: u32) {
        let (mut buckets, now) = self.buckets();
        if let Some(bucket) = &mut buckets.tokens {
            bucket.give_back(thought.saturating_sub(used), now);
            bucket.take(used.saturating_sub(thought), now);
        }
    }

    fn give_back(&self, tokens: u32) {
        let (mut buckets, now) = self.buckets();
        let Buckets { requests, tokens: of_tokens } = &mut *buckets;
        requests.iter_mut().for_each(|bucket| bucket.give_back(1, now));
        of_tokens.iter_mut().for_each(|bucket| bucket.give_back(tokens, now));
    }

    fn levels(&self) -> [Option<Level>; 2] {
        let (mut buckets, now) = self.buckets();
        let Buckets { requests, tokens } = &mut *buckets;
        [requests, tokens].map(|bucket| bucket.as_mut().map(|bucket| bucket.level(now)))
    }
}

impl fmt::Debug for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Holder").field("name", &self.name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
