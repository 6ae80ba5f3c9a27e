//! Answers that go on without their callers, by their ids. What is not here does not run, whatever the store says.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::join_all;
use tokio::sync::{oneshot, watch};

use crate::domain::principal::Principal;

type Key = (Principal, String);

#[derive(Clone, Default)]
pub(super) struct Running(Arc<Mutex<HashMap<Key, Handle>>>);

struct Handle {
    stop: Option<oneshot::Sender<()>>,
    over: watch::Receiver<bool>,
}

/// Held by the run itself; it is over when this is dropped.
pub(super) struct Run {
    running: Running,
    key: Key,
    /// Resolves when somebody wants it to stop.
    pub(super) stopped: oneshot::Receiver<()>,
    over: watch::Sender<bool>,
}

impl Running {
    fn locked(&self) -> MutexGuard<'_, HashMap<Key, Handle>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn begin(&self, who: &Principal, id: &str) -> Run {
        let (stop, stopped) = oneshot::channel();
        let (told, over) = watch::channel(false);
        let key = (who.clone(), id.to_owned());
        self.locked().insert(key.clone(), Handle { stop: Some(stop), over });
        Run { running: self.clone(), key, stopped, over: told }
    }

    pub(super) fn count(&self, who: &Principal) -> usize {
        self.locked().keys().filter(|(owner, _)| owner == who).count()
    }

    /// Waits for all of them; those that take longer than this are stopped, and store that they were.
    pub(super) async fn drain(&self, limit: Duration) {
        let over = |handle: &Handle| handle.over.clone();
        let all: Vec<_> = self.locked().iter().map(|(key, handle)| (key.clone(), over(handle))).collect();
        let ended = all.iter().cloned().map(|(_, mut over)| async move {
            // The end of the sender is the end too.
            let _ = over.wait_for(|over| *over).await;
        });
        if tokio::time::timeout(limit, join_all(ended)).await.is_err() {
            join_all(all.iter().map(|((who, id), _)| self.stop(who, id))).await;
        }
    }

    pub(super) fn has(&self, who: &Principal, id: &str) -> bool {
        self.locked().contains_key(&(who.clone(), id.to_owned()))
    }

    /// Asks it to stop, and waits until it has stored how it ended.
    pub(super) async fn stop(&self, who: &Principal, id: &str) {
        let over = match self.locked().get_mut(&(who.clone(), id.to_owned())) {
            None => return,
            Some(handle) => {
                // It may be stopping already.
                if let Some(stop) = handle.stop.take() {
                    let _ = stop.send(());
                }
                handle.over.clone()
            }
        };
        let mut over = over;
        // The end of the sender is the end too.
        let _ = over.wait_for(|over| *over).await;
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.running.locked().remove(&self.key);
        self.over.send_replace(true);
    }
}
