//! One way to call the typed service over each binding. Requests and answers are JSON, so that a test is a table.

use agena::proto::devtool::FollowTaskRequest;
use agena::proto::devtool::development_tool_service_client::DevelopmentToolServiceClient;
use agena::proto::json;
use agena::proto::schema::Schema;
use futures::StreamExt;
use hyper_util::client::legacy::Client as Hyper;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::Value;
use tonic::body::Body;
use tonic::codegen::StdError;
use tonic::{Request, Response, Status, Streaming};
use tonic_web::{GrpcWebCall, GrpcWebClientLayer, GrpcWebClientService};
use tower::Layer;

pub use crate::kit::Binding;
use crate::kit::{Outcome, http, printed, soon};

type Web = GrpcWebClientService<Hyper<HttpConnector, GrpcWebCall<Body>>>;

/// Whether nothing more is wanted behind these.
pub type Enough<'a> = dyn Fn(&[Value]) -> bool + Send + Sync + 'a;

/// Calls one server as one principal.
#[derive(Clone)]
pub struct Client {
    url: String,
    key: String,
    /// Goes along with every call, as a header or as metadata.
    after: Option<u64>,
    grpc: DevelopmentToolServiceClient<tonic::transport::Channel>,
    web: DevelopmentToolServiceClient<Web>,
}

impl Client {
    pub async fn new(url: &str, key: &str) -> Self {
        let grpc = soon(DevelopmentToolServiceClient::connect(url.to_owned())).await.unwrap();
        let hyper = Hyper::builder(TokioExecutor::new()).build_http();
        let layered = GrpcWebClientLayer::new().layer(hyper);
        let web = DevelopmentToolServiceClient::with_origin(layered, url.parse().unwrap());
        Self { url: url.to_owned(), key: key.to_owned(), after: None, grpc, web }
    }

    /// The same client, which says where it is.
    pub fn behind(&self, sequence: u64) -> Self {
        Self { after: Some(sequence), ..self.clone() }
    }

    pub fn grpc(&self) -> DevelopmentToolServiceClient<tonic::transport::Channel> {
        self.grpc.clone()
    }

    pub fn request<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        request.metadata_mut().insert("authorization", format!("Bearer {}", self.key).parse().unwrap());
        if let Some(after) = self.after {
            request.metadata_mut().insert("last-event-id", after.to_string().parse().unwrap());
        }
        request
    }

    /// Calls an RPC by its name, with its request as JSON, and takes answers until it has enough.
    pub async fn until(&self, binding: Binding, rpc: &str, request: Value, enough: &Enough<'_>) -> Outcome {
        soon(async {
            match binding {
                Binding::Grpc => self.dispatch(self.grpc.clone(), rpc, &request, enough).await,
                Binding::GrpcWeb => self.dispatch(self.web.clone(), rpc, &request, enough).await,
                Binding::Http => self.rest(rpc, &request, enough).await,
            }
        })
        .await
    }

    pub async fn call(&self, binding: Binding, rpc: &str, request: Value) -> Outcome {
        self.until(binding, rpc, request, &|_| false).await
    }

    /// Takes at most so many answers.
    pub async fn take(&self, binding: Binding, rpc: &str, request: Value, most: usize) -> Outcome {
        self.until(binding, rpc, request, &|answers| answers.len() >= most).await
    }

    /// The only answer of a call that is not refused.
    pub async fn one(&self, binding: Binding, rpc: &str, request: Value) -> Value {
        let outcome = self.call(binding, rpc, request.clone()).await;
        assert_eq!((outcome.error, outcome.answers.len()), (None, 1), "{binding:?} {rpc} {request}");
        outcome.answers.into_iter().next().unwrap()
    }

    /// Why a call is refused: the reason, and the field if one is wrong.
    pub async fn refused(&self, binding: Binding, rpc: &str, request: Value) -> (String, String) {
        let outcome = self.call(binding, rpc, request).await;
        let error = outcome.error.unwrap_or_else(|| panic!("{binding:?} {rpc}: {:?}", outcome.answers));
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let field = &error["details"][1]["fieldViolations"][0]["field"];
        (text(&error["details"][0]["reason"]), text(field))
    }

    /// That the head of a stream comes, over each binding, though nothing is there to be told.
    pub async fn stands(&self, task_id: &str, after: u64) {
        let follow = || FollowTaskRequest { task_id: task_id.to_owned(), after };
        assert!(soon(self.grpc.clone().follow_task(self.request(follow()))).await.is_ok());
        assert!(soon(self.web.clone().follow_task(self.request(follow()))).await.is_ok());
        let url = format!("{}/devtool/v1/tasks/{task_id}:follow?after={after}", self.url);
        let response = soon(http().get(url).bearer_auth(&self.key).send()).await.unwrap();
        assert_eq!(response.headers()["content-type"], "text/event-stream");
    }

    async fn rest(&self, rpc: &str, request: &Value, enough: &Enough<'_>) -> Outcome {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let id = |name: &str| percent(&text(&request[name]));
        let task = format!("/tasks/{}", id("task_id"));
        let call = percent(&text(&request["confirmation"]["tool_call_id"]));
        let rules = format!("/contexts/{}/rules", id("context_id"));
        let (method, path, body) = match rpc {
            "StartTask" => ("POST", "/tasks".to_owned(), Some(request.clone())),
            "FollowTask" => ("GET", format!("{task}:follow{}", query(request, &["task_id"])), None),
            "ContinueTask" => ("POST", format!("{task}:continue"), Some(request.clone())),
            "ConfirmToolCall" => {
                let rest = query(request, &["task_id", "confirmation"]);
                let body = request["confirmation"].clone();
                ("POST", format!("{task}/toolCalls/{call}:confirm{rest}"), Some(body))
            }
            "CancelTask" => ("POST", format!("{task}:cancel"), None),
            "GetTask" => ("GET", task, None),
            "ListTasks" => ("GET", format!("/tasks{}", query(request, &[])), None),
            "ListContexts" => ("GET", format!("/contexts{}", query(request, &[])), None),
            "WatchTasks" => ("GET", format!("/tasks:watch{}", query(request, &[])), None),
            "ListPendingConfirmations" => {
                ("GET", format!("/pendingConfirmations{}", query(request, &[])), None)
            }
            "GetStatistics" => ("GET", format!("/statistics{}", query(request, &[])), None),
            "ListRules" => ("GET", format!("/rules{}", query(request, &[])), None),
            "RevokeRule" => ("DELETE", format!("{rules}/{}", id("rule_id")), None),
            other => panic!("no RPC {other}"),
        };
        let url = format!("{}/devtool/v1{path}", self.url);
        let mut call = http().request(method.parse().unwrap(), url).bearer_auth(&self.key);
        if let Some(after) = self.after {
            call = call.header("last-event-id", after.to_string());
        }
        if let Some(body) = body {
            call = call.json(&body);
        }
        told(call.send().await.unwrap(), enough).await
    }

    async fn dispatch<T>(
        &self,
        mut to: DevelopmentToolServiceClient<T>,
        rpc: &str,
        request: &Value,
        enough: &Enough<'_>,
    ) -> Outcome
    where
        T: tonic::client::GrpcService<Body>,
        T::Error: Into<StdError>,
        T::ResponseBody: http_body::Body<Data = bytes::Bytes> + Send + 'static,
        <T::ResponseBody as http_body::Body>::Error: Into<StdError> + Send,
    {
        match rpc {
            "StartTask" => streaming(to.start_task(self.read(request)).await, enough).await,
            "FollowTask" => streaming(to.follow_task(self.read(request)).await, enough).await,
            "WatchTasks" => streaming(to.watch_tasks(self.read(request)).await, enough).await,
            "ContinueTask" => unary(to.continue_task(self.read(request)).await),
            "ConfirmToolCall" => unary(to.confirm_tool_call(self.read(request)).await),
            "CancelTask" => unary(to.cancel_task(self.read(request)).await),
            "GetTask" => unary(to.get_task(self.read(request)).await),
            "ListTasks" => unary(to.list_tasks(self.read(request)).await),
            "ListContexts" => unary(to.list_contexts(self.read(request)).await),
            "ListPendingConfirmations" => unary(to.list_pending_confirmations(self.read(request)).await),
            "GetStatistics" => unary(to.get_statistics(self.read(request)).await),
            "ListRules" => unary(to.list_rules(self.read(request)).await),
            "RevokeRule" => unary(to.revoke_rule(self.read(request)).await),
            other => panic!("no RPC {other}"),
        }
    }

    fn read<Q: Schema>(&self, request: &Value) -> Request<Q> {
        self.request(json::decode(request.to_string().as_bytes()).unwrap())
    }
}

