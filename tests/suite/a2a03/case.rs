//! One case: what its input asks for, and the text that comes out.

use agena::domain::error::Error;
use agena::projection::v03::card::Card;
use agena::projection::v03::read::{self, Request};
use agena::projection::v03::rest::rest_body;
use agena::projection::v03::wire::stream_item;
use agena::projection::v03::write::{Show, StreamItem, V03};
use agena::proto::json::{self, BadJson};
use agena::proto::schema::{Schema, violations};
use agena::proto::{a2a, a2a_v03};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tonic::Status;

#[derive(Deserialize)]
#[serde(tag = "direction", rename_all = "lowercase", deny_unknown_fields)]
enum Case {
    /// A 1.0 message as JSON of 0.3.
    Write {
        message: String,
        value: Value,
        #[serde(default)]
        last: bool,
    },
    /// Params of a method, as JSON or as text.
    Read {
        method: String,
        #[serde(default)]
        params: Value,
        text: Option<String>,
    },
    /// A message of `lf.a2a.v1` as one of `a2a.v1`, or the other way round.
    Wire {
        message: String,
        value: Value,
        #[serde(default)]
        last: bool,
    },
    /// The card, for everybody or for gRPC.
    Card { grpc: bool, value: Value },
    /// A body, as JSON or as text.
    Rest { body: Option<Value>, text: Option<String> },
}

pub fn run(input: &[u8]) -> String {
    match serde_json::from_slice(input).unwrap() {
        Case::Write { message, value, last } => write(&message, value, last),
        Case::Read { method, params, text } => {
            let params = text.map_or(Ok(params), |text| json::parse(text.as_bytes()));
            match params {
                Ok(params) => read(&method, params),
                Err(bad) => refused(&bad),
            }
        }
        Case::Wire { message, value, last } => wire(&message, value, last),
        Case::Card { grpc: false, value } => card(&native(value)),
        Case::Card { grpc: true, value } => print(&a2a_v03::AgentCard::from(native::<a2a::AgentCard>(value))),
        Case::Rest { body, text } => rest(&text.unwrap_or_else(|| body.unwrap().to_string())),
    }
}

/// Readers of 1.0 find the same card in it.
fn card(card: &a2a::AgentCard) -> String {
    let text = print(&Card(card));
    assert_eq!(json::decode::<a2a::AgentCard>(text.as_bytes()).as_ref(), Ok(card));
    text
}

fn write(message: &str, value: Value, last: bool) -> String {
    fn show<T: Schema + Show>(value: Value) -> String {
        print(&V03(&native::<T>(value)))
    }
    match message {
        "Task" => show::<a2a::Task>(value),
        "Message" => show::<a2a::Message>(value),
        "SendMessageResponse" => show::<a2a::SendMessageResponse>(value),
        "StreamResponse" => print(&StreamItem { response: &native(value), last }),
        "TaskPushNotificationConfig" => show::<a2a::TaskPushNotificationConfig>(value),
        "ListTaskPushNotificationConfigsResponse" => {
            show::<a2a::ListTaskPushNotificationConfigsResponse>(value)
        }
        other => panic!("{other} is not written"),
    }
}

fn read(method: &str, params: Value) -> String {
    match read::request(method, params) {
        None => print(&json!({"unknown": method})),
        Some(Err(bad)) => refused(&bad),
        Some(Ok(request)) => request_text(&request),
    }
}

fn request_text(request: &Request) -> String {
    match request {
        Request::SendMessage(message) => valid("SendMessage", message),
        Request::SendStreamingMessage(message) => valid("SendStreamingMessage", message),
        Request::GetTask(message) => valid("GetTask", message),
        Request::CancelTask(message) => valid("CancelTask", message),
        Request::SubscribeToTask(message, _) => valid("SubscribeToTask", message),
        Request::CreatePush(message) => valid("CreateTaskPushNotificationConfig", message),
        // The one thing that is left to the caller: which webhook is meant.
        Request::GetPush(message) if message.id.is_empty() => {
            print(&json!({"GetTaskPushNotificationConfig": message}))
        }
        Request::GetPush(message) => valid("GetTaskPushNotificationConfig", message),
        Request::ListPush(message) => valid("ListTaskPushNotificationConfigs", message),
        Request::DeletePush(message) => valid("DeleteTaskPushNotificationConfig", message),
        Request::GetExtendedAgentCard(message) => valid("GetExtendedAgentCard", message),
    }
}

