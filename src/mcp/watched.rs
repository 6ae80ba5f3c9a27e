//! What comes in from a server, whichever way: progress goes to the call that it is about, a changed list is noted, other
//! notices are dropped, and whoever talks too fast is listened to more slowly. Only answers and requests get through to
//! the protocol's library, so that no flood grows anywhere.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{JsonRpcMessage, ProgressNotificationParam, ProgressToken, ServerNotification};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::offer::cut;

/// Messages in a window; then nothing is read until it is over.
const MESSAGES: u32 = 1_000;
const WINDOW: Duration = Duration::from_secs(1);
/// Progress that came before somebody waited for it.
const EARLY: usize = 16;
const WORDS: usize = 2_000;

/// What a connection has heard.
#[derive(Default)]
pub(super) struct Heard {
    calls: Mutex<Calls>,
    /// The server says that its tools are others now.
    pub(super) tools_changed: AtomicBool,
}

#[derive(Default)]
struct Calls {
    waiting: HashMap<ProgressToken, mpsc::Sender<String>>,
    early: VecDeque<(ProgressToken, String)>,
}

impl Heard {
    /// Tells the progress of a call, as long as the returned value lives.
    pub(super) fn follow(self: &Arc<Self>, token: ProgressToken, to: mpsc::Sender<String>) -> Following {
        let mut calls = self.lock();
        let (mine, others): (VecDeque<_>, VecDeque<_>) =
            std::mem::take(&mut calls.early).into_iter().partition(|(of, _)| *of == token);
        calls.early = others;
        for (_, words) in mine {
            let _ = to.try_send(words);
        }
        calls.waiting.insert(token.clone(), to);
        Following { heard: Arc::clone(self), token }
    }

    /// What cannot be told at once is let go: the next one says more.
    fn progress(&self, said: &ProgressNotificationParam) {
        let words = words(said);
        let mut calls = self.lock();
        match calls.waiting.get(&said.progress_token) {
            Some(to) => drop(to.try_send(words)),
            None => {
                calls.early.push_back((said.progress_token.clone(), words));
                let over = calls.early.len().saturating_sub(EARLY);
                calls.early.drain(..over);
            }
        }
    }

    /// Maps are whole after every call, so a panic elsewhere cannot leave them broken.
    fn lock(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call whose progress is told.
pub(super) struct Following {
    heard: Arc<Heard>,
    token: ProgressToken,
}

impl Drop for Following {
    fn drop(&mut self) {
        self.heard.lock().waiting.remove(&self.token);
    }
}

fn words(said: &ProgressNotificationParam) -> String {
    let amount = match said.total {
        Some(total) if total > 0.0 => format!("{} of {total}", said.progress),
        _ => said.progress.to_string(),
    };
    match said.message.as_deref().filter(|message| !message.is_empty()) {
        Some(message) => format!("[{amount}] {}\n", cut(message, WORDS)),
        None => format!("[{amount}]\n"),
    }
}

/// A way to a server, listened to with care.
pub(super) struct Watched<T> {
    inner: T,
    heard: Arc<Heard>,
    window: Instant,
    count: u32,
}

impl<T> Watched<T> {
    pub(super) fn new(inner: T, heard: Arc<Heard>) -> Self {
        Self { inner, heard, window: Instant::now(), count: 0 }
    }

    /// Waits where too much came. May be dropped and called again.
    async fn slow_down(&mut self) {
        if self.count >= MESSAGES {
            tokio::time::sleep_until(self.window + WINDOW).await;
        }
        if self.window.elapsed() >= WINDOW {
            (self.window, self.count) = (Instant::now(), 0);
        }
    }

    /// Whether it is for the library.
    fn passes(&self, message: &RxJsonRpcMessage<RoleClient>) -> bool {
        let JsonRpcMessage::Notification(notification) = message else { return true };
        match &notification.notification {
            ServerNotification::ProgressNotification(progress) => self.heard.progress(&progress.params),
            ServerNotification::ToolListChangedNotification(_) => {
                self.heard.tools_changed.store(true, Ordering::Release);
            }
            _ => {}
        }
        false
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Watched<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            self.slow_down().await;
            let message = self.inner.receive().await?;
            self.count += 1;
            if self.passes(&message) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}
