//! The methods of 0.3: read into 1.0 requests, answered by the same service, printed in the words of 0.3.

use futures::{StreamExt, stream};
use http::HeaderMap;
use serde::Serialize;
use serde_json::Value;
use tonic::codegen::BoxStream;
use tonic::{Response as Answer, Status};

use super::{Rpc, document, unknown};
use crate::domain::dialect::{Dialect, EndsAtPause, RequestMetadata};
use crate::domain::error::{Cause, Error};
use crate::projection::v03::card::Card;
use crate::projection::v03::errors::ErrorObject;
use crate::projection::v03::read::{self, Request};
use crate::projection::v03::write::{Show, StreamItem, V03};
use crate::proto::a2a::a2a_service_server::A2aService;
use crate::proto::a2a::stream_response::Payload;
use crate::proto::a2a::{
    GetTaskPushNotificationConfigRequest, ListTaskPushNotificationConfigsRequest, StreamResponse,
    TaskPushNotificationConfig,
};
use crate::proto::json;
use crate::service::a2a::A2a;
use crate::transcode::jsonrpc::{Id, error, result};
use crate::transcode::{Framing, Response, events, unprintable};

pub(super) async fn answer(to: &A2a, method: &str, rpc: Rpc) -> Response {
    let request = match read_request(method, &rpc.params) {
        Ok(request) => request,
        Err(status) => return refuse(&rpc.id, &status),
    };
    let v03 = Dialect::V03;
    match request {
        Request::SendMessage(q) => rpc.print(to.send_message(rpc.request(q, v03)).await, show),
        Request::SendStreamingMessage(q) => {
            follow(&rpc.id, to.send_streaming_message(rpc.request(q, v03)).await, Ends::Pause)
        }
        Request::GetTask(q) => rpc.print(to.get_task(rpc.request(q, v03)).await, show),
        Request::CancelTask(q) => rpc.print(to.cancel_task(rpc.request(q, v03)).await, show),
        Request::SubscribeToTask(q, metadata) => {
            let mut request = rpc.request(q, v03);
            metadata.into_iter().for_each(|m| drop(request.extensions_mut().insert(RequestMetadata(m))));
            follow(&rpc.id, to.subscribe_to_task(request).await, Ends::Terminal)
        }
        Request::CreatePush(q) => {
            rpc.print(to.create_task_push_notification_config(rpc.request(q, v03)).await, show)
        }
        Request::GetPush(q) => rpc.print(get_push(to, &rpc, q).await, show),
        Request::ListPush(q) => {
            rpc.print(to.list_task_push_notification_configs(rpc.request(q, v03)).await, show)
        }
        Request::DeletePush(q) => rpc
            .print(to.delete_task_push_notification_config(rpc.request(q, v03)).await, |_, out| {
                write(&(), out)
            }),
        Request::GetExtendedAgentCard(q) => rpc
            .print(to.get_extended_agent_card(rpc.request(q, v03)).await, |card, out| {
                write(&Card(card), out)
            }),
    }
}

fn read_request(method: &str, params: &str) -> Result<Request, Status> {
    let bad = |bad: json::BadJson| {
        let field = if bad.field.is_empty() { "params".to_owned() } else { bad.field };
        Status::from(Error::field(field, bad.problem))
    };
    let params = match params {
        "" => Value::Null,
        text => json::parse(text.as_bytes()).map_err(bad)?,
    };
    read::request(method, params).ok_or_else(|| unknown(method))?.map_err(bad)
}

/// Older clients know one webhook per task and do not name it: theirs is the first.
async fn get_push(
    to: &A2a,
    rpc: &Rpc,
    request: GetTaskPushNotificationConfigRequest,
) -> Result<Answer<TaskPushNotificationConfig>, Status> {
    if !request.id.is_empty() {
        return to.get_task_push_notification_config(rpc.request(request, Dialect::V03)).await;
    }
    let all = ListTaskPushNotificationConfigsRequest { task_id: request.task_id, ..Default::default() };
    let all = to.list_task_push_notification_configs(rpc.request(all, Dialect::V03)).await?;
    let first = all.into_inner().configs.into_iter().next();
    first.map(Answer::new).ok_or_else(|| Error::new(Cause::TaskNotFound, "the task has no webhook").into())
}

/// An event as 0.3 has it, of a stream that ends when the task asks.
pub(super) fn event(response: &StreamResponse, out: &mut Vec<u8>) -> Result<(), Status> {
    write(&StreamItem { response, last: is_last(response, Ends::Pause) }, out)
}

