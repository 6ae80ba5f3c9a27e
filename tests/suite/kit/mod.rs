//! What the tests share: real servers on a free port, with the probe behind it or with A2A, and a client for each
//! binding.

mod a2a;
pub mod agent;
mod client;
mod meddle;
mod outcome;
pub mod process;
pub mod upstream;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agena::domain::principal::Principal;
use agena::domain::secret::Secret;
use agena::transcode::{Mount, Router};
use agena::transport::{Access, Drained, Keys, Listener, Origins, Rim, Server, stack};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tonic::service::Routes;

pub use a2a::{A2aServer, A2aSetup, OTHER};
pub use client::{Binding, Client, Http, Told, with_token};
pub use meddle::{Meddler, Read};
pub use outcome::{Outcome, printed};

use crate::probe::pb::probe_service_http;
use crate::probe::pb::probe_service_server::ProbeServiceServer;
use crate::probe::snake::snake_service_http;
use crate::probe::snake::snake_service_server::SnakeServiceServer;
use crate::probe::{Probe, Shared};

pub const TOKEN: &str = "the-token-of-the-tests";
/// Nothing in a test takes this long; waiting longer would only hide a hang.
pub const DEADLINE: Duration = Duration::from_secs(10);

/// A server in the making.
#[derive(Debug)]
pub struct Setup {
    pub body_limit: usize,
    pub message_limit: usize,
    pub header_limit: usize,
    pub max_connections: usize,
    pub drain: Duration,
    pub open: bool,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            body_limit: 64 * 1024,
            message_limit: 64 * 1024,
            header_limit: 16 * 1024,
            max_connections: 100,
            drain: Duration::from_secs(5),
            open: false,
        }
    }
}

impl Setup {
    pub async fn start(self) -> TestServer {
        let listener = Listener::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let address = listener.address();
        let service = Arc::new(Shared::default());
        let probe = Arc::clone(&service.0);
        let grpc =
            ProbeServiceServer::from_arc(Arc::clone(&service)).max_decoding_message_size(self.message_limit);
        let snake = SnakeServiceServer::from_arc(Arc::clone(&service));
        let server = Server {
            stack: stack(self.rim(address), Arc::new(router(&service)), Routes::new(grpc).add_service(snake)),
            tls: None,
            max_connections: self.max_connections,
            header_limit: self.header_limit,
            drain: self.drain,
        };
        let (stop, stopped) = oneshot::channel::<()>();
        let running = tokio::spawn(server.serve(listener, async { stopped.await.unwrap_or_default() }));
        TestServer { address, probe, stop: Some(stop), running }
    }

    fn rim(&self, bound: SocketAddr) -> Rim {
        let owners = [("tester", TOKEN), ("other", OTHER)];
        let keys = owners.map(|(name, key)| (Principal::named(name), Secret::new(key)));
        Rim {
            bound,
            hosts: vec!["agent.example".to_owned()],
            origins: Origins { listed: ["https://app.example".to_owned()].into(), loopback: !self.open },
            access: if self.open { Access::Open } else { Access::Keys(Keys::new(keys.into())) },
            body_limit: self.body_limit,
        }
    }
}

pub fn router(service: &Arc<Shared>) -> Router {
    let mut router = Router::default();
    router.mount(Mount::ROOT, probe_service_http::routes(service)).unwrap();
    router.mount(Mount::ROOT, snake_service_http::routes(service)).unwrap();
    router
}

/// A server that runs until it is stopped or dropped.
pub struct TestServer {
    pub address: SocketAddr,
    pub probe: Arc<Probe>,
    stop: Option<oneshot::Sender<()>>,
    running: JoinHandle<Drained>,
}

impl TestServer {
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Asks it to stop; `stopped` waits for it.
    pub fn stop(&mut self) {
        self.stop.take().into_iter().for_each(|stop| stop.send(()).unwrap());
    }

    pub async fn stopped(self) -> Drained {
        soon(self.running).await.unwrap()
    }
}

pub async fn server() -> TestServer {
    Setup::default().start().await
}

/// A directory that lies in none for temporary files: those are open to confined commands. The build itself may lie in
/// one.
pub fn away() -> tempfile::TempDir {
    let temporary = [PathBuf::from("/tmp"), PathBuf::from("/var/tmp"), std::env::temp_dir()];
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let places = [Some(PathBuf::from(env!("CARGO_TARGET_TMPDIR"))), home];
    let is_away = |place: &PathBuf| !temporary.iter().any(|temporary| place.starts_with(temporary));
    let place =
        places.into_iter().flatten().find(is_away).expect("neither the build nor HOME lies outside of /tmp");
    std::fs::create_dir_all(&place).unwrap();
    tempfile::tempdir_in(place).unwrap()
}

/// Waits, but not for ever.
pub async fn soon<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(DEADLINE, future).await.expect("this should have happened by now")
}

/// Waits until something that cannot be awaited is so.
pub async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let started = tokio::time::Instant::now();
    while !holds() {
        assert!(started.elapsed() < DEADLINE, "{what}: not within the deadline");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// An HTTP client that keeps its hands off: no redirects, no proxies of the environment.
pub fn http() -> reqwest::Client {
    // Another test of this process may have been first.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .timeout(DEADLINE)
        .build()
        .unwrap()
}
