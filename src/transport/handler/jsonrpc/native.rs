//! The methods of 1.0: named as the RPCs, with ProtoJSON for params and results.

use std::future::Future;

use http::HeaderMap;
use tonic::codegen::BoxStream;
use tonic::{Request, Status};

use super::{Rpc, document, unknown};
use crate::domain::dialect::Dialect;
use crate::domain::error::Error;
use crate::proto::a2a::StreamResponse;
use crate::proto::a2a::a2a_service_server::A2aService;
use crate::proto::json;
use crate::proto::schema::Schema;
use crate::service::a2a::A2a;
use crate::transcode::codec::checked;
use crate::transcode::jsonrpc::{Id, error, object, result};
use crate::transcode::{Framing, Response, events, unprintable};

const METHODS: [&str; 11] = [
    "SendMessage",
    "SendStreamingMessage",
    "GetTask",
    "ListTasks",
    "CancelTask",
    "SubscribeToTask",
    "CreateTaskPushNotificationConfig",
    "GetTaskPushNotificationConfig",
    "ListTaskPushNotificationConfigs",
    "DeleteTaskPushNotificationConfig",
    "GetExtendedAgentCard",
];

pub(super) fn knows(method: &str) -> bool {
    METHODS.contains(&method)
}

pub(super) async fn answer(to: &A2a, method: &str, rpc: Rpc) -> Response {
    match method {
        "SendMessage" => rpc.unary(|request| to.send_message(request)).await,
        "SendStreamingMessage" => rpc.stream(|request| to.send_streaming_message(request)).await,
        "GetTask" => rpc.unary(|request| to.get_task(request)).await,
        "ListTasks" => rpc.unary(|request| to.list_tasks(request)).await,
        "CancelTask" => rpc.unary(|request| to.cancel_task(request)).await,
        "SubscribeToTask" => rpc.stream(|request| to.subscribe_to_task(request)).await,
        "CreateTaskPushNotificationConfig" => {
            rpc.unary(|request| to.create_task_push_notification_config(request)).await
        }
        "GetTaskPushNotificationConfig" => {
            rpc.unary(|request| to.get_task_push_notification_config(request)).await
        }
        "ListTaskPushNotificationConfigs" => {
            rpc.unary(|request| to.list_task_push_notification_configs(request)).await
        }
        "DeleteTaskPushNotificationConfig" => {
            rpc.unary(|request| to.delete_task_push_notification_config(request)).await
        }
        "GetExtendedAgentCard" => rpc.unary(|request| to.get_extended_agent_card(request)).await,
        other => refuse(&rpc.id, &unknown(other)),
    }
}

impl Rpc {
    fn read<Q: Schema>(&self) -> Result<Request<Q>, Status> {
        self.read_in(Dialect::V10)
    }

    pub(super) fn read_in<Q: Schema>(&self, dialect: Dialect) -> Result<Request<Q>, Status> {
        let params = self.params.trim();
        let message = match params {
            "" | "null" => Q::default(),
            _ => json::decode(params.as_bytes()).map_err(|bad| {
                let field = if bad.field.is_empty() { "params" } else { bad.field.as_str() };
                Error::field(field, bad.problem)
            })?,
        };
        Ok(self.request(checked(message)?, dialect))
    }

    async fn unary<Q, A, F>(self, run: impl FnOnce(Request<Q>) -> F) -> Response
    where
        Q: Schema,
        A: Schema,
        F: Future<Output = Result<tonic::Response<A>, Status>>,
    {
        self.unary_in(Dialect::V10, run).await
    }

    pub(super) async fn unary_in<Q, A, F>(
        self,
        dialect: Dialect,
        run: impl FnOnce(Request<Q>) -> F,
    ) -> Response
    where
        Q: Schema,
        A: Schema,
        F: Future<Output = Result<tonic::Response<A>, Status>>,
    {
        let answered = match self.read_in(dialect) {
            Ok(request) => run(request).await,
            Err(status) => Err(status),
        };
        let printed = answered.and_then(|answer| {
            let (metadata, message, _) = answer.into_parts();
            let mut out = Vec::with_capacity(256);
            result(&self.id, &mut out, |out| json::encode(&message, out).map_err(unprintable))?;
            Ok(document(out, metadata.into_headers()))
        });
        printed.unwrap_or_else(|status| refuse(&self.id, &status))
    }

    async fn stream<Q, F>(self, run: impl FnOnce(Request<Q>) -> F) -> Response
    where
        Q: Schema,
        F: Future<Output = Result<tonic::Response<BoxStream<StreamResponse>>, Status>>,
    {
        let answered = match self.read() {
            Ok(request) => run(request).await,
            Err(status) => Err(status),
        };
        match answered {
            Ok(answer) => events(answer, Items(self.id)),
            Err(status) => refuse(&self.id, &status),
        }
    }
}

/// An answer that is an error.
pub(super) fn refuse(id: &Id, status: &Status) -> Response {
    let mut out = Vec::new();
    error(id, &mut out, &object(status));
    document(out, HeaderMap::new())
}

/// Each event is an answer to the request.
struct Items(Id);

impl Framing<StreamResponse> for Items {
    const ERROR: Option<&'static str> = None;

    fn item(&mut self, item: &StreamResponse, out: &mut Vec<u8>) -> Result<(), Status> {
        result(&self.0, out, |out| json::encode(item, out).map_err(unprintable))
    }

    fn error(&mut self, status: &Status, out: &mut Vec<u8>) {
        error(&self.0, out, &object(status));
    }
}
