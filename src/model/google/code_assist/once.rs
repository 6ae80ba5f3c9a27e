//! Something that is made once, however many wait for it. It is made in a task of its own, so that nobody's leaving stops
//! it; who waited for one that failed is told so, and the next one tries again.

use std::sync::{Mutex, MutexGuard, PoisonError};

use futures::FutureExt;
use futures::future::{BoxFuture, Shared};

use crate::domain::model::{ModelCause, ModelError};

type Making<T> = Shared<BoxFuture<'static, Result<T, ModelError>>>;

enum State<T> {
    Nothing,
    Making(Making<T>),
    Made(T),
}

pub(super) struct Once<T>(Mutex<State<T>>);

impl<T> Default for Once<T> {
    fn default() -> Self {
        Self(Mutex::new(State::Nothing))
    }
}

impl<T: Clone + Send + Sync + 'static> Once<T> {
    pub(super) async fn get<F>(&self, make: impl FnOnce() -> F) -> Result<T, ModelError>
    where
        F: Future<Output = Result<T, ModelError>> + Send + 'static,
    {
        let making = match self.begun(make) {
            Ok(made) => return Ok(made),
            Err(making) => making,
        };
        let outcome = making.clone().await;
        let mut state = self.state();
        if matches!(&*state, State::Making(current) if current.ptr_eq(&making)) {
            *state = outcome.clone().map_or(State::Nothing, State::Made);
        }
        outcome
    }

    fn begun<F>(&self, make: impl FnOnce() -> F) -> Result<T, Making<T>>
    where
        F: Future<Output = Result<T, ModelError>> + Send + 'static,
    {
        let mut state = self.state();
        match &*state {
            State::Made(made) => return Ok(made.clone()),
            State::Making(making) => return Err(making.clone()),
            State::Nothing => {}
        }
        let task = tokio::spawn(make());
        let broken = || Err(ModelError::new(ModelCause::Broken, "the set-up of the account broke off"));
        let making = async move { task.await.unwrap_or_else(|_| broken()) }.boxed().shared();
        *state = State::Making(making.clone());
        Err(making)
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    async fn hundred(once: &Arc<Once<usize>>, made: &Arc<AtomicUsize>, outcome: Result<usize, ModelError>) {
        let callers = (0..100).map(|_| {
            let (once, made, outcome) = (Arc::clone(once), Arc::clone(made), outcome.clone());
            tokio::spawn(async move {
                let making = async move {
                    made.fetch_add(1, Ordering::Relaxed);
                    tokio::task::yield_now().await;
                    outcome
                };
                once.get(|| making).await
            })
        });
        let callers: Vec<_> = callers.collect();
        for told in futures::future::join_all(callers).await {
            assert_eq!(told.unwrap(), outcome);
        }
    }

    #[tokio::test]
    async fn it_is_made_once_and_a_failure_is_told_once() {
        let (once, made) = (Arc::new(Once::default()), Arc::new(AtomicUsize::new(0)));
        hundred(&once, &made, Err(ModelError::new(ModelCause::Unavailable, "down"))).await;
        assert_eq!(made.load(Ordering::Relaxed), 1);
        hundred(&once, &made, Ok(7)).await;
        assert_eq!(made.load(Ordering::Relaxed), 2);
        assert_eq!(once.get(|| async { Ok(8) }).await.unwrap(), 7);
    }
}
