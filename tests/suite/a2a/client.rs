//! One way to call A2A 1.0 over each binding. Requests and answers are JSON, so that a test is a table.

use agena::proto::a2a::a2a_service_client::A2aServiceClient;
use agena::proto::json;
use agena::proto::schema::Schema;
use futures::StreamExt;
use hyper_util::client::legacy::Client as Hyper;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};
use tonic::body::Body;
use tonic::codegen::StdError;
use tonic::{Request, Response, Status, Streaming};
use tonic_web::{GrpcWebCall, GrpcWebClientLayer, GrpcWebClientService};
use tower::Layer;

use crate::kit::{Outcome, http, printed, soon};

/// The bindings of A2A.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binding {
    Grpc,
    GrpcWeb,
    JsonRpc,
    Rest,
}

impl Binding {
    pub const ALL: [Self; 4] = [Self::Grpc, Self::GrpcWeb, Self::JsonRpc, Self::Rest];
}

type Web = GrpcWebClientService<Hyper<HttpConnector, GrpcWebCall<Body>>>;

/// Calls one server as one principal.
#[derive(Clone)]
pub struct Client {
    url: String,
    key: String,
    /// Go along with every call, as headers or as metadata.
    headers: Vec<(&'static str, String)>,
    grpc: A2aServiceClient<tonic::transport::Channel>,
    web: A2aServiceClient<Web>,
}

impl Client {
    pub async fn new(url: &str, key: &str) -> Self {
        let grpc = soon(A2aServiceClient::connect(url.to_owned())).await.unwrap();
        let hyper = Hyper::builder(TokioExecutor::new()).build_http();
        let web = A2aServiceClient::with_origin(GrpcWebClientLayer::new().layer(hyper), url.parse().unwrap());
        Self { url: url.to_owned(), key: key.to_owned(), headers: Vec::new(), grpc, web }
    }

    /// The same client, which says this too.
    pub fn with(&self, name: &'static str, value: impl ToString) -> Self {
        let mut client = self.clone();
        client.headers.push((name, value.to_string()));
        client
    }

    pub fn grpc(&self) -> A2aServiceClient<tonic::transport::Channel> {
        self.grpc.clone()
    }

    pub fn request<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        request.metadata_mut().insert("authorization", format!("Bearer {}", self.key).parse().unwrap());
        for (name, value) in &self.headers {
            request.metadata_mut().insert(*name, value.parse().unwrap());
        }
        request
    }

    /// Calls an RPC by its name, with its request as JSON.
    pub async fn call(&self, binding: Binding, rpc: &str, request: &Value) -> Outcome {
        soon(async {
            match binding {
                Binding::Grpc => self.dispatch(self.grpc.clone(), rpc, request).await,
                Binding::GrpcWeb => self.dispatch(self.web.clone(), rpc, request).await,
                Binding::JsonRpc => self.jsonrpc(rpc, request).await,
                Binding::Rest => self.rest(rpc, request).await,
            }
        })
        .await
    }

    /// A JSON-RPC call as the client wrote it, and its answers.
    pub async fn post(&self, headers: &[(&str, &str)], body: &Value) -> Vec<Value> {
        let mut post = self.headed(http().post(&self.url)).json(body);
        for (name, value) in headers {
            post = post.header(*name, *value);
        }
        let response = post.send().await.unwrap();
        assert_eq!(response.status(), 200);
        documents(response).await
    }

    fn headed(&self, request: reqwest::RequestBuilder) -> reqwest::RequestBuilder {
        let keyed = request.bearer_auth(&self.key);
        self.headers.iter().fold(keyed, |request, (name, value)| request.header(*name, value))
    }

