//! Who is woken for a connection: the task that drives it, when something comes from outside. hyper wakes the two ends of a body
//! for each other, though most often one task drives both, is at it, and would only go through all that waits above the
//! connection once more. Both sides of the server have ears: its own connections, and those to models.

use std::cell::Cell;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};

use futures::task::AtomicWaker;
use tokio::task::coop;

pub struct Ears {
    task: Arc<Task>,
    /// The same for all polls, so that it is kept where it is registered.
    waker: Waker,
}

struct Task(AtomicWaker);

/// What this thread hears of wakings by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hearing {
    All,
    Nothing,
    /// Nothing, and there was something.
    Missed,
}

thread_local! {
    static HEARING: Cell<Hearing> = const { Cell::new(Hearing::All) };
}

impl Default for Ears {
    fn default() -> Self {
        let task = Arc::new(Task(AtomicWaker::new()));
        Self { waker: Waker::from(Arc::clone(&task)), task }
    }
}

impl Ears {
    /// Drives a connection with these ears, for the task of this context.
    pub fn listen<T>(&self, context: &Context<'_>, drive: impl FnOnce(&mut Context<'_>) -> T) -> T {
        self.task.0.register(context.waker());
        drive(&mut Context::from_waker(&self.waker))
    }
}

/// Does something of which no ears hear on this thread. The second is whether there was something to hear; who does not know what
/// comes of it already has to wake the task for it.
pub fn deaf<T>(act: impl FnOnce() -> T) -> (T, bool) {
    let _before = Restored(HEARING.replace(Hearing::Nothing));
    let done = act();
    (done, HEARING.get() == Hearing::Missed)
}

/// Also when what was done panicked: the thread goes on, and would hear of nothing any more.
struct Restored(Hearing);

impl Drop for Restored {
    fn drop(&mut self) {
        HEARING.set(self.0);
    }
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // A task that has had its turn is woken so that it goes on in the next one.
        if HEARING.get() == Hearing::All || !coop::has_budget_remaining() {
            self.0.wake();
        } else {
            HEARING.set(Hearing::Missed);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn the_deaf_hear_only_what_comes_from_outside() {
        let (count, ears) = (Arc::new(Count::default()), Ears::default());
        let (task, heard) = (Waker::from(Arc::clone(&count)), || count.0.load(Ordering::Relaxed));
        let ear = ears.listen(&Context::from_waker(&task), |context| context.waker().clone());
        assert_eq!(deaf(|| ()), ((), false));
        assert_eq!(deaf(|| ear.wake_by_ref()), ((), true));
        assert_eq!(heard(), 0);
        // Whatever became of it, one hears again.
        let fails = std::panic::AssertUnwindSafe(|| deaf(|| panic!("for the test")));
        assert!(std::panic::catch_unwind(fails).is_err());
        assert_eq!(HEARING.get(), Hearing::All);
        // Another thread is outside, even while this one is deaf.
        let other = ear.clone();
        assert_eq!(deaf(|| std::thread::spawn(move || other.wake()).join().unwrap()), ((), false));
        assert_eq!(heard(), 1);
        // Once for each time that the task drives it.
        ear.wake_by_ref();
        assert_eq!(heard(), 1);
        ears.listen(&Context::from_waker(&task), |context| context.waker().wake_by_ref());
        assert_eq!(heard(), 2);
    }
}
