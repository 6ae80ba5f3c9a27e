//! The routes that Gemini CLI's own server has beside A2A: a task that is opened before anything is said, and what is
//! known of tasks. Errors are `{"error": "..."}`, as its clients read them.

use std::sync::Arc;

use http::StatusCode;
use serde_json::{Value, json};
use tonic::Status;
use tonic::body::Body as Bytes;

use crate::domain::dialect::Dialect;
use crate::domain::error::Error;
use crate::proto::json as reading;
use crate::service::a2a::A2a;
use crate::transcode::{Body, Call, Response, Route, Rule, error, json as document};

static OPEN: Rule =
    Rule { rpc: "", method: "POST", template: "/tasks", body: Body::All, response_body: None };
static LIST: Rule =
    Rule { rpc: "", method: "GET", template: "/tasks/metadata", body: Body::None, response_body: None };
static ONE: Rule =
    Rule { rpc: "", method: "GET", template: "/tasks/{id}/metadata", body: Body::None, response_body: None };

pub fn routes(service: &Arc<A2a>) -> Vec<Route> {
    let (to_open, to_list, to_one) = (Arc::clone(service), Arc::clone(service), Arc::clone(service));
    vec![
        Route::plain(&OPEN, move |call| {
            let service = Arc::clone(&to_open);
            async move { answer(&call, open(&service, &call).await) }
        }),
        Route::plain(&LIST, move |call| {
            let service = Arc::clone(&to_list);
            async move { answer(&call, list(&service, &call).await) }
        }),
        Route::plain(&ONE, move |call| {
            let service = Arc::clone(&to_one);
            async move { answer(&call, one(&service, &call).await) }
        }),
    ]
}

type Answered = Result<(StatusCode, Option<Value>), Status>;

async fn open(service: &A2a, call: &Call) -> Answered {
    let body = if call.body.is_empty() {
        json!({})
    } else {
        reading::parse(&call.body).map_err(|bad| Error::field("body", bad.problem))?
    };
    let id = service.open_task(legacy(call, body)).await?;
    Ok((StatusCode::CREATED, Some(id.into())))
}

async fn list(service: &A2a, call: &Call) -> Answered {
    let tasks = service.tasks_metadata(legacy(call, ())).await?;
    Ok(match tasks.is_empty() {
        true => (StatusCode::NO_CONTENT, None),
        false => (StatusCode::OK, Some(tasks.into())),
    })
}

async fn one(service: &A2a, call: &Call) -> Answered {
    let metadata = service.task_metadata(legacy(call, call.variable(0)?)).await?;
    Ok((StatusCode::OK, Some(json!({"metadata": metadata}))))
}

fn legacy<T>(call: &Call, message: T) -> tonic::Request<T> {
    let mut request = call.request(message);
    request.extensions_mut().insert(Dialect::V03);
    request
}

fn answer(call: &Call, answered: Answered) -> Response {
    match answered {
        Ok((code, Some(body))) => document(code, call.media, body.to_string().into_bytes()),
        Ok((code, None)) => {
            let mut response = Response::new(Bytes::empty());
            *response.status_mut() = code;
            response
        }
        Err(status) => {
            let code = error(&status, call.media).status();
            document(code, call.media, json!({"error": status.message()}).to_string().into_bytes())
        }
    }
}