    async fn jsonrpc(&self, rpc: &str, request: &Value) -> Outcome {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": rpc, "params": request});
        let mut outcome = Outcome { answers: Vec::new(), error: None };
        for document in self.post(&[("a2a-version", "1.0")], &body).await {
            assert_eq!((&document["jsonrpc"], &document["id"]), (&json!("2.0"), &json!(1)));
            match document.get("error") {
                Some(error) => {
                    let (.., code) = codes(&error["data"]);
                    assert_eq!(error["code"], code, "{error}");
                    outcome.error = Some(failed(&error["message"], &error["data"]));
                }
                None => outcome.answers.push(document["result"].clone()),
            }
        }
        outcome
    }

    async fn rest(&self, rpc: &str, request: &Value) -> Outcome {
        let id = |name: &str| percent(request[name].as_str().unwrap_or_default());
        // With a tenant the path is longer.
        let root = match request["tenant"].as_str() {
            Some(tenant) => format!("/a2a/{}", percent(tenant)),
            None => String::new(),
        };
        let tasks = || format!("/tasks/{}", id("id"));
        let hooks = || format!("/tasks/{}/pushNotificationConfigs", id("taskId"));
        let (method, path) = match rpc {
            "SendMessage" => ("POST", "/message:send".to_owned()),
            "SendStreamingMessage" => ("POST", "/message:stream".to_owned()),
            "GetTask" => ("GET", tasks() + &query(request, &["id", "tenant"])),
            "ListTasks" => ("GET", "/tasks".to_owned() + &query(request, &["tenant"])),
            "CancelTask" => ("POST", tasks() + ":cancel"),
            "SubscribeToTask" => ("POST", tasks() + ":subscribe"),
            "CreateTaskPushNotificationConfig" => ("POST", hooks()),
            "GetTaskPushNotificationConfig" => ("GET", format!("{}/{}", hooks(), id("id"))),
            "ListTaskPushNotificationConfigs" => ("GET", hooks() + &query(request, &["taskId", "tenant"])),
            "DeleteTaskPushNotificationConfig" => ("DELETE", format!("{}/{}", hooks(), id("id"))),
            "GetExtendedAgentCard" => ("GET", "/extendedAgentCard".to_owned()),
            other => panic!("no RPC {other}"),
        };
        let mut call = self.headed(http().request(method.parse().unwrap(), self.url.clone() + &root + &path));
        if method == "POST" {
            call = call.json(request);
        }
        let mut outcome = Outcome { answers: Vec::new(), error: None };
        let response = call.send().await.unwrap();
        let http = response.status().as_u16();
        for document in documents(response).await {
            match document.get("error") {
                Some(error) => {
                    let (status, code, _) = codes(&error["details"]);
                    assert_eq!((&error["status"], &error["code"]), (&json!(status), &json!(code)), "{error}");
                    assert!(http == code || http == 200 && !outcome.answers.is_empty(), "{http}: {error}");
                    outcome.error = Some(failed(&error["message"], &error["details"]));
                }
                None => outcome.answers.push(document),
            }
        }
        outcome
    }

    async fn dispatch<T>(&self, mut to: A2aServiceClient<T>, rpc: &str, request: &Value) -> Outcome
    where
        T: tonic::client::GrpcService<Body>,
        T::Error: Into<StdError>,
        T::ResponseBody: http_body::Body<Data = bytes::Bytes> + Send + 'static,
        <T::ResponseBody as http_body::Body>::Error: Into<StdError> + Send,
    {
        match rpc {
            "SendMessage" => unary(to.send_message(self.read(request)).await),
            "SendStreamingMessage" => streaming(to.send_streaming_message(self.read(request)).await).await,
            "GetTask" => unary(to.get_task(self.read(request)).await),
            "ListTasks" => unary(to.list_tasks(self.read(request)).await),
            "CancelTask" => unary(to.cancel_task(self.read(request)).await),
            "SubscribeToTask" => streaming(to.subscribe_to_task(self.read(request)).await).await,
            "CreateTaskPushNotificationConfig" => {
                unary(to.create_task_push_notification_config(self.read(request)).await)
            }
            "GetTaskPushNotificationConfig" => {
                unary(to.get_task_push_notification_config(self.read(request)).await)
            }
            "ListTaskPushNotificationConfigs" => {
                unary(to.list_task_push_notification_configs(self.read(request)).await)
            }
            "DeleteTaskPushNotificationConfig" => {
                unary(to.delete_task_push_notification_config(self.read(request)).await)
            }
            "GetExtendedAgentCard" => unary(to.get_extended_agent_card(self.read(request)).await),
            other => panic!("no RPC {other}"),
        }
    }

