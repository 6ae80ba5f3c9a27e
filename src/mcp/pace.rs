//! How fast a server is listened to: whoever talks too fast is read more slowly, so that it waits and not we. Counts only.

use std::time::Duration;

use tokio::time::Instant;

/// Messages in a window; then nothing is read until it is over.
const MESSAGES: u32 = 1_000;
const WINDOW: Duration = Duration::from_secs(1);

pub(super) struct Pace {
    window: Instant,
    count: u32,
}

impl Pace {
    pub(super) fn new() -> Self {
        Self { window: Instant::now(), count: 0 }
    }

    /// Waits where too much came. May be dropped and called again.
    pub(super) async fn keep(&mut self) {
        if self.count >= MESSAGES {
            tokio::time::sleep_until(self.window + WINDOW).await;
        }
        if self.window.elapsed() >= WINDOW {
            (self.window, self.count) = (Instant::now(), 0);
        }
    }

    /// Something came.
    pub(super) fn count(&mut self) {
        self.count += 1;
    }
}
