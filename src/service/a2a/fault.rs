//! What A2A says when the agent refuses.

use crate::agent::{EngineError, Refused};
use crate::domain::error::{Cause, Error};
use crate::domain::extension::DEVELOPMENT_TOOL;
use crate::domain::store::StoreError;
use crate::service::undecided::undecided;

/// What a client wanted of a task that has ended.
#[derive(Debug, Clone, Copy)]
pub(super) enum Wanted {
    Say,
    Cancel,
    Read,
}

pub(super) fn fault(error: EngineError, wanted: Wanted) -> Error {
    match (error, wanted) {
        (EngineError::Store(StoreError::NotFound), _) => not_found(),
        (EngineError::Store(full @ StoreError::Full), Wanted::Say) => {
            Error::field("configuration.taskPushNotificationConfig", full.to_string())
        }
        (EngineError::Store(full @ StoreError::Full), _) => Error::field("id", full.to_string()),
        (EngineError::Refused(Refused::Terminal(_)), Wanted::Cancel) => {
            Error::new(Cause::TaskNotCancelable, "the task has ended and cannot be canceled")
        }
        (EngineError::Refused(_), _) => ended(),
        (EngineError::Decision { part, refusal }, _) => {
            undecided(&format!("message.parts[{part}].data"), &refusal)
        }
        (EngineError::Settings(bad), _) => {
            Error::field(format!("message.metadata[\"{DEVELOPMENT_TOOL}\"].{}", bad.field), bad.problem)
        }
        (busy @ EngineError::Busy, _) => Error::new(Cause::Busy, busy.to_string()),
        (stopping @ EngineError::Stopping, _) => Error::new(Cause::Stopping, stopping.to_string()),
        (error, _) => {
            tracing::error!(%error, "the agent failed");
            Error::new(Cause::Internal, "the server could not do this; its log says why")
        }
    }
}

/// Another's task, or none: nobody is told which.
pub(super) fn not_found() -> Error {
    Error::new(Cause::TaskNotFound, "the task was not found")
}

fn ended() -> Error {
    let hint = "send the message without a task to begin another in the same context";
    Error::new(Cause::UnsupportedOperation, format!("the task has ended and takes no more messages; {hint}"))
}
