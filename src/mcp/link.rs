//! One connection to a server: opened, listed, called, with a bound on the time and the amount of each. Knows nothing of
//! tasks; `server` keeps it and opens another when it has ended.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::future::BoxFuture;
use rmcp::RoleClient;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ClientRequest,
    GetPromptRequestParams, Implementation, PaginatedRequestParams, Prompt, PromptMessage,
    ReadResourceRequestParams, ReadResourceResult, Resource, ServerResult, Tool,
};
use rmcp::service::{Peer, PeerRequestOptions, RunningService, ServiceError, serve_client_with_ct};
use rmcp::transport::Transport;
use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::http;
use super::offer::Offer;
use super::pipe::{Pipe, Why};
use super::watched::{Heard, Watched};
use super::words;
use crate::domain::mcp::{Origin, Spec, Way};
use crate::domain::secret::Secret;
use crate::domain::tool::Arguments;
use crate::sandbox::process::Launcher;

/// Of lists: what no honest server reaches.
const PAGES: usize = 64;
const ITEMS: usize = 1_000;
/// Of a whole list, however many pages it has.
const LIST: Duration = Duration::from_secs(30);
/// After a list that could not be read.
const AGAIN: Duration = Duration::from_secs(1);
/// A list of prompts that is wanted now, and how long it is believed; and one that could not be read.
const SOON: Duration = Duration::from_secs(5);
const FRESH: Duration = Duration::from_secs(10);
const SILENT: Duration = Duration::from_mins(1);
/// To say that a call is not wanted any more.
const FAREWELL: Duration = Duration::from_secs(2);

/// What a server is started or dialled with.
#[derive(Clone)]
pub(super) struct Means {
    pub(super) launcher: Launcher,
    /// Where a command runs that names no directory.
    pub(super) directory: PathBuf,
    /// Hosts that lie inside and may be dialled all the same.
    pub(super) hosts: Vec<String>,
}

impl Means {
    /// How a command is started, and where. It may change its own directory if the operator chose that, else only the
    /// workspace: whoever else names a directory opens nothing with it.
    fn place(&self, spec: &Spec, named: Option<&Path>) -> Result<(Launcher, PathBuf), String> {
        let mut launcher = self.launcher.clone();
        if !spec.confined {
            launcher.confinement = None;
        }
        let directory = match named {
            None => self.directory.clone(),
            Some(named) => real(named)?,
        };
        let open = match spec.origin {
            Origin::Settings => directory.clone(),
            Origin::Workspace | Origin::Client => self.directory.clone(),
        };
        if spec.origin != Origin::Settings && !directory.starts_with(real(&self.directory)?) {
            return Err(format!("cwd: {} lies outside of the workspace", directory.display()));
        }
        if let Some(confinement) = &mut launcher.confinement {
            if named.is_some() && spec.origin == Origin::Settings {
                keeps_hidden(&directory, &confinement.hide)?;
            }
            confinement.write.push(open);
        }
        Ok((launcher, directory))
    }
}

/// With symlinks followed.
fn real(path: &Path) -> Result<PathBuf, String> {
    path.canonicalize().map_err(|error| format!("cwd: {}: {error}", path.display()))
}

/// What may be changed may be read, so nothing that is hidden may lie in it.
fn keeps_hidden(directory: &Path, hidden: &[PathBuf]) -> Result<(), String> {
    let meets = |hidden: &PathBuf| directory.starts_with(hidden) || hidden.starts_with(directory);
    let real = hidden.iter().filter_map(|path| path.canonicalize().ok());
    let Some(met) = real.into_iter().find(meets) else { return Ok(()) };
    Err(format!(
        "cwd: {} would open {}, which is hidden from what is confined; name a directory apart from it",
        directory.display(),
        met.display()
    ))
}

pub(super) struct Link {
    peer: Peer<RoleClient>,
    heard: Arc<Heard>,
    why: Why,
    offer: Mutex<Arc<Offer>>,
    /// Held by whoever lists again; not before this time.
    refreshing: tokio::sync::Mutex<Option<Instant>>,
    /// Until when these are believed.
    prompts: tokio::sync::Mutex<Option<(Instant, Vec<Prompt>)>>,
    pub(super) since: Instant,
    /// The connection ends with it.
    _end: DropGuard,
}

/// How a call came to nothing.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    Cancelled,
    Failed(String),
}