    fn read<Q: Schema>(&self, request: &Value) -> Request<Q> {
        self.request(json::decode(request.to_string().as_bytes()).unwrap())
    }
}

/// What every binding says of an error: its words and its details.
fn failed(message: &Value, details: &Value) -> Value {
    json!({"message": message, "details": details})
}

/// What A2A 1.0.1 and the protocols themselves say of a reason: gRPC, HTTP, JSON-RPC. Every error that a test meets is
/// held against it.
fn codes(details: &Value) -> (&'static str, u16, i32) {
    match details[0]["reason"].as_str().unwrap_or_else(|| panic!("an error without a reason: {details}")) {
        "TASK_NOT_FOUND" => ("NOT_FOUND", 404, -32001),
        "TASK_NOT_CANCELABLE" => ("FAILED_PRECONDITION", 400, -32002),
        "PUSH_NOTIFICATION_NOT_SUPPORTED" => ("FAILED_PRECONDITION", 400, -32003),
        "UNSUPPORTED_OPERATION" => ("FAILED_PRECONDITION", 400, -32004),
        "CONTENT_TYPE_NOT_SUPPORTED" => ("INVALID_ARGUMENT", 400, -32005),
        "EXTENSION_SUPPORT_REQUIRED" => ("FAILED_PRECONDITION", 400, -32008),
        "VERSION_NOT_SUPPORTED" => ("FAILED_PRECONDITION", 400, -32009),
        "INVALID_ARGUMENT" => ("INVALID_ARGUMENT", 400, -32602),
        "UNAUTHENTICATED" => ("UNAUTHENTICATED", 401, -32600),
        other => panic!("no test knows the codes of {other}"),
    }
}

fn of_status(status: &Status) -> Value {
    let error = Outcome::of_status(status).error.unwrap();
    assert_eq!(error["status"], codes(&error["details"]).0, "{error}");
    failed(&error["message"], &error["details"])
}

fn unary<A: Schema>(answer: Result<Response<A>, Status>) -> Outcome {
    match answer {
        Ok(answer) => Outcome::of_message(answer.get_ref()),
        Err(status) => Outcome { answers: Vec::new(), error: Some(of_status(&status)) },
    }
}

async fn streaming<A: Schema>(answer: Result<Response<Streaming<A>>, Status>) -> Outcome {
    let mut outcome = Outcome { answers: Vec::new(), error: None };
    match answer {
        Err(status) => outcome.error = Some(of_status(&status)),
        Ok(answer) => {
            let mut items = answer.into_inner();
            while let Some(item) = items.next().await {
                match item {
                    Ok(message) => outcome.answers.push(printed(&message)),
                    Err(status) => outcome.error = Some(of_status(&status)),
                }
            }
        }
    }
    outcome
}

/// The documents of an answer: one, or one per event.
async fn documents(response: reqwest::Response) -> Vec<Value> {
    let sse = response.headers()["content-type"] == "text/event-stream";
    let text = response.text().await.unwrap();
    match sse {
        false => vec![serde_json::from_str(&text).unwrap()],
        true => {
            let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
            data.map(|data| serde_json::from_str(data).unwrap()).collect()
        }
    }
}

fn percent(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}

fn query(request: &Value, taken: &[&str]) -> String {
    let members = request.as_object().unwrap().iter().filter(|(name, _)| !taken.contains(&name.as_str()));
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let pairs: Vec<String> =
        members.map(|(name, value)| format!("{name}={}", percent(&text(value)))).collect();
    if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
}
