//! The three servers: tonic alone, which answers from memory, a hop of tonic before it, and agena with its rim, its
//! agent and its journal.

use std::sync::Arc;
use std::time::Duration;

use agena::agent::{Engine, Mind};
use agena::domain::principal::Principal;
use agena::domain::secret::Secret;
use agena::model::rehearsal::{Rehearsal, Script};
use agena::proto::a2a::a2a_service_client::A2aServiceClient;
use agena::proto::a2a::a2a_service_server::{A2aService, A2aServiceServer};
use agena::proto::a2a::*;
use agena::proto::wkt::Timestamp;
use agena::service::a2a::{A2a, Options};
use agena::service::card::{Offer, Place, card};
use agena::store::Sqlite;
use agena::tool::{self, Bench};
use agena::transcode::Router;
use agena::transport::{Access, Keys, Listener, Origins, Rim, Server, stack};
use futures::StreamExt;
use tokio::net::TcpListener;
use tonic::codegen::BoxStream;
use tonic::service::Routes;
use tonic::transport::Channel;
use tonic::{Request, Response, Status};

use crate::load::{KEY, PIECES};

pub fn serve(server: &[String]) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        match server {
            [name] if name == "tonic" => bare(Bare).await,
            [name, upstream] if name == "hop" => bare(Hop::to(upstream).await).await,
            _ => agena().await,
        }
    });
}

async fn bare(service: impl A2aService) {
    let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("{}", socket.local_addr().unwrap());
    let incoming = tonic::transport::server::TcpIncoming::from(socket).with_nodelay(Some(true));
    let service = A2aServiceServer::new(service);
    tonic::transport::Server::builder().add_service(service).serve_with_incoming(incoming).await.unwrap();
}

/// Forwards what another server answers.
struct Hop(A2aServiceClient<Channel>);

impl Hop {
    async fn to(upstream: &str) -> Self {
        Self(A2aServiceClient::connect(format!("http://{upstream}")).await.unwrap())
    }
}

#[tonic::async_trait]
impl A2aService for Hop {
    async fn send_message(
        &self,
        request: Request<SendMessageRequest>,
    ) -> Result<Response<SendMessageResponse>, Status> {
        self.0.clone().send_message(request.into_inner()).await
    }

    async fn send_streaming_message(
        &self,
        request: Request<SendMessageRequest>,
    ) -> Result<Response<BoxStream<StreamResponse>>, Status> {
        let answer = self.0.clone().send_streaming_message(request.into_inner()).await?;
        Ok(answer.map(StreamExt::boxed))
    }
}

/// Answers what agena does, as long and with every member, without doing anything for it: a hop is measured with the
/// same answer.
struct Bare;

const TASK: &str = "01a1ebdc-bf65-739b-b4b1-0f47d9e15175";
const CONTEXT: &str = "01a1ebdc-bf65-739b-b4b1-0f47d9e15174";

fn status(text: &str) -> TaskStatus {
    let message = Message {
        message_id: "01a1ebdc-bf65-739b-b4b1-0f47d9e15176".to_owned(),
        task_id: TASK.to_owned(),
        context_id: CONTEXT.to_owned(),
        role: Role::Agent.into(),
        parts: vec![Part::text(text)],
        ..Message::default()
    };
    let timestamp = Some(Timestamp { seconds: 1_763_400_000, nanos: 123_000_000 });
    TaskStatus { state: TaskState::Working.into(), message: Some(message), timestamp }
}

#[tonic::async_trait]
impl A2aService for Bare {
    async fn send_message(
        &self,
        request: Request<SendMessageRequest>,
    ) -> Result<Response<SendMessageResponse>, Status> {
        let history = request.into_inner().message.into_iter().collect();
        let task = Task {
            id: TASK.to_owned(),
            context_id: CONTEXT.to_owned(),
            status: Some(status("Done")),
            history,
            ..Task::default()
        };
        Ok(Response::new(SendMessageResponse { payload: Some(send_message_response::Payload::Task(task)) }))
    }

    async fn send_streaming_message(
        &self,
        _: Request<SendMessageRequest>,
    ) -> Result<Response<BoxStream<StreamResponse>>, Status> {
        let items = futures::stream::iter(0..PIECES).map(|n| {
            let update = TaskStatusUpdateEvent {
                task_id: TASK.to_owned(),
                context_id: CONTEXT.to_owned(),
                status: Some(status(&format!("piece {n} "))),
                metadata: None,
            };
            Ok(StreamResponse { payload: Some(stream_response::Payload::StatusUpdate(Box::new(update))) })
        });
        Ok(Response::new(items.boxed()))
    }
}

fn script() -> Script {
    let pieces: Vec<String> = (0..PIECES).map(|n| format!("\"piece {n} \"")).collect();
    let text = format!(
        "rules:\n- when: {{message_id: stream}}\n  do: [say: [{}]]\n- do: [complete: Done]\n",
        pieces.join(", ")
    );
    Script::parse(&text).unwrap()
}

fn mind() -> Mind {
    let rehearsal = Arc::new(Rehearsal::new(script()));
    let tools = tool::Options::new(std::env::temp_dir(), std::env::current_exe().unwrap());
    Mind {
        brain: rehearsal.clone(),
        backend: rehearsal,
        workshop: Arc::new(Bench::new(tools).unwrap()),
        servers: Arc::new(agena::domain::mcp::NoServers),
        options: agena::agent::mind::Options::default(),
    }
}

async fn agena() {
    let listener = Listener::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    println!("{}", listener.address());
    let engine = Engine::new(Arc::new(Sqlite::open_temporary().unwrap()), mind());
    let place =
        Place { url: "http://localhost".to_owned(), authority: "localhost:80".to_owned(), needs_key: true };
    let offer = Offer { streaming: true, ..Offer::default() };
    let options = Options {
        repeat_window: Duration::from_secs(300),
        page_key: [0; 64],
        push_hosts: Vec::new(),
        tenants: Vec::new(),
    };
    let service = A2a::new(engine, card(&place, &offer), options);
    let rim = Rim {
        bound: listener.address(),
        hosts: Vec::new(),
        origins: Origins { listed: [].into(), loopback: true },
        access: Access::Keys(Keys::new(vec![(Principal::local(), Secret::new(KEY))])),
        body_limit: 4 << 20,
    };
    let server = Server {
        stack: stack(rim, Arc::new(Router::default()), Routes::new(A2aServiceServer::new(service))),
        tls: None,
        max_connections: 1000,
        header_limit: 64 << 10,
        drain: Duration::ZERO,
    };
    server.serve(listener, std::future::pending()).await;
}