impl Link {
    pub(super) async fn open(spec: &Spec, means: &Means) -> Result<Self, String> {
        let (heard, why) = (Arc::<Heard>::default(), Why::default());
        let end = CancellationToken::new();
        let guard = end.clone().drop_guard();
        let running = match &spec.way {
            Way::Command { program, arguments, environment, directory } => {
                let own = |(name, value): &(String, Secret)| (OsString::from(name), value.expose().into());
                let variables = environment.iter().map(own).collect();
                let (launcher, directory) = means.place(spec, directory.as_deref())?;
                let arguments = arguments.iter().map(OsString::from).collect();
                let started = launcher.talk(directory, program.into(), arguments, variables).await;
                let talking = started.map_err(|error| format!("it cannot be started: {error}"))?;
                serve(Pipe::new(&spec.name, talking, why.clone()), &heard, &why, end).await?
            }
            Way::Http { .. } => serve(http::open(spec, &means.hosts, &why)?, &heard, &why, end).await?,
        };
        let peer = running.peer().clone();
        let noted = why.clone();
        tokio::spawn(async move {
            let _ = running.waiting().await;
            noted.say("the connection was closed");
        });
        let link = Self {
            peer,
            heard,
            why,
            offer: Mutex::default(),
            refreshing: tokio::sync::Mutex::default(),
            prompts: tokio::sync::Mutex::default(),
            since: Instant::now(),
            _end: guard,
        };
        // Whoever knows why it ended knows more than a list that did not come.
        link.list(spec).await.map_err(|error| link.why.get().unwrap_or(error))?;
        Ok(link)
    }

    /// Why it ended, if it has.
    pub(super) fn ended(&self) -> Option<String> {
        let gone = || "the connection was closed".to_owned();
        self.why.get().or_else(|| self.peer.is_transport_closed().then(gone))
    }

    pub(super) fn offer(&self) -> Arc<Offer> {
        Arc::clone(&self.lock())
    }

    /// Takes up a changed list, one at a time, so that none takes the place of a newer one. One that cannot be read
    /// leaves the old one, and is asked for again after a while.
    pub(super) async fn refresh(&self, spec: &Spec) {
        let mut not_before = self.refreshing.lock().await;
        if not_before.is_some_and(|then| Instant::now() < then)
            || !self.heard.tools_changed.swap(false, Ordering::AcqRel)
        {
            return;
        }
        *not_before = None;
        if let Err(error) = self.list(spec).await {
            tracing::warn!(server = spec.name, error, "the tools of an MCP server cannot be listed again");
            self.heard.tools_changed.store(true, Ordering::Release);
            *not_before = Some(Instant::now() + AGAIN);
        }
    }

    async fn list(&self, spec: &Spec) -> Result<(), String> {
        let has_tools = self.peer.peer_info().is_none_or(|info| info.capabilities.tools.is_some());
        let tools: Vec<Tool> = match has_tools {
            false => Vec::new(),
            true => {
                pages(|cursor| {
                    async move {
                        let page = self.peer.list_tools(cursor).await?;
                        Ok((page.tools, page.next_cursor))
                    }
                    .boxed()
                })
                .await?
            }
        };
        *self.lock() = Arc::new(Offer::of(spec, tools));
        Ok(())
    }

    /// Its prompts, listed not long ago. Who does not tell them soon has none for a while, so that nobody else waits.
    pub(super) async fn prompts(&self) -> Vec<Prompt> {
        let mut known = self.prompts.lock().await;
        if let Some((_, prompts)) = known.as_ref().filter(|(until, _)| Instant::now() < *until) {
            return prompts.clone();
        }
        let (prompts, lasts) = match tokio::time::timeout(SOON, self.list_prompts()).await {
            Ok(Ok(prompts)) => (prompts, FRESH),
            Ok(Err(_)) | Err(_) => (Vec::new(), SILENT),
        };
        *known = Some((Instant::now() + lasts, prompts.clone()));
        prompts
    }

    async fn list_prompts(&self) -> Result<Vec<Prompt>, String> {
        if self.peer.peer_info().is_some_and(|info| info.capabilities.prompts.is_none()) {
            return Ok(Vec::new());
        }
        pages(|cursor| {
            async move {
                let page = self.peer.list_prompts(cursor).await?;
                Ok((page.prompts, page.next_cursor))
            }
            .boxed()
        })
        .await
    }

    pub(super) async fn resources(&self) -> Result<Vec<Resource>, String> {
        if self.peer.peer_info().is_some_and(|info| info.capabilities.resources.is_none()) {
            return Ok(Vec::new());
        }
        pages(|cursor| {
            async move {
                let page = self.peer.list_resources(cursor).await?;
                Ok((page.resources, page.next_cursor))
            }
            .boxed()
        })
        .await
    }

    pub(super) async fn read(&self, uri: &str, limit: Duration) -> Result<ReadResourceResult, String> {
        let asked = self.peer.read_resource(ReadResourceRequestParams::new(uri));
        self.within(limit, asked).await
    }