/// Which status is the last of a stream.
#[derive(Debug, Clone, Copy)]
enum Ends {
    /// Whoever sent a message has the answer.
    Pause,
    Terminal,
}

impl Rpc {
    fn print<T>(
        &self,
        answer: Result<Answer<T>, Status>,
        print: impl FnOnce(&T, &mut Vec<u8>) -> Result<(), Status>,
    ) -> Response {
        let printed = answer.and_then(|answer| {
            let (metadata, message, _) = answer.into_parts();
            let mut out = Vec::with_capacity(256);
            result(&self.id, &mut out, |out| print(&message, out))?;
            Ok(document(out, metadata.into_headers()))
        });
        printed.unwrap_or_else(|status| refuse(&self.id, &status))
    }
}

/// Clients of 0.3 read nothing but events where they asked for a stream, so a refusal is its only event.
fn follow(id: &Id, answer: Result<Answer<BoxStream<StreamResponse>>, Status>, ends: Ends) -> Response {
    let answer = answer.unwrap_or_else(|status| Answer::new(stream::iter([Err(status)]).boxed()));
    let ends = if answer.extensions().get::<EndsAtPause>().is_some() { Ends::Pause } else { ends };
    events(answer, Items { id: id.clone(), ends })
}

/// The events of a task that no request of JSON-RPC has begun, until it ends or asks: answers to its own id.
pub(in crate::transport::handler) fn turn(
    task_id: &str,
    answer: Answer<BoxStream<StreamResponse>>,
) -> Response {
    follow(&Id::text(task_id), Ok(answer), Ends::Pause)
}

fn refuse(id: &Id, status: &Status) -> Response {
    let mut out = Vec::new();
    error(id, &mut out, &object(status));
    document(out, HeaderMap::new())
}

fn object(status: &Status) -> Vec<u8> {
    let printed = serde_json::to_vec(&ErrorObject::from(status));
    printed.unwrap_or_else(|_| br#"{"code":-32603,"message":"the error cannot be written"}"#.to_vec())
}

fn show<T: Show>(message: &T, out: &mut Vec<u8>) -> Result<(), Status> {
    write(&V03(message), out)
}

fn write(view: &impl Serialize, out: &mut Vec<u8>) -> Result<(), Status> {
    serde_json::to_writer(out, view).map_err(unprintable)
}

/// Each event is an answer to the request, and says whether it is the last.
struct Items {
    id: Id,
    ends: Ends,
}

impl Framing<StreamResponse> for Items {
    const ERROR: Option<&'static str> = None;

    fn item(&mut self, response: &StreamResponse, out: &mut Vec<u8>) -> Result<(), Status> {
        let last = is_last(response, self.ends);
        result(&self.id, out, |out| write(&StreamItem { response, last }, out))
    }

    fn error(&mut self, status: &Status, out: &mut Vec<u8>) {
        error(&self.id, out, &object(status));
    }
}

fn is_last(response: &StreamResponse, ends: Ends) -> bool {
    let Some(Payload::StatusUpdate(update)) = &response.payload else { return false };
    let state = update.status.as_ref().map(|status| status.state()).unwrap_or_default();
    match ends {
        Ends::Pause => state.is_terminal() || state.is_interrupted(),
        Ends::Terminal => state.is_terminal(),
    }
}

#[cfg(test)]
mod tests {
    use http::header::CONTENT_TYPE;
    use http_body_util::BodyExt;

    use super::*;
    use crate::transcode::jsonrpc::Envelope;

    #[tokio::test]
    async fn a_refused_stream_is_a_stream_with_the_refusal() {
        let envelope = Envelope::parse(br#"{"jsonrpc":"2.0","id":7,"method":"tasks/resubscribe"}"#).unwrap();
        let status = Status::from(Error::new(Cause::TaskNotFound, "the task was not found"));
        let response = follow(&envelope.id, Err(status), Ends::Terminal);
        assert_eq!(response.headers()[CONTENT_TYPE], "text/event-stream");
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let text = String::from_utf8(body.to_vec()).unwrap();
        assert!(text.starts_with(r#"data: {"jsonrpc":"2.0","id":7,"error":{"code":-32001,"#), "{text}");
        assert_eq!(text.matches("data:").count(), 1, "{text}");
    }
}
