//! Which tasks are being worked on or followed right now. One runner per task at most; a task without a runner and
//! without followers is not here at all.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::live::Live;
use super::runner::Command;

/// More messages than this waiting for one task is not a conversation.
const WAITING: usize = 64;

#[derive(Debug, Clone, Default)]
pub(super) struct Tasks {
    list: Arc<Mutex<HashMap<String, Entry>>>,
    /// The process is about to stop.
    closing: CancellationToken,
}

#[derive(Debug)]
struct Entry {
    live: Arc<Live>,
    holders: usize,
    inbox: Option<mpsc::Sender<Command>>,
}

/// A hold on the tail of a task; the last one to let go takes the task off the list.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) live: Arc<Live>,
    tasks: Tasks,
    task_id: String,
}

/// What became of a command.
pub(super) enum Delivered {
    /// The runner of the task has it.
    ToRunner,
    /// Nobody runs the task: the caller starts a runner with these, and the command is in the inbox.
    ToNew(Held, mpsc::Receiver<Command>),
    /// Too many are waiting.
    Full,
}

impl Tasks {
    /// The tail that everybody shares who has to do with this task.
    pub(super) fn hold(&self, task_id: &str) -> Held {
        self.hold_in(&mut self.lock(), task_id)
    }

    /// A task that begins now, with its inbox.
    pub(super) fn begin(&self, task_id: &str) -> (Held, mpsc::Receiver<Command>) {
        self.enter(task_id, Live::from_start())
    }

    /// A task that has a past and is worked on again.
    pub(super) fn join(&self, task_id: &str) -> (Held, mpsc::Receiver<Command>) {
        self.enter(task_id, Live::joined())
    }

    fn enter(&self, task_id: &str, live: Live) -> (Held, mpsc::Receiver<Command>) {
        let live = Arc::new(live);
        let (send, inbox) = mpsc::channel(WAITING);
        let entry = Entry { live: Arc::clone(&live), holders: 1, inbox: Some(send) };
        self.lock().insert(task_id.to_owned(), entry);
        (Held { live, tasks: self.clone(), task_id: task_id.to_owned() }, inbox)
    }

    pub(super) fn deliver(&self, task_id: &str, command: Command) -> Delivered {
        let mut tasks = self.lock();
        let command = match tasks.get(task_id).and_then(|entry| entry.inbox.as_ref()) {
            None => command,
            Some(inbox) => match inbox.try_send(command) {
                Ok(()) => return Delivered::ToRunner,
                Err(mpsc::error::TrySendError::Full(_)) => return Delivered::Full,
                Err(mpsc::error::TrySendError::Closed(command)) => command,
            },
        };
        let held = self.hold_in(&mut tasks, task_id);
        let (send, inbox) = mpsc::channel(WAITING);
        // A fresh channel has room.
        let _ = send.try_send(command);
        if let Some(entry) = tasks.get_mut(task_id) {
            entry.inbox = Some(send);
        }
        Delivered::ToNew(held, inbox)
    }

    /// The runner has nothing to do. Either it gets what came at the last moment, or nobody can reach it any more.
    pub(super) fn retire(&self, task_id: &str, inbox: &mut mpsc::Receiver<Command>) -> Option<Command> {
        let mut tasks = self.lock();
        let late = inbox.try_recv().ok();
        if late.is_none()
            && let Some(entry) = tasks.get_mut(task_id)
        {
            entry.inbox = None;
            // Whoever followed the work until now need not wait any longer.
            if self.closing.is_cancelled() {
                entry.live.wake();
            }
        }
        late
    }

    /// From now on nobody waits for a task that rests.
    pub(super) fn close(&self) {
        self.closing.cancel();
        self.lock().values().for_each(|entry| entry.live.wake());
    }

    pub(super) fn closing(&self) -> &CancellationToken {
        &self.closing
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.lock().len()
    }

    fn hold_in(&self, tasks: &mut HashMap<String, Entry>, task_id: &str) -> Held {
        let new = || Entry { live: Arc::new(Live::joined()), holders: 0, inbox: None };
        let entry = tasks.entry(task_id.to_owned()).or_insert_with(new);
        entry.holders += 1;
        Held { live: Arc::clone(&entry.live), tasks: self.clone(), task_id: task_id.to_owned() }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Entry>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    /// Whether the process stops and nobody works on the task, so that nothing more comes of it here.
    pub(super) fn is_left(&self) -> bool {
        self.tasks.closing.is_cancelled() && self.tasks.lock().get(&self.task_id).is_none_or(Entry::rests)
    }
}

impl Entry {
    /// A runner that broke down has left its end of the inbox.
    fn rests(&self) -> bool {
        self.inbox.as_ref().is_none_or(mpsc::Sender::is_closed)
    }
}

impl Clone for Held {
    fn clone(&self) -> Self {
        if let Some(entry) = self.tasks.lock().get_mut(&self.task_id) {
            entry.holders += 1;
        }
        Self { live: Arc::clone(&self.live), tasks: self.tasks.clone(), task_id: self.task_id.clone() }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut tasks = self.tasks.lock();
        let Some(entry) = tasks.get_mut(&self.task_id) else { return };
        entry.holders = entry.holders.saturating_sub(1);
        if entry.holders == 0 && entry.inbox.is_none() {
            tasks.remove(&self.task_id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_listed_as_long_as_somebody_has_to_do_with_it() {
        let tasks = Tasks::default();
        let (runner, mut inbox) = tasks.begin("t");
        let follower = tasks.hold("t");
        assert!(tasks.retire("t", &mut inbox).is_none());
        drop(runner);
        assert_eq!(tasks.len(), 1);
        drop(follower);
        assert_eq!(tasks.len(), 0);
    }

    #[test]
    fn at_a_stop_a_task_is_left_when_its_runner_has_gone() {
        let tasks = Tasks::default();
        let (_runner, mut inbox) = tasks.begin("t");
        let follower = tasks.hold("t");
        let mut changes = follower.live.changes();
        tasks.close();
        assert!(changes.has_changed().unwrap() && !follower.is_left());
        changes.borrow_and_update();
        assert!(tasks.retire("t", &mut inbox).is_none());
        assert!(changes.has_changed().unwrap() && follower.is_left());
    }
}
