//! The composition root: settings in, a running server out. The only place that knows every part.

mod facades;
mod mcp;
mod mind;
mod models;
mod parts;
mod reload;
mod routes;
mod sandbox;

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tonic_health::server::HealthReporter;

use self::facades::Facades;
use self::mind::mind;
use self::models::Models;
use self::parts::{
    access, deliverer, durability, keep_quiet, keep_tidy, offer, options, page_key, place, rim, secrets,
};
use self::routes::{grpc, router, services};
use self::sandbox::confining;
use crate::agent::policy::BadRule;
use crate::agent::{Engine, EngineError};
use crate::config::token::TokenError;
use crate::config::trust::TrustError;
use crate::config::{NamedBackend, Settings};
use crate::domain::secret::Secret;
use crate::domain::shelf::Shelf;
use crate::domain::store::Store;
use crate::fetch;
use crate::model::http::ClientError;
use crate::proto::json::Unprintable;
use crate::push::{self, Deliverer};
use crate::sandbox::process;
use crate::service::a2a::A2a;
use crate::service::a2a_v03::A2aV03;
use crate::service::card::{Place, card};
use crate::service::devtool::DevTool;
use crate::service::responses::Responses;
use crate::store::{OpenError, Sqlite};
use crate::telemetry::metrics::Metrics;
use crate::tool;
use crate::transcode::Clash;
use crate::transport::{self, Drained, Listener, Server, TlsError};

/// The journal, in the data directory.
const JOURNAL: &str = "journal.db";