    pub(super) async fn prompt(
        &self,
        name: &str,
        arguments: Arguments,
        limit: Duration,
    ) -> Result<Vec<PromptMessage>, String> {
        let params = GetPromptRequestParams::new(name).with_arguments(arguments);
        Ok(self.within(limit, self.peer.get_prompt(params)).await?.messages)
    }

    async fn within<T>(
        &self,
        limit: Duration,
        asked: impl Future<Output = Result<T, ServiceError>>,
    ) -> Result<T, String> {
        match tokio::time::timeout(limit, asked).await {
            Ok(answered) => answered.map_err(|error| self.told(&error)),
            Err(_) => Err(late(limit)),
        }
    }

    /// Calls a tool by the server's own name for it. The server is told when nobody waits any more.
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: Arguments,
        limit: Duration,
        output: mpsc::Sender<String>,
        cancel: &CancellationToken,
    ) -> Result<CallToolResult, Trouble> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let sent = self.peer.send_cancellable_request(request, PeerRequestOptions::no_options());
        let sent = tokio::time::timeout(limit, sent).await.map_err(|_| Trouble::Failed(late(limit)))?;
        let mut handle = sent.map_err(|error| Trouble::Failed(self.told(&error)))?;
        let following = self.heard.follow(handle.progress_token.clone(), output);
        let trouble = tokio::select! {
            biased;
            answered = &mut handle.rx => {
                drop(following);
                return match answered {
                    Ok(Ok(ServerResult::CallToolResult(result))) => Ok(result),
                    Ok(Ok(_)) => Err(Trouble::Failed("it answered with something that is no result of a tool".to_owned())),
                    Ok(Err(error)) => Err(Trouble::Failed(self.told(&error))),
                    Err(_) => Err(Trouble::Failed(self.told(&ServiceError::TransportClosed))),
                };
            }
            () = cancel.cancelled() => Trouble::Cancelled,
            () = tokio::time::sleep(limit) => Trouble::Failed(late(limit)),
        };
        let reason = match &trouble {
            Trouble::Cancelled => "the user cancelled it",
            Trouble::Failed(_) => "it took too long",
        };
        let _ = tokio::time::timeout(FAREWELL, handle.cancel(Some(reason.to_owned()))).await;
        Err(trouble)
    }

    fn told(&self, error: &ServiceError) -> String {
        match error {
            ServiceError::TransportSend(_) | ServiceError::TransportClosed => {
                self.why.get().map_or_else(|| words::failed(error), |why| format!("it is gone: {why}"))
            }
            error => words::failed(error),
        }
    }

    /// The pointer is exchanged as a whole, so a panic elsewhere cannot leave it broken.
    fn lock(&self) -> MutexGuard<'_, Arc<Offer>> {
        self.offer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn late(limit: Duration) -> String {
    format!("it did not answer within {} s", limit.as_secs_f32())
}

async fn serve<T: Transport<RoleClient> + 'static>(
    transport: T,
    heard: &Arc<Heard>,
    why: &Why,
    end: CancellationToken,
) -> Result<RunningService<RoleClient, ClientConfig>, String> {
    let ourselves = Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
    let config = ClientConfig::new(ClientCapabilities::default(), ourselves);
    let watched = Watched::new(transport, Arc::clone(heard), why.clone());
    serve_client_with_ct(config, watched, end)
        .await
        .map_err(|error| why.get().unwrap_or_else(|| words::refused(&error)))
}

/// Entries, and where the next ones begin.
type Page<T> = Result<(Vec<T>, Option<String>), ServiceError>;

/// All pages of a list, within bounds of time, pages and items.
async fn pages<'a, T>(
    page: impl Fn(Option<PaginatedRequestParams>) -> BoxFuture<'a, Page<T>>,
) -> Result<Vec<T>, String> {
    let reading = async {
        let (mut all, mut cursor) = (Vec::new(), None::<String>);
        for _ in 0..PAGES {
            let asked = cursor.clone().map(|at| PaginatedRequestParams::default().with_cursor(Some(at)));
            let (items, next) = page(asked)
                .await
                .map_err(|error| format!("its list cannot be read: {}", words::failed(&error)))?;
            all.extend(items);
            if all.len() > ITEMS {
                return Err(format!("its list has more than {ITEMS} entries"));
            }
            if next.is_none() || next == cursor {
                return Ok(all);
            }
            cursor = next;
        }
        Err(format!("its list has more than {PAGES} pages"))
    };
    match tokio::time::timeout(LIST, reading).await {
        Ok(read) => read,
        Err(_) => Err(format!("its list was not there after {} s", LIST.as_secs())),
    }
}
