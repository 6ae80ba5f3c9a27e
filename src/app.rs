//! The composition root: settings in, a running server out. The only place that knows every part.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tonic::codec::CompressionEncoding;
use tonic::service::Routes;
use tonic_health::server::HealthReporter;

use crate::agent::{Engine, EngineError};
use crate::config::token::{self, TokenError};
use crate::config::{self, AuthMode, LOCAL_KEY, Settings};
use crate::domain::principal::Principal;
use crate::domain::secret::Secret;
use crate::domain::store::Store;
use crate::model::rehearsal::{BadScript, Rehearsal, Script};
use crate::projection::v03::rest::rest_body;
use crate::proto::a2a::AgentExtension;
use crate::proto::a2a::a2a_service_http;
use crate::proto::a2a::a2a_service_server::{A2aServiceServer, SERVICE_NAME as A2A_NAME};
use crate::proto::a2a_v03::a2a_service_server::SERVICE_NAME as A2A_V03_NAME;
use crate::proto::json::Unprintable;
use crate::proto::{self, a2a_v03};
use crate::push::{self, Deliverer};
use crate::service::a2a::{A2a, Options};
use crate::service::a2a_v03::A2aV03;
use crate::service::card::{Offer, Place, card};
use crate::service::push_body::PushBodies;
use crate::store::{Durability, OpenError, Sqlite};
use crate::transcode::{Body, Clash, Mount, Route, Router, Rule, Slash, Tenants, Unknown};
use crate::transport::handler::{card_v03, health, jsonrpc, well_known};
use crate::transport::{self, Access, Drained, Keys, Listener, Origins, Rim, Server, TlsError};

/// The journal, in the data directory.
const JOURNAL: &str = "journal.db";

const SERVICES: [&str; 2] = [A2A_NAME, A2A_V03_NAME];

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
    #[error("the system gives no random bytes ({0}); try again")]
    Random(getrandom::Error),
    #[error("cannot wait for signals: {0}")]
    Signals(io::Error),
}

/// A server that is bound and ready to serve.
pub struct App {
    pub place: Place,
    pub token: Option<Secret>,
    pub warning: Option<String>,
    listener: Listener,
    server: Server,
    /// None if webhooks are not offered.
    deliverer: Option<Deliverer>,
    health: HealthReporter,
    signals: transport::Signals,
}

impl App {
    pub async fn start(settings: &Settings) -> Result<Self, StartError> {
        let signals = transport::Signals::new().map_err(StartError::Signals)?;
        let listener =
            Listener::bind(settings.listen).await.map_err(|e| cannot_listen(settings.listen, &e))?;
        let tls =
            settings.tls.as_ref().map(|files| transport::acceptor(&files.cert, &files.key)).transpose()?;
        let place = place(settings, listener.address());
        let (access, local) = access(settings)?;
        let store: Arc<dyn Store> =
            Arc::new(Sqlite::open(&settings.data_dir.join(JOURNAL), durability(settings))?);
        let engine = Engine::new(Arc::clone(&store), Arc::new(rehearsal(settings)?));
        let left = engine.recover().await.map_err(StartError::Recover)?;
        tracing::debug!(left, "tasks of an earlier run were looked at");
        let deliverer = deliverer(settings, &engine)?;
        keep_tidy(store, settings.store.retention);
        let a2a = Arc::new(A2a::new(engine, card(&place, &offer(settings)), options(settings)?));
        let v03 = Arc::new(A2aV03::new(Arc::clone(&a2a)));
        let (grpc, health) = grpc(settings, &a2a, &v03).await?;
        let rim = rim(settings, listener.address(), access);
        let server = Server {
            stack: transport::stack(rim, Arc::new(router(&a2a, &v03)?), grpc),
            tls,
            max_connections: settings.max_connections,
            header_limit: settings.limits.header_bytes,
            drain: settings.drain,
        };
        let (token, warning) = local.map_or((None, None), |local| (Some(local.token), local.warning));
        Ok(Self { place, token, warning, listener, server, deliverer, health, signals })
    }

