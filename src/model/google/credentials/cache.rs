//! Keeps a token until it has to be renewed. However many ask, one renewal is under way at a time, and it runs to its
//! end whoever leaves; while the old token does, nobody waits for it. Knows nothing of where tokens come from.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use futures::FutureExt;
use futures::future::{BoxFuture, Shared};

use super::token::Standing;
use super::{Now, Source, Token, TokenSource};
use crate::domain::model::{ModelCause, ModelError};
use crate::domain::secret::Secret;

/// How long a renewal rests that brought nothing better, while the old token does.
const PAUSE: Duration = Duration::from_secs(10);

type Outcome = Result<Token, ModelError>;
type Flight = Shared<BoxFuture<'static, Outcome>>;

pub struct Cache {
    inner: Arc<Inner>,
}

struct Inner {
    source: Box<dyn Source>,
    now: Now,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    token: Option<Token>,
    refused: Option<Secret>,
    flight: Option<Flight>,
    rest_until: Option<SystemTime>,
}

impl Cache {
    pub fn new(source: impl Source, now: Now) -> Self {
        Self { inner: Arc::new(Inner { source: Box::new(source), now, state: Mutex::default() }) }
    }
}

#[async_trait]
impl TokenSource for Cache {
    async fn token(&self) -> Outcome {
        let flight = match self.inner.at_hand() {
            Ok(token) => return Ok(token),
            Err(flight) => flight,
        };
        flight.await
    }

    fn forget(&self, refused: &Secret) {
        let mut state = self.inner.state();
        // Others may have been refused with the same one, and it was renewed meanwhile.
        if state.token.as_ref().is_some_and(|token| token.secret.is(refused)) {
            state.token = None;
            state.refused = Some(refused.clone());
        }
    }

    fn blot(&self, text: &str) -> String {
        let state = self.inner.state();
        let known = state.token.iter().map(|token| &token.secret).chain(&state.refused);
        known.fold(text.to_owned(), |text, secret| text.replace(secret.expose(), "[redacted]"))
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The token, or the renewal to wait for.
    fn at_hand(self: &Arc<Self>) -> Result<Token, Flight> {
        let now = (self.now)();
        let mut state = self.state();
        let standing = state.token.as_ref().map_or(Standing::Gone, |token| token.standing(now));
        let resting = state.rest_until.is_some_and(|until| now < until);
        if standing == Standing::Due && !resting && state.flight.is_none() {
            drop(self.take_off(&mut state));
        }
        match &state.token {
            Some(token) if standing != Standing::Gone => Ok(token.clone()),
            _ => Err(state.flight.clone().unwrap_or_else(|| self.take_off(&mut state))),
        }
    }

    fn take_off(self: &Arc<Self>, state: &mut State) -> Flight {
        let refused = state.refused.clone();
        let landing = Landing { inner: Arc::clone(self), outcome: None };
        // A task of its own: whoever asked may leave, and what was granted must not be lost.
        let task = tokio::spawn(async move {
            let outcome = landing.inner.source.fetch(refused.as_ref()).await;
            landing.with(outcome.clone());
            outcome
        });
        let broken = || Err(ModelError::new(ModelCause::Broken, "the renewal of the credentials broke off"));
        let flight = async move { task.await.unwrap_or_else(|_| broken()) }.boxed().shared();
        state.flight = Some(flight.clone());
        flight
    }

    fn land(&self, outcome: Option<Outcome>) {
        let now = (self.now)();
        let mut state = self.state();
        state.flight = None;
        state.rest_until = Some(now + PAUSE);
        let Some(Ok(token)) = outcome else { return };
        if token.standing(now) == Standing::Fresh {
            (state.rest_until, state.refused) = (None, None);
        }
        state.token = Some(token);
    }
}

/// Ends a flight however it ends, also by a panic.
struct Landing {
    inner: Arc<Inner>,
    outcome: Option<Outcome>,
}

impl Landing {
    fn with(mut self, outcome: Outcome) {
        self.outcome = Some(outcome);
    }
}

impl Drop for Landing {
    fn drop(&mut self) {
        self.inner.land(self.outcome.take());
    }
}

#[cfg(test)]
mod tests;
