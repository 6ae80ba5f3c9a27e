//! Who is woken for a connection of HTTP/1: the task that drives it, when something comes from outside. hyper wakes the two ends of
//! a body for each other, though one task drives both, is at it, and would only go through all that waits above the connection
//! once more. Both sides of the server have ears: its own connections, and those to models. Knows nothing of HTTP: what may be
//! missed is known where [`deaf`] is called, see `docs/adr/0027-who-is-woken-for-a-connection.md`.

use std::cell::Cell;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};

use futures::task::AtomicWaker;

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

/// Does something of which no ears hear on this thread: nothing but a poll of a body whose connection the same task drives, or
/// putting a request to it. The second is whether there was something to hear; who does not know what comes of it already has to
/// wake the task for it.
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
        match HEARING.get() {
            Hearing::All => self.0.wake(),
            Hearing::Nothing | Hearing::Missed => HEARING.set(Hearing::Missed),
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
