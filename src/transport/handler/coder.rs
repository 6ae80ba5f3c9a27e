//! The routes that Gemini CLI's own server has beside A2A: a task that is opened before anything is said, what is known of
//! tasks, and slash commands. Errors are `{"error": "..."}`, as its clients read them.

use std::sync::Arc;

use http::StatusCode;
use serde_json::{Value, json};
use tonic::Status;
use tonic::body::Body as Bytes;

use super::jsonrpc::legacy::turn;
use crate::domain::dialect::Dialect;
use crate::domain::error::Error;
use crate::proto::json as reading;
use crate::service::a2a::{A2a, Ran};
use crate::transcode::{Body, Call, Response, Route, Rule, error, json as document};

static OPEN: Rule = rule("POST", "/tasks");
static TASKS: Rule = rule("GET", "/tasks/metadata");
static TASK: Rule = rule("GET", "/tasks/{id}/metadata");
static COMMANDS: Rule = rule("GET", "/listCommands");
static EXECUTE: Rule = rule("POST", "/executeCommand");

const fn rule(method: &'static str, template: &'static str) -> Rule {
    let body = if matches!(method.as_bytes(), b"POST") { Body::All } else { Body::None };
    Rule { rpc: "", method, template, body, response_body: None }
}

pub fn routes(service: &Arc<A2a>) -> Vec<Route> {
    vec![
        route(&OPEN, service, open),
        route(&TASKS, service, tasks),
        route(&TASK, service, task),
        route(&COMMANDS, service, commands),
        route(&EXECUTE, service, execute),
    ]
}

fn route<F>(rule: &'static Rule, service: &Arc<A2a>, run: fn(Arc<A2a>, Arc<Call>) -> F) -> Route
where
    F: Future<Output = Answered> + Send + 'static,
{
    let service = Arc::clone(service);
    Route::plain(rule, move |call| {
        let call = Arc::new(call);
        let answered = run(Arc::clone(&service), Arc::clone(&call));
        async move { answered.await.unwrap_or_else(|status| refuse(&call, &status)) }
    })
}

type Answered = Result<Response, Status>;

async fn open(service: Arc<A2a>, call: Arc<Call>) -> Answered {
    let body = if call.body.is_empty() { json!({}) } else { body(&call)? };
    let id = service.open_task(legacy(&call, body)).await?;
    Ok(show(&call, StatusCode::CREATED, &id.into()))
}

async fn tasks(service: Arc<A2a>, call: Arc<Call>) -> Answered {
    let tasks = service.tasks_metadata(legacy(&call, ())).await?;
    if tasks.is_empty() {
        let mut response = Response::new(Bytes::empty());
        *response.status_mut() = StatusCode::NO_CONTENT;
        return Ok(response);
    }
    Ok(show(&call, StatusCode::OK, &tasks.into()))
}

async fn task(service: Arc<A2a>, call: Arc<Call>) -> Answered {
    let metadata = service.task_metadata(legacy(&call, call.variable(0)?)).await?;
    Ok(show(&call, StatusCode::OK, &json!({"metadata": metadata})))
}

async fn commands(service: Arc<A2a>, call: Arc<Call>) -> Answered {
    let listed = service.list_commands(legacy(&call, ())).await?;
    Ok(show(&call, StatusCode::OK, &listed))
}

async fn execute(service: Arc<A2a>, call: Arc<Call>) -> Answered {
    Ok(match service.execute_command(legacy(&call, body(&call)?)).await? {
        Ran::Ended(result) => show(&call, StatusCode::OK, &result),
        Ran::GoesOn { task_id, events } => turn(&task_id, events),
    })
}

fn body(call: &Call) -> Result<Value, Status> {
    Ok(reading::parse(&call.body).map_err(|bad| Error::field("body", bad.problem))?)
}

fn legacy<T>(call: &Call, message: T) -> tonic::Request<T> {
    let mut request = call.request(message);
    request.extensions_mut().insert(Dialect::V03);
    request
}

fn show(call: &Call, code: StatusCode, body: &Value) -> Response {
    document(code, call.media, body.to_string().into_bytes())
}

fn refuse(call: &Call, status: &Status) -> Response {
    let code = error(status, call.media).status();
    show(call, code, &json!({"error": status.message()}))
}
