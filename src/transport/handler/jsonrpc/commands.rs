//! The methods of the development-tool extension: slash commands, listed and executed. The same in both generations, but
//! for the words of the events that follow an execution.

use http::header::ACCEPT;
use tonic::Status;

use super::{Rpc, legacy, native};
use crate::domain::dialect::Dialect;
use crate::proto::json;
use crate::service::a2a::{A2a, Executing};
use crate::transcode::jsonrpc::{Id, error, object, result};
use crate::transcode::{EVENT_STREAM, Framing, Response, events, unprintable};

const GET: &str = "commands/get";
const EXECUTE: &str = "command/execute";

pub(super) fn knows(method: &str) -> bool {
    [GET, EXECUTE].contains(&method)
}

pub(super) async fn answer(to: &A2a, method: &str, rpc: Rpc, dialect: Dialect) -> Response {
    match method {
        GET => rpc.unary_in(dialect, |request| to.get_all_slash_commands(request)).await,
        _ if streams(&rpc) => {
            let answered = match rpc.read_in(dialect) {
                Ok(request) => to.execute_and_stream(request).await,
                Err(status) => Err(status),
            };
            match answered {
                Ok(answer) => events(answer, Items { id: rpc.id, dialect }),
                Err(status) => native::refuse(&rpc.id, &status),
            }
        }
        _ => rpc.unary_in(dialect, |request| to.execute_slash_command(request)).await,
    }
}

/// Whether the client asks for events.
fn streams(rpc: &Rpc) -> bool {
    let accepted = rpc.call.parts.headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepted.flat_map(|list| list.split(',')).any(|media| media.trim().starts_with(EVENT_STREAM))
}

/// The response of the execution, and then the events of its task.
struct Items {
    id: Id,
    dialect: Dialect,
}

impl Framing<Executing> for Items {
    const ERROR: Option<&'static str> = None;

    fn item(&mut self, item: &Executing, out: &mut Vec<u8>) -> Result<(), Status> {
        result(&self.id, out, |out| match (item, self.dialect) {
            (Executing::Response(response), _) => json::encode(response, out).map_err(unprintable),
            (Executing::Event(event), Dialect::V03) => legacy::event(event, out),
            (Executing::Event(event), _) => json::encode(event, out).map_err(unprintable),
        })
    }

    fn error(&mut self, status: &Status, out: &mut Vec<u8>) {
        error(&self.id, out, &object(status));
    }
}