    /// Serves until the process is asked to stop.
    pub async fn run(self) -> Drained {
        let (told, stop) = tokio::sync::oneshot::channel();
        let (mut health, mut signals) = (self.health, self.signals);
        tokio::spawn(async move {
            let signal = signals.next().await;
            // Whoever balances load over several servers should look elsewhere from now on.
            for name in [""].into_iter().chain(SERVICES) {
                health.set_service_status(name, tonic_health::ServingStatus::NotServing).await;
                // Ends the streams of those who watch, which would hold up the stop otherwise.
                health.clear_service_status(name).await;
            }
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
        let drained = self.server.serve(self.listener, stopped).await;
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

/// What clients are told. Nobody can call 0.0.0.0, so without a public URL it becomes loopback.
fn place(settings: &Settings, bound: SocketAddr) -> Place {
    let ip = match bound.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    let scheme = if settings.tls.is_some() { "https" } else { "http" };
    let here = SocketAddr::new(ip, bound.port());
    let url = settings
        .public_url
        .as_ref()
        .map_or_else(|| format!("{scheme}://{here}"), |url| url.as_str().to_owned());
    Place { authority: authority(&url), url, needs_key: !matches!(settings.auth, AuthMode::None) }
}

/// `host:port` of a URL, the port being the scheme's where the URL names none.
fn authority(url: &str) -> String {
    let uri: http::Uri = url.parse().unwrap_or_default();
    let port = uri.port_u16().unwrap_or(if uri.scheme_str() == Some("https") { 443 } else { 80 });
    format!("{}:{port}", uri.host().unwrap_or_default())
}

fn access(settings: &Settings) -> Result<(Access, Option<token::LocalToken>), StartError> {
    let AuthMode::Token { keys } = &settings.auth else { return Ok((Access::Open, None)) };
    let local = token::load_or_create(&settings.data_dir)?;
    let named = keys.iter().map(|named| (Principal::named(&named.name), named.key.clone()));
    let all = named.chain([(Principal::named(LOCAL_KEY), local.token.clone())]).collect();
    Ok((Access::Keys(Keys::new(all)), Some(local)))
}

fn rim(settings: &Settings, bound: SocketAddr, access: Access) -> Rim {
    let listed = settings.allowed_origins.iter().map(|origin| origin.as_str().to_owned()).collect();
    Rim {
        bound,
        hosts: settings.allowed_hosts.iter().map(|host| host.as_str().to_owned()).collect(),
        origins: Origins { listed, loopback: matches!(access, Access::Keys(_)) },
        access,
        body_limit: settings.limits.body_bytes,
    }
}

fn durability(settings: &Settings) -> Durability {
    match settings.store.durability {
        config::Durability::Process => Durability::Process,
        config::Durability::Power => Durability::Power,
    }
}

fn rehearsal(settings: &Settings) -> Result<Rehearsal, StartError> {
    let Some(path) = &settings.rehearsal else {
        let bad =
            |e: BadScript| StartError::Rehearsal { path: "built in".to_owned(), problem: e.to_string() };
        return Rehearsal::built_in().map_err(bad);
    };
    let bad = |problem: String| StartError::Rehearsal { path: path.display().to_string(), problem };
    let text = std::fs::read_to_string(path).map_err(|e| bad(e.to_string()))?;
    let first_line = |e: BadScript| bad(e.to_string().lines().next().unwrap_or_default().to_owned());
    Script::parse(&text).map(Rehearsal::new).map_err(first_line)
}

fn offer(settings: &Settings) -> Offer {
    let extension = |e: &config::Extension| AgentExtension {
        uri: e.uri.clone(),
        description: e.description.clone(),
        required: e.required,
        params: None,
    };
    Offer {
        streaming: settings.a2a.streaming,
        push_notifications: settings.a2a.push_notifications,
        extended_card: settings.a2a.extended_card,
        extensions: settings.a2a.extensions.iter().map(extension).collect(),
    }
}

fn options(settings: &Settings) -> Result<Options, StartError> {
    let mut page_key = [0; 64];
    getrandom::fill(&mut page_key).map_err(StartError::Random)?;
    Ok(Options { repeat_window: settings.a2a.repeat_window, page_key, push_hosts: push_hosts(settings) })
}

fn push_hosts(settings: &Settings) -> Vec<String> {
    settings.push_hosts.iter().map(|host| host.as_str().to_owned()).collect()
}

fn deliverer(settings: &Settings, engine: &Engine) -> Result<Option<Deliverer>, StartError> {
    if !settings.a2a.push_notifications {
        return Ok(None);
    }
    let (store, wake) = (Arc::clone(engine.store()), Arc::clone(engine.committed()));
    let options = push::Options { allow_hosts: push_hosts(settings), ..push::Options::default() };
    Ok(Some(Deliverer::new(store, Arc::new(PushBodies), wake, options)?))
}

/// Forgets what is older than the operator wants to keep, now and every hour.
fn keep_tidy(store: Arc<dyn Store>, retention: Option<Duration>) {
    let Some(retention) = retention else { return };
    tokio::spawn(async move {
        let mut hours = tokio::time::interval(Duration::from_hours(1));
        loop {
            hours.tick().await;
            let Some(before) = SystemTime::now().checked_sub(retention) else { continue };
            match store.purge(before).await {
                Ok(tasks) if tasks > 0 => tracing::info!(tasks, "old tasks were forgotten"),
                Ok(_) => {}
                Err(error) => tracing::warn!(%error, "old tasks cannot be forgotten"),
            }
        }
    });
}

/// A2A ignores what it does not know, in a query as in a body.
const A2A_ROOT: Mount = Mount { tenants: Tenants::Drop, unknown: Unknown::Ignore, ..Mount::ROOT };
const A2A_TENANTS: Mount = Mount { prefix: &["a2a"], unknown: Unknown::Ignore, ..Mount::ROOT };
/// Clients of 0.3 disagree on how their REST bodies are spelled; both ways are read.
const A2A_V03: Mount = Mount { unknown: Unknown::Ignore, spelling: Some(rest_body), ..Mount::ROOT };
/// Some clients put a slash behind the address that the card gives them.
const RPC: Mount = Mount { slash: Slash::Ignore, unknown: Unknown::Ignore, ..Mount::ROOT };

/// 1.0's annotation says GET, its prose POST. Both are served.
static SUBSCRIBE: Rule = post("/tasks/{id=*}:subscribe");
static SUBSCRIBE_V03: Rule = post("/v1/{name=tasks/*}:subscribe");
/// 0.3's annotation says `task/*`, its prose `tasks`.
static CREATE_PUSH_V03: Rule =
    Rule { body: Body::Field("config"), ..post("/v1/{parent=tasks/*}/pushNotificationConfigs") };

const fn post(template: &'static str) -> Rule {
    Rule { rpc: "", method: "POST", template, body: Body::None, response_body: None }
}

fn router(a2a: &Arc<A2a>, v03: &Arc<A2aV03>) -> Result<Router, StartError> {
    let native = with(a2a_service_http::routes(a2a), "/SubscribeToTask", &SUBSCRIBE);
    let legacy = with(a2a_v03::a2a_service_http::routes(v03), "/TaskSubscription", &SUBSCRIBE_V03);
    let legacy = with(legacy, "/CreateTaskPushNotificationConfig", &CREATE_PUSH_V03);
    let legacy = instead(legacy, card_v03::route(a2a));
    let mut router = Router::default();
    router.mount(Mount::ROOT, health::routes())?;
    router.mount(Mount::ROOT, well_known::routes(a2a.card(), SystemTime::now())?)?;
    router.mount(RPC, jsonrpc::routes(a2a))?;
    router.mount(A2A_ROOT, native.clone())?;
    router.mount(A2A_TENANTS, native)?;
    router.mount(A2A_V03, legacy)?;
    Ok(router)
}

/// The same routes, and one of them at a second place.
fn with(mut routes: Vec<Route>, rpc: &str, rule: &'static Rule) -> Vec<Route> {
    let found = routes.iter().find(|route| route.rule().rpc.ends_with(rpc)).map(|route| route.also(rule));
    routes.extend(found);
    routes
}

/// The same routes, with another one at a place that one of them has.
fn instead(mut routes: Vec<Route>, route: Route) -> Vec<Route> {
    routes.retain(|other| other.rule().template != route.rule().template);
    routes.push(route);
    routes
}

async fn grpc(
    settings: &Settings,
    a2a: &Arc<A2a>,
    v03: &Arc<A2aV03>,
) -> Result<(Routes, HealthReporter), StartError> {
    let (health, health_service) = tonic_health::server::health_reporter();
    let a2a = A2aServiceServer::from_arc(Arc::clone(a2a))
        .accept_compressed(CompressionEncoding::Gzip)
        .max_decoding_message_size(settings.limits.message_bytes);
    let v03 = a2a_v03::a2a_service_server::A2aServiceServer::from_arc(Arc::clone(v03))
        .accept_compressed(CompressionEncoding::Gzip)
        .max_decoding_message_size(settings.limits.message_bytes);
    for name in SERVICES {
        health.set_service_status(name, tonic_health::ServingStatus::Serving).await;
    }
    let mut routes = Routes::new(health_service).add_service(a2a).add_service(v03);
    if settings.reflection {
        let reflection = || {
            tonic_reflection::server::Builder::configure()
                .register_encoded_file_descriptor_set(proto::DESCRIPTORS)
                .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
                .with_service_name(A2A_NAME)
                .with_service_name(A2A_V03_NAME)
                .with_service_name("grpc.health.v1.Health")
        };
        routes = routes.add_service(reflection().build_v1()?).add_service(reflection().build_v1alpha()?);
    }
    Ok((routes, health))
}
