//! What comes in from a server, whichever way: progress goes to the call that it is about, a changed list is noted, other
//! notices are dropped, and whoever talks too fast is listened to more slowly. What a server asks is answered here, and
//! only as long as it listens to the answers. Only answers get through to the protocol's library, so that no flood grows
//! anywhere.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rmcp::RoleClient;
use rmcp::model::{
    ClientResult, ErrorCode, ErrorData, Implementation, JsonRpcMessage, ProgressNotificationParam,
    ProgressToken, RequestId, ServerNotification, ServerRequest, ServerResult,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::offer::cut;
use super::pace::Pace;
use super::pipe::Why;

/// Progress that came before somebody waited for it.
const EARLY: usize = 16;
const WORDS: usize = 2_000;
/// Answers that a server has not taken; then it is not listening.
const UNHEARD: usize = 64;
/// Bytes of an id. A longer one is for nobody to be kept.
const ID: usize = 1_000;

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

    fn notice(&self, said: &ServerNotification) {
        match said {
            ServerNotification::ProgressNotification(progress) => self.progress(&progress.params),
            ServerNotification::ToolListChangedNotification(_) => {
                self.tools_changed.store(true, Ordering::Release);
            }
            _ => {}
        }
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
    why: Why,
    pace: Pace,
    /// Answers on their way to the server.
    answers: JoinSet<()>,
}

impl<T: Transport<RoleClient>> Watched<T> {
    pub(super) fn new(inner: T, heard: Arc<Heard>, why: Why) -> Self {
        Self { inner, heard, why, pace: Pace::new(), answers: JoinSet::new() }
    }

    /// What is for the library; the rest ends here.
    fn sifted(
        &mut self,
        message: RxJsonRpcMessage<RoleClient>,
    ) -> Result<Option<RxJsonRpcMessage<RoleClient>>, Deaf> {
        match message {
            JsonRpcMessage::Notification(notification) => self.heard.notice(&notification.notification),
            JsonRpcMessage::Request(request) => self.answer(request.id, &request.request)?,
            JsonRpcMessage::Response(mut response) => {
                trim(&mut response.result);
                return Ok(Some(JsonRpcMessage::Response(response)));
            }
            error @ JsonRpcMessage::Error(_) => return Ok(Some(error)),
        }
        Ok(None)
    }

    /// There is nothing that a server may ask but whether somebody is there.
    fn answer(&mut self, id: RequestId, asked: &ServerRequest) -> Result<(), Deaf> {
        if matches!(&id, RequestId::String(id) if id.len() > ID) {
            return Ok(());
        }
        while self.answers.try_join_next().is_some() {}
        if self.answers.len() >= UNHEARD {
            self.why.say("it asks and does not listen to the answers");
            return Err(Deaf);
        }
        let answer = match asked {
            ServerRequest::PingRequest(_) => JsonRpcMessage::response(ClientResult::empty(()), id),
            _ => {
                let unknown = "this client offers nothing that a server could ask for";
                JsonRpcMessage::error(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, unknown, None), Some(id))
            }
        };
        let sending = self.inner.send(answer);
        self.answers.spawn(async move { drop(sending.await) });
        Ok(())
    }
}

/// It takes no answers, so nothing more is read from it.
struct Deaf;

/// What a server says of itself is not used, and would be logged whole.
fn trim(result: &mut ServerResult) {
    match result {
        ServerResult::InitializeResult(said) => {
            (said.instructions, said.meta) = (None, None);
            said.server_info = Implementation::new("", "");
            (said.capabilities.experimental, said.capabilities.extensions) = (None, None);
            (said.capabilities.logging, said.capabilities.completions) = (None, None);
        }
        ServerResult::DiscoverResult(said) => said.instructions = None,
        _ => {}
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
            self.pace.keep().await;
            let message = self.inner.receive().await?;
            self.pace.count();
            if let Some(message) = self.sifted(message).ok()? {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.answers.abort_all();
        self.inner.close().await
    }
}