/// Why the server does not start. Each is one line that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("cannot listen on {address}: {problem}")]
    Listen { address: SocketAddr, problem: String },
    #[error(transparent)]
    Token(#[from] TokenError),
    #[error(transparent)]
    Tls(#[from] TlsError),
    #[error("two routes for one path: {0}")]
    Routes(#[from] Clash),
    #[error(transparent)]
    Card(#[from] Unprintable),
    #[error("the reflection service cannot be built: {0}")]
    Reflection(#[from] tonic_reflection::server::Error),
    #[error(transparent)]
    Store(#[from] OpenError),
    #[error("the tasks of an earlier run cannot be read: {0}")]
    Recover(EngineError),
    #[error("cannot read the rehearsal {path}: {problem}")]
    Rehearsal { path: String, problem: String },
    #[error(transparent)]
    Push(#[from] push::ClientError),
    #[error(transparent)]
    Media(#[from] fetch::ClientError),
    #[error("the system gives no random bytes ({0}); try again")]
    Random(getrandom::Error),
    #[error(transparent)]
    Models(#[from] ClientError),
    #[error("sessions cannot be recorded in {}: {error}; name another directory with --record", .dir.display())]
    Record { dir: PathBuf, error: io::Error },
    #[error(
        "model.name: there is no model `{0}`, only `rehearsal`; set GEMINI_API_KEY, or name a backend that has it"
    )]
    NoModel(String),
    #[error("the backend `{name}` (model.backends) cannot be used: {problem}")]
    Backend { name: String, problem: String },
    #[error("agent.sandbox is on, but {0}; use a kernel that has it, or start with --sandbox auto or off")]
    NoSandbox(&'static str),
    #[error("rule {} (agent.rules[{index}]): {problem}; mend it or take it out", .index + 1)]
    Rule { index: usize, problem: BadRule },
    #[error(transparent)]
    Trust(#[from] TrustError),
    #[error("the workspace {} does not lie under agent.root, {}; name one that does with --workspace", .workspace.display(), .root.display())]
    OutsideRoot { workspace: PathBuf, root: PathBuf },
    #[error(transparent)]
    Workspaces(#[from] tool::OpenError),
    #[error("the workspace cannot be used: {0}, with --workspace")]
    Workspace(String),
    #[error("the server's own program is not found, which runs commands for it: {0}")]
    OwnBinary(io::Error),
    #[error("cannot wait for signals: {0}")]
    Signals(io::Error),
}

/// A server that is bound and ready to serve.
pub struct App {
    pub place: Place,
    pub token: Option<Secret>,
    pub warning: Option<String>,
    /// Whether commands are confined, in words.
    pub sandbox: String,
    listener: Listener,
    server: Server,
    /// None if webhooks are not offered.
    deliverer: Option<Deliverer>,
    health: HealthReporter,
    signals: transport::Signals,
    hangups: transport::Hangups,
    models: Models,
    responses: Arc<Responses>,
    engine: Engine,
    drain: Duration,
}

impl App {
    pub async fn start(settings: &Settings) -> Result<Self, StartError> {
        let signals = transport::Signals::new().map_err(StartError::Signals)?;
        let hangups = transport::Hangups::new().map_err(StartError::Signals)?;
        if let Err(error) = process::close_to_others() {
            tracing::warn!(%error, "commands of the agent could read the memory of this process");
        }
        let listener =
            Listener::bind(settings.listen).await.map_err(|e| cannot_listen(settings.listen, &e))?;
        let tls =
            settings.tls.as_ref().map(|files| transport::acceptor(&files.cert, &files.key)).transpose()?;
        let place = place(settings, listener.address());
        let (access, local) = access(settings)?;
        let confining = confining(settings.agent.sandbox)?;
        let metrics = Arc::new(Metrics::default());
        let secrets = secrets(settings, local.as_ref());
        let models = Models::new(&settings.model, secrets, Arc::clone(&metrics.models))?;
        let mind = mind(settings, &models, confining.on, &metrics)?;
        let sqlite = Arc::new(Sqlite::open(&settings.data_dir.join(JOURNAL), durability(settings))?);
        let (store, shelf): (Arc<dyn Store>, Arc<dyn Shelf>) = (sqlite.clone(), sqlite);
        let engine = Engine::new(Arc::clone(&store), mind);
        let left = engine.recover().await.map_err(StartError::Recover)?;
        tracing::debug!(left, "tasks of an earlier run were looked at");
        let deliverer = deliverer(settings, &engine)?;
        keep_tidy(store, Arc::clone(&shelf), settings.store.retention);
        keep_quiet(engine.clone());
        let devtool = Arc::new(DevTool::new(engine.clone(), settings.a2a.repeat_window, page_key()?));
        let a2a = Arc::new(A2a::new(engine.clone(), card(&place, &offer(settings)), options(settings)?));
        let v03 = Arc::new(A2aV03::new(Arc::clone(&a2a)));
        let facades = Facades::new(settings, &models, &shelf)?;
        let (grpc, health) = grpc(settings, &a2a, &v03, &devtool, &facades).await?;
        let rim = rim(settings, listener.address(), access);
        let router = Arc::new(router(settings, &a2a, &v03, &devtool, &metrics, &facades)?);
        let server = Server {
            stack: transport::stack(rim, router, grpc),
            tls,
            max_connections: settings.max_connections,
            header_limit: settings.limits.header_bytes,
            drain: settings.drain,
        };
        let (token, warning) = local.map_or((None, None), |local| (Some(local.token), local.warning));
        let sandbox = confining.word;
        Ok(Self {
            place,
            token,
            warning,
            sandbox,
            listener,
            server,
            deliverer,
            health,
            signals,
            hangups,
            models,
            responses: facades.responses(),
            engine,
            drain: settings.drain,
        })
    }

    /// Who serves the model that is asked where a client names none; none if that is decided anew each time.
    pub fn serving(settings: &Settings) -> Option<&NamedBackend> {
        models::serving(&settings.model)
    }

    /// Serves within a process that does something else, until that has had enough. The process still ends when it is told
    /// to; only what the keyboard sends is left to it.
    pub async fn run_until(self, stop: impl Future<Output = ()> + Send + 'static) -> Drained {
        let mut signals = self.signals;
        let mut hangups = self.hangups;
        let told = tokio::spawn(async move {
            loop {
                tokio::select! {
                    signal = signals.next() => if signal == "SIGTERM" { std::process::exit(143) },
                    () = hangups.next() => std::process::exit(129),
                }
            }
        });
        let (end, ended) = tokio::sync::oneshot::channel::<()>();
        let ended = async { ended.await.unwrap_or_default() };
        let delivering = self.deliverer.map(|deliverer| tokio::spawn(deliverer.run(ended)));
        let engine = self.engine;
        let stop = async move {
            stop.await;
            engine.close();
        };
        let drained = self.server.serve(self.listener, stop).await;
        self.responses.drain(self.drain).await;
        drop(end);
        if let Some(delivering) = delivering {
            let _ = delivering.await;
        }
        told.abort();
        drained
    }

    /// Serves until the process is asked to stop. `settings` are those in force; `read` reads them again.
    pub async fn run(
        self,
        settings: Settings,
        read: impl Fn() -> Result<Settings, String> + Send + 'static,
    ) -> Drained {
        tokio::spawn(reload::on_hangup(self.hangups, self.models, settings, read));
        let (told, stop) = tokio::sync::oneshot::channel();
        let (mut health, mut signals, engine) = (self.health, self.signals, self.engine);
        tokio::spawn(async move {
            let signal = signals.next().await;
            // Whoever balances load over several servers should look elsewhere from now on.
            for name in [""].into_iter().chain(services()) {
                health.set_service_status(name, tonic_health::ServingStatus::NotServing).await;
                // Ends the streams of those who watch, which would hold up the stop otherwise.
                health.clear_service_status(name).await;
            }
            engine.close();
            let _ = told.send(signal);
            // Asked twice: whoever asks does not want to wait for the rest.
            signals.next().await;
            tracing::warn!("stopped at once; open requests were cut");
            std::process::exit(130);
        });
        let stopped = async {
            if let Ok(signal) = stop.await {
                tracing::info!(signal, "stopping");
            }
        };
        // Until the last call has ended, because its webhooks should hear how.
        let (end, ended) = tokio::sync::oneshot::channel::<()>();
        let ended = async { ended.await.unwrap_or_default() };
        let delivering = self.deliverer.map(|deliverer| tokio::spawn(deliverer.run(ended)));
        let (stopping, began) = tokio::sync::oneshot::channel();
        let stopped = async {
            stopped.await;
            let _ = stopping.send(Instant::now());
        };
        let drained = self.server.serve(self.listener, stopped).await;
        let since = began.await.map(|began| began.elapsed()).unwrap_or_default();
        self.responses.drain(self.drain.saturating_sub(since)).await;
        drop(end);
        if let Some(delivering) = delivering {
            let _ = delivering.await;
        }
        drained
    }
}

fn cannot_listen(address: SocketAddr, error: &io::Error) -> StartError {
    let problem = match error.kind() {
        io::ErrorKind::AddrInUse => "the port is in use; choose another with --listen".to_owned(),
        io::ErrorKind::PermissionDenied => {
            "not permitted; ports below 1024 need rights, choose another".to_owned()
        }
        _ => error.to_string(),
    };
    StartError::Listen { address, problem }
}
