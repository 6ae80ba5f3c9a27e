//! The params of 0.3's JSON-RPC methods as 1.0 requests. Lenient towards older and in-between clients where their
//! meaning is plain, and blames a field under the name that the client used. Expects a tree from `json::parse`, which
//! refuses keys that stand twice; knows no envelope. The JSON-RPC front calls it.

mod message;
mod object;

use serde_json::Value;

use crate::proto::a2a::{
    AuthenticationInfo, CancelTaskRequest, DeleteTaskPushNotificationConfigRequest,
    GetExtendedAgentCardRequest, GetTaskPushNotificationConfigRequest, GetTaskRequest,
    ListTaskPushNotificationConfigsRequest, SendMessageConfiguration, SendMessageRequest,
    SubscribeToTaskRequest, TaskPushNotificationConfig,
};
use crate::proto::json::{self, BadJson};
use crate::proto::wkt::Struct;
use message::message;
use object::{Object, filled, flag, metadata, text, texts};

type Read<T> = Result<T, BadJson>;

/// A call, in the words of 1.0.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    SendMessage(SendMessageRequest),
    SendStreamingMessage(SendMessageRequest),
    GetTask(GetTaskRequest),
    CancelTask(CancelTaskRequest),
    /// With its metadata, for which 1.0 has no place.
    SubscribeToTask(SubscribeToTaskRequest, Option<Struct>),
    CreatePush(TaskPushNotificationConfig),
    /// With a blank id, from clients that know one webhook per task: the task's first.
    GetPush(GetTaskPushNotificationConfigRequest),
    ListPush(ListTaskPushNotificationConfigsRequest),
    DeletePush(DeleteTaskPushNotificationConfigRequest),
    GetExtendedAgentCard(GetExtendedAgentCardRequest),
}

type Reader = fn(Value) -> Read<Request>;

const METHODS: [(&str, Reader); 10] = [
    ("message/send", |params| send_message(params).map(Request::SendMessage)),
    ("message/stream", |params| send_message(params).map(Request::SendStreamingMessage)),
    ("tasks/get", |params| get_task(params).map(Request::GetTask)),
    ("tasks/cancel", |params| cancel_task(params).map(Request::CancelTask)),
    ("tasks/resubscribe", |params| {
        subscribe_to_task(params).map(|(request, metadata)| Request::SubscribeToTask(request, metadata))
    }),
    ("tasks/pushNotificationConfig/set", |params| create_push(params).map(Request::CreatePush)),
    ("tasks/pushNotificationConfig/get", |params| get_push(params).map(Request::GetPush)),
    ("tasks/pushNotificationConfig/list", |params| list_push(params).map(Request::ListPush)),
    ("tasks/pushNotificationConfig/delete", |params| delete_push(params).map(Request::DeletePush)),
    ("agent/getAuthenticatedExtendedCard", |_| {
        Ok(Request::GetExtendedAgentCard(GetExtendedAgentCardRequest::default()))
    }),
];

/// None if 0.3 has no such method. `message.send` is taken for `message/send`.
pub fn request(method: &str, params: Value) -> Option<Result<Request, BadJson>> {
    let method = method.replace('.', "/");
    let (_, read) = METHODS.into_iter().find(|(name, _)| *name == method)?;
    Some(read(params))
}

pub fn send_message(params: Value) -> Read<SendMessageRequest> {
    let mut from = Object::params(params)?;
    let mut message = from.need("message", message)?;
    // Some clients put the ids beside the message.
    from.fill("taskId", &mut message.task_id)?;
    from.fill("contextId", &mut message.context_id)?;
    Ok(SendMessageRequest {
        message: Some(message),
        configuration: from.take("configuration", configuration)?,
        metadata: from.take("metadata", metadata)?,
        tenant: String::new(),
    })
}

fn configuration(value: Value) -> Read<SendMessageConfiguration> {
    let mut from = Object::of(value)?;
    Ok(SendMessageConfiguration {
        accepted_output_modes: from.take("acceptedOutputModes", texts)?.unwrap_or_default(),
        task_push_notification_config: from.take("pushNotificationConfig", webhook)?,
        history_length: from.take("historyLength", |value| json::integer(&value))?,
        // 0.3 leaves the default open; its SDKs wait.
        return_immediately: !from.take("blocking", flag)?.unwrap_or(true),
    })
}

