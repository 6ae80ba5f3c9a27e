//! A whole A2A server in process: a journal, the agent with a script behind it, the service, its routes and the
//! deliveries. What the composition root does, with everything in reach of a test.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use agena::agent::Engine;
use agena::domain::principal::Principal;
use agena::domain::store::Store;
use agena::proto::a2a::a2a_service_http;
use agena::proto::a2a::a2a_service_server::A2aServiceServer;
use agena::push::{self, Counts, Deliverer};
use agena::service::a2a::{A2a, Options};
use agena::service::card::{Offer, Place, card};
use agena::service::push_body::PushBodies;
use agena::store::{Durability, Sqlite};
use agena::transcode::{Mount, Router, Tenants, Unknown};
use agena::transport::handler::{coder, jsonrpc, well_known};
use agena::transport::{Drained, Listener, Server, stack};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tonic::service::Routes;

use super::agent::AgentSetup;
use super::{Meddler, Setup, TOKEN, http, soon, until};

/// The key of the principal `other`; `TOKEN` is the one of `tester`.
pub const OTHER: &str = "the-key-of-another-principal";

const ROOT: Mount = Mount { tenants: Tenants::Drop, unknown: Unknown::Ignore, ..Mount::ROOT };

/// An A2A server in the making.
#[derive(Debug)]
pub struct A2aSetup {
    pub rim: Setup,
    /// The journal, for a server that comes back; without it, one that goes away with the server.
    pub journal: Option<PathBuf>,
    pub offer: Offer,
    pub push: push::Options,
    pub agent: AgentSetup,
}

impl Default for A2aSetup {
    fn default() -> Self {
        let offer =
            Offer { streaming: true, push_notifications: true, extended_card: true, ..Offer::default() };
        Self {
            rim: Setup::default(),
            journal: None,
            offer,
            push: push::Options::default(),
            agent: AgentSetup::default(),
        }
    }
}

/// Runs until it is stopped or dropped.
pub struct A2aServer {
    pub address: SocketAddr,
    /// For calls that no front makes yet.
    pub a2a: Arc<A2a>,
    pub store: Arc<dyn Store>,
    /// The same, for tests that want to stop it somewhere.
    pub meddler: Arc<Meddler>,
    pub counts: Arc<Counts>,
    /// What its agent was made with.
    pub agent: AgentSetup,
    stop: oneshot::Sender<()>,
    end: oneshot::Sender<()>,
    serving: JoinHandle<Drained>,
    delivering: JoinHandle<()>,
}

impl A2aServer {
    /// With a rehearsal's script in YAML.
    pub async fn start(script: &str, setup: A2aSetup) -> Self {
        let listener = Listener::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let address = listener.address();
        let meddler = open(setup.journal.as_ref());
        let store = Arc::clone(&meddler) as Arc<dyn Store>;
        let engine = Engine::new(Arc::clone(&store), setup.agent.mind(script));
        engine.recover().await.unwrap();
        let a2a = Arc::new(A2a::new(engine.clone(), card_at(address, &setup.offer), options(&setup)));
        let (wake, bodies) = (Arc::clone(engine.committed()), Arc::new(PushBodies));
        let deliverer = Deliverer::new(Arc::clone(&store), bodies, wake, setup.push.clone()).unwrap();
        let counts = deliverer.counts();
        let (stop, stopped) = oneshot::channel::<()>();
        let (end, ended) = oneshot::channel::<()>();
        let serving =
            server(&setup, address, &a2a).serve(listener, async { stopped.await.unwrap_or_default() });
        let serving = tokio::spawn(serving);
        let delivering = tokio::spawn(deliverer.run(async { ended.await.unwrap_or_default() }));
        let agent = setup.agent.clone();
        Self { address, a2a, store, meddler, counts, agent, stop, end, serving, delivering }
    }

    /// Stops it, and waits until nobody holds its journal any more.
    pub async fn stop(self) {
        let Self { a2a, store, meddler, stop, end, serving, delivering, .. } = self;
        drop((stop, a2a, meddler));
        soon(serving).await.unwrap();
        drop(end);
        soon(delivering).await.unwrap();
        let held = Arc::downgrade(&store);
        drop(store);
        until("the journal is closed", || held.strong_count() == 0).await;
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The HTTP status and what was answered.
    pub async fn call_as(&self, key: &str, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
        let mut request = http().request(method.parse().unwrap(), self.url(path)).bearer_auth(key);
        if let Some(body) = body {
            request = request.header("content-type", "application/json").body(body.to_string());
        }
        let response = soon(request.send()).await.unwrap();
        let status = response.status().as_u16();
        let text = soon(response.text()).await.unwrap();
        (status, serde_json::from_str(&text).unwrap_or(Value::Null))
    }

    /// As `tester`, who is not refused.
    pub async fn call(&self, method: &str, path: &str, body: Option<&Value>) -> Value {
        let (status, answer) = self.call_as(TOKEN, method, path, body).await;
        assert!((200..300).contains(&status), "{method} {path}: {status} {answer}");
        answer
    }

    /// Says something and waits for the answer: a task, or else a message. `more` goes into the message,
    /// `configuration` beside it.
    pub async fn say(&self, text: &str, more: Value, configuration: Value) -> Value {
        let id = uuid::Uuid::now_v7().to_string();
        let mut message = json!({"messageId": id, "role": "ROLE_USER", "parts": [{"text": text}]});
        let more = more.as_object().cloned().unwrap_or_default();
        message.as_object_mut().unwrap().extend(more);
        let request = json!({"message": message, "configuration": configuration});
        self.call("POST", "/message:send", Some(&request)).await
    }

    pub fn tester() -> Principal {
        Principal::named("tester")
    }
}

fn open(journal: Option<&PathBuf>) -> Arc<Meddler> {
    let store = match journal {
        Some(path) => Sqlite::open(path, Durability::Process),
        None => Sqlite::open_temporary(),
    };
    Meddler::new(Arc::new(store.unwrap()))
}

fn card_at(address: SocketAddr, offer: &Offer) -> agena::proto::a2a::AgentCard {
    let place = Place { url: format!("http://{address}"), authority: address.to_string(), needs_key: true };
    card(&place, offer)
}

fn options(setup: &A2aSetup) -> Options {
    let push_hosts = setup.push.allow_hosts.clone();
    Options { repeat_window: Duration::from_mins(5), page_key: [7; 64], push_hosts, tenants: Vec::new() }
}

fn server(setup: &A2aSetup, address: SocketAddr, a2a: &Arc<A2a>) -> Server {
    let mut router = Router::default();
    router.mount(Mount::ROOT, well_known::routes(a2a.card(), SystemTime::now()).unwrap()).unwrap();
    router.mount(ROOT, a2a_service_http::routes(a2a)).unwrap();
    router.mount(ROOT, jsonrpc::routes(a2a)).unwrap();
    router.mount(Mount::ROOT, coder::routes(a2a)).unwrap();
    let grpc = A2aServiceServer::from_arc(Arc::clone(a2a));
    Server {
        stack: stack(setup.rim.rim(address), Arc::new(router), Routes::new(grpc)),
        tls: None,
        max_connections: setup.rim.max_connections,
        header_limit: setup.rim.header_limit,
        drain: setup.rim.drain,
    }
}
