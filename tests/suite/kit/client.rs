//! One way to call the probe over each binding.

use agena::proto::json;
use agena::proto::schema::Schema;
use futures::StreamExt;
use hyper_util::client::legacy::Client as Hyper;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::Value;
use tonic::body::Body;
use tonic::codegen::StdError;
use tonic::metadata::MetadataValue;
use tonic::{Request, Response, Status, Streaming};
use tonic_web::{GrpcWebCall, GrpcWebClientLayer, GrpcWebClientService};
use tower::Layer;

use super::outcome::{Outcome, printed};
use super::{TOKEN, TestServer, http, soon};
use crate::probe::pb::probe_service_client::ProbeServiceClient;

/// The bindings that every behaviour must be the same on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binding {
    Grpc,
    GrpcWeb,
    Http,
}

impl Binding {
    pub const ALL: [Self; 3] = [Self::Grpc, Self::GrpcWeb, Self::Http];
}

type Web = GrpcWebClientService<Hyper<HttpConnector, GrpcWebCall<Body>>>;

/// Calls the probe of one server.
pub struct Client {
    url: String,
    grpc: ProbeServiceClient<tonic::transport::Channel>,
    web: ProbeServiceClient<Web>,
}

/// How an RPC is called over HTTP.
#[derive(Debug, Clone, Copy)]
pub struct Http<'a> {
    pub method: &'a str,
    pub path: &'a str,
    pub body: &'a str,
}

impl Client {
    pub async fn new(server: &TestServer) -> Self {
        let url = server.url("");
        let grpc = soon(ProbeServiceClient::connect(url.clone())).await.unwrap();
        let hyper = Hyper::builder(TokioExecutor::new()).build_http();
        let web =
            ProbeServiceClient::with_origin(GrpcWebClientLayer::new().layer(hyper), url.parse().unwrap());
        Self { url, grpc, web }
    }

    pub fn grpc(&self) -> ProbeServiceClient<tonic::transport::Channel> {
        self.grpc.clone()
    }

    /// gRPC-Web over HTTP/2, as browsers speak it behind TLS.
    pub fn web_over_http2(&self) -> ProbeServiceClient<Web> {
        let hyper = Hyper::builder(TokioExecutor::new()).http2_only(true).build_http();
        let layered = GrpcWebClientLayer::new().layer(hyper);
        ProbeServiceClient::with_origin(layered, self.url.parse().unwrap())
    }

    pub fn web(&self) -> ProbeServiceClient<Web> {
        self.web.clone()
    }

    /// Calls an RPC with a request given as JSON, or its HTTP form.
    pub async fn call(&self, binding: Binding, rpc: &str, request: &str, form: Http<'_>) -> Outcome {
        soon(async {
            match binding {
                Binding::Grpc => dispatch(self.grpc.clone(), rpc, request).await,
                Binding::GrpcWeb => dispatch(self.web.clone(), rpc, request).await,
                Binding::Http => self.http(form).await.outcome,
            }
        })
        .await
    }

    /// The HTTP form with what only HTTP says.
    pub async fn http(&self, form: Http<'_>) -> Told {
        let method = form.method.parse().unwrap();
        let mut request = http().request(method, self.url.clone() + form.path).bearer_auth(TOKEN);
        if !form.body.is_empty() {
            request = request.header("content-type", "application/json").body(form.body.to_owned());
        }
        let response = request.send().await.unwrap();
        let (status, sse) = (response.status(), is_sse(&response));
        let retry_after = response.headers().get("retry-after").map(|v| v.to_str().unwrap().to_owned());
        let text = response.text().await.unwrap();
        let outcome = match (status.is_success(), sse) {
            (true, true) => events(&text),
            (true, false) => Outcome::answer(serde_json::from_str(&text).unwrap()),
            (false, _) => refused(status.as_u16(), &text),
        };
        Told { status: status.as_u16(), retry_after, outcome }
    }
}

/// An answer over HTTP.
#[derive(Debug)]
pub struct Told {
    pub status: u16,
    pub retry_after: Option<String>,
    pub outcome: Outcome,
}

fn refused(status: u16, text: &str) -> Outcome {
    let body: Value = serde_json::from_str(text).unwrap();
    assert_eq!(body["error"]["code"], status, "the body says the same as the status line");
    Outcome::of_error(&body)
}

fn is_sse(response: &reqwest::Response) -> bool {
    response.headers().get("content-type").is_some_and(|v| v == "text/event-stream")
}

/// A whole event stream as an outcome.
fn events(text: &str) -> Outcome {
    let mut outcome = Outcome { answers: Vec::new(), error: None };
    for event in text.split("\n\n").filter(|event| !event.is_empty()) {
        let (name, data) = match event.strip_prefix("event: error\n") {
            Some(rest) => ("error", rest),
            None => ("message", event),
        };
        let data: Value = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
        match name {
            "error" => outcome.error = Outcome::of_error(&data).error,
            _ => outcome.answers.push(data),
        }
    }
    outcome
}

pub fn with_token<T>(message: T) -> Request<T> {
    let mut request = Request::new(message);
    let value = MetadataValue::try_from(format!("Bearer {TOKEN}")).unwrap();
    request.metadata_mut().insert("authorization", value);
    request
}

fn ready<Q: Schema>(request: &str) -> Request<Q> {
    with_token(json::decode::<Q>(request.as_bytes()).unwrap())
}

fn unary<A: Schema>(answer: Result<Response<A>, Status>) -> Outcome {
    answer.map_or_else(|status| Outcome::of_status(&status), |answer| Outcome::of_message(answer.get_ref()))
}

async fn streaming<A: Schema>(answer: Result<Response<Streaming<A>>, Status>) -> Outcome {
    let mut stream = match answer {
        Ok(answer) => answer.into_inner(),
        Err(status) => return Outcome::of_status(&status),
    };
    let mut outcome = Outcome { answers: Vec::new(), error: None };
    while let Some(item) = stream.next().await {
        match item {
            Ok(message) => outcome.answers.push(printed(&message)),
            Err(status) => outcome.error = Outcome::of_status(&status).error,
        }
    }
    outcome
}

async fn dispatch<T>(mut client: ProbeServiceClient<T>, rpc: &str, request: &str) -> Outcome
where
    T: tonic::client::GrpcService<Body>,
    T::Error: Into<StdError>,
    T::ResponseBody: http_body::Body<Data = bytes::Bytes> + Send + 'static,
    <T::ResponseBody as http_body::Body>::Error: Into<StdError> + Send,
{
    match rpc {
        "Echo" => unary(client.echo(ready(request)).await),
        "Look" => unary(client.look(ready(request)).await),
        "Peek" => unary(client.peek(ready(request)).await),
        "Special" => unary(client.special(ready(request)).await),
        "Store" => unary(client.store(ready(request)).await),
        "Pluck" => unary(client.pluck(ready(request)).await),
        "Remove" => unary(client.remove(ready(request)).await),
        "Custom" => unary(client.custom(ready(request)).await),
        "Fail" => unary(client.fail(ready(request)).await),
        "Keyword" => unary(client.keyword(ready(request)).await),
        "Stub" => unary(client.stub(ready(request)).await),
        "Wait" => unary(client.wait(ready(request)).await),
        "Count" => streaming(client.count(ready(request)).await).await,
        other => panic!("no RPC {other}"),
    }
}