pub fn get_task(params: Value) -> Read<GetTaskRequest> {
    let mut from = Object::params(params)?;
    Ok(GetTaskRequest {
        id: from.need("id", filled)?,
        history_length: from.take("historyLength", |value| json::integer(&value))?,
        tenant: String::new(),
    })
}

pub fn cancel_task(params: Value) -> Read<CancelTaskRequest> {
    let mut from = Object::params(params)?;
    Ok(CancelTaskRequest {
        id: from.need("id", filled)?,
        metadata: from.take("metadata", metadata)?,
        tenant: String::new(),
    })
}

pub fn subscribe_to_task(params: Value) -> Read<(SubscribeToTaskRequest, Option<Struct>)> {
    let mut from = Object::params(params)?;
    let request = SubscribeToTaskRequest { id: from.need("id", filled)?, tenant: String::new() };
    Ok((request, from.take("metadata", metadata)?))
}

/// A webhook without an id takes its task's, so that setting it again replaces it: clients that know one webhook per
/// task count on that.
pub fn create_push(params: Value) -> Read<TaskPushNotificationConfig> {
    let mut from = Object::params(params)?;
    let task_id = task_of_push(&mut from)?;
    let config = from.need("pushNotificationConfig", webhook)?;
    let id = if config.id.is_empty() { task_id.clone() } else { config.id.clone() };
    Ok(TaskPushNotificationConfig { id, task_id, ..config })
}

pub fn get_push(params: Value) -> Read<GetTaskPushNotificationConfigRequest> {
    let mut from = Object::params(params)?;
    Ok(GetTaskPushNotificationConfigRequest {
        task_id: task_of_push(&mut from)?,
        id: id_of_push(&mut from)?.unwrap_or_default(),
        tenant: String::new(),
    })
}

/// Everything at once: the answer has no place for a page token.
pub fn list_push(params: Value) -> Read<ListTaskPushNotificationConfigsRequest> {
    let mut from = Object::params(params)?;
    let task_id = task_of_push(&mut from)?;
    Ok(ListTaskPushNotificationConfigsRequest {
        task_id,
        ..ListTaskPushNotificationConfigsRequest::default()
    })
}

pub fn delete_push(params: Value) -> Read<DeleteTaskPushNotificationConfigRequest> {
    let mut from = Object::params(params)?;
    Ok(DeleteTaskPushNotificationConfigRequest {
        task_id: task_of_push(&mut from)?,
        id: id_of_push(&mut from)?
            .ok_or_else(|| BadJson::whole("is required").below("pushNotificationConfigId"))?,
        tenant: String::new(),
    })
}

/// `taskId` is the name in `set`, `id` in the others. Taken first, it leaves `id` to mean the webhook for those who
/// send both, as in 1.0.
fn task_of_push(from: &mut Object) -> Read<String> {
    match from.take("taskId", filled)? {
        Some(id) => Ok(id),
        None => from.need("id", filled),
    }
}

fn id_of_push(from: &mut Object) -> Read<Option<String>> {
    let id = from.take("pushNotificationConfigId", text)?;
    let id = if id.is_some() { id } else { from.take("id", text)? };
    Ok(id.filter(|id| !id.is_empty()))
}

/// A webhook that belongs to no task yet.
pub(super) fn webhook(value: Value) -> Read<TaskPushNotificationConfig> {
    let mut from = Object::of(value)?;
    Ok(TaskPushNotificationConfig {
        id: from.take("id", text)?.unwrap_or_default(),
        url: from.need("url", filled)?,
        token: from.take("token", text)?.unwrap_or_default(),
        authentication: from.take("authentication", authentication)?,
        ..TaskPushNotificationConfig::default()
    })
}

/// Of several schemes the choice is the server's; 1.0 has one, and takes the client's first.
fn authentication(value: Value) -> Read<AuthenticationInfo> {
    let mut from = Object::of(value)?;
    let scheme = match from.take("scheme", filled)? {
        Some(scheme) => scheme,
        None => from.need("schemes", first)?,
    };
    Ok(AuthenticationInfo { scheme, credentials: from.take("credentials", text)?.unwrap_or_default() })
}

fn first(value: Value) -> Read<String> {
    let first = texts(value)?.into_iter().next();
    first.filter(|text| !text.is_empty()).ok_or_else(|| BadJson::whole("must not be empty"))
}
