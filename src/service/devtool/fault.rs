//! What the typed service says when the agent refuses. Pure.

use crate::agent::{EngineError, Refused};
use crate::domain::error::{Cause, Error};
use crate::domain::store::StoreError;
use crate::service::undecided::undecided;

pub(super) fn fault(error: impl Into<EngineError>) -> Error {
    match error.into() {
        EngineError::Store(StoreError::NotFound) => not_found(),
        EngineError::Refused(_) => {
            Error::new(Cause::UnsupportedOperation, "the task has ended; nothing more can be done with it")
        }
        EngineError::Decision { refusal, .. } => undecided("confirmation", &refusal),
        EngineError::Settings(bad) => Error::field(format!("settings.{}", bad.field), bad.problem),
        busy @ EngineError::Busy => Error::new(Cause::Busy, busy.to_string()),
        stopping @ EngineError::Stopping => Error::new(Cause::Stopping, stopping.to_string()),
        error => {
            tracing::error!(%error, "the agent failed");
            Error::new(Cause::Internal, "the server could not do this; its log says why")
        }
    }
}

pub(super) fn cannot_cancel(error: EngineError) -> Error {
    match error {
        EngineError::Refused(Refused::Terminal(_)) => {
            Error::new(Cause::TaskNotCancelable, "the task has ended and cannot be canceled")
        }
        error => fault(error),
    }
}

/// Another's task, or none: nobody is told which.
pub(super) fn not_found() -> Error {
    Error::new(Cause::TaskNotFound, "the task was not found")
}