/// What has been read must be all that 1.0 asks for.
fn valid<T: Schema>(method: &str, message: &T) -> String {
    assert_eq!(violations(message), [], "{method}");
    print(&json!({method: message}))
}

fn wire(message: &str, value: Value, last: bool) -> String {
    match message {
        "lf.a2a.v1.Task" => out::<a2a::Task, a2a_v03::Task>(value),
        "lf.a2a.v1.SendMessageResponse" => {
            out::<a2a::SendMessageResponse, a2a_v03::SendMessageResponse>(value)
        }
        "lf.a2a.v1.StreamResponse" => print(&stream_item(native(value), last)),
        "lf.a2a.v1.TaskPushNotificationConfig" => {
            out::<a2a::TaskPushNotificationConfig, a2a_v03::TaskPushNotificationConfig>(value)
        }
        "lf.a2a.v1.ListTaskPushNotificationConfigsResponse" => out::<
            a2a::ListTaskPushNotificationConfigsResponse,
            a2a_v03::ListTaskPushNotificationConfigResponse,
        >(value),
        "a2a.v1.SendMessageRequest" => into::<a2a_v03::SendMessageRequest, a2a::SendMessageRequest>(value),
        "a2a.v1.GetTaskRequest" => into::<a2a_v03::GetTaskRequest, a2a::GetTaskRequest>(value),
        "a2a.v1.CancelTaskRequest" => into::<a2a_v03::CancelTaskRequest, a2a::CancelTaskRequest>(value),
        "a2a.v1.TaskSubscriptionRequest" => {
            into::<a2a_v03::TaskSubscriptionRequest, a2a::SubscribeToTaskRequest>(value)
        }
        other => wire_push(other, value),
    }
}

fn wire_push(message: &str, value: Value) -> String {
    match message {
        "a2a.v1.CreateTaskPushNotificationConfigRequest" => {
            into::<a2a_v03::CreateTaskPushNotificationConfigRequest, a2a::TaskPushNotificationConfig>(value)
        }
        "a2a.v1.GetTaskPushNotificationConfigRequest" => into::<
            a2a_v03::GetTaskPushNotificationConfigRequest,
            a2a::GetTaskPushNotificationConfigRequest,
        >(value),
        "a2a.v1.ListTaskPushNotificationConfigRequest" => into::<
            a2a_v03::ListTaskPushNotificationConfigRequest,
            a2a::ListTaskPushNotificationConfigsRequest,
        >(value),
        "a2a.v1.DeleteTaskPushNotificationConfigRequest" => into::<
            a2a_v03::DeleteTaskPushNotificationConfigRequest,
            a2a::DeleteTaskPushNotificationConfigRequest,
        >(value),
        other => panic!("{other} is not converted"),
    }
}

fn out<A: Schema, B: Schema + From<A>>(value: Value) -> String {
    print(&B::from(native(value)))
}

fn into<A: Schema, B: Schema + TryFrom<A, Error = Error>>(value: Value) -> String {
    match B::try_from(native(value)) {
        Ok(message) => valid("request", &message),
        Err(error) => print(&json!({"error": Status::from(error).message()})),
    }
}

/// What comes out has to be something that the generated route reads.
fn rest(text: &str) -> String {
    let body = match rest_body(text.as_bytes()) {
        Ok(body) => body,
        Err(bad) => return refused(&bad),
    };
    if body == text.as_bytes() {
        return print(&json!({"untouched": text}));
    }
    let message = json::decode::<a2a_v03::SendMessageRequest>(&body).unwrap();
    let config = json::decode::<a2a_v03::TaskPushNotificationConfig>(&body).unwrap();
    match message.request {
        Some(_) => print(&json!({"message": message})),
        None => print(&json!({"config": config})),
    }
}

fn refused(bad: &BadJson) -> String {
    print(&json!({"error": {"field": bad.field, "problem": bad.problem}}))
}

fn native<T: Schema>(value: Value) -> T {
    json::decode_tree(value).unwrap()
}

fn print(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).unwrap()
}