fn unary<A: Schema>(answer: Result<Response<A>, Status>) -> Outcome {
    answer.map_or_else(|status| Outcome::of_status(&status), |answer| Outcome::of_message(answer.get_ref()))
}

async fn streaming<A: Schema>(
    answer: Result<Response<Streaming<A>>, Status>,
    enough: &Enough<'_>,
) -> Outcome {
    let mut items = match answer {
        Ok(answer) => answer.into_inner(),
        Err(status) => return Outcome::of_status(&status),
    };
    let mut outcome = Outcome { answers: Vec::new(), error: None };
    while let Some(item) = items.next().await {
        match item {
            Ok(message) => outcome.answers.push(printed(&message)),
            Err(status) => outcome.error = Outcome::of_status(&status).error,
        }
        if enough(&outcome.answers) {
            break;
        }
    }
    outcome
}

/// One document, or one per event as they come.
async fn told(mut response: reqwest::Response, enough: &Enough<'_>) -> Outcome {
    let mut outcome = Outcome { answers: Vec::new(), error: None };
    let (mut text, mut ids) = (String::new(), 0);
    let sse = response.headers()["content-type"] == "text/event-stream";
    let failed = !response.status().is_success();
    while let Some(chunk) = response.chunk().await.unwrap() {
        text.push_str(str::from_utf8(&chunk).unwrap());
        while sse && let Some((event, rest)) = text.split_once("\n\n") {
            let data = event.lines().find_map(|line| line.strip_prefix("data: "));
            let data: Option<Value> = data.map(|data| serde_json::from_str(data).unwrap());
            let id = event.lines().find_map(|line| line.strip_prefix("id: "));
            match data {
                Some(data) if data.get("error").is_some() => outcome.error = Outcome::of_error(&data).error,
                Some(data) => {
                    ids += usize::from(id.is_some());
                    assert_eq!(id.map(Value::from), data["update"].get("sequence").cloned());
                    outcome.answers.push(data);
                }
                None => {}
            }
            text = rest.to_owned();
            if enough(&outcome.answers) {
                return outcome;
            }
        }
    }
    assert!(ids <= outcome.answers.len());
    match (sse, failed) {
        (true, _) => outcome,
        (false, true) => Outcome::of_error(&serde_json::from_str(&text).unwrap()),
        (false, false) => Outcome::answer(serde_json::from_str(&text).unwrap()),
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
