//! What the typed service says when the agent refuses. Pure.

use crate::agent::call::Refusal;
use crate::agent::{EngineError, Refused};
use crate::domain::error::{Cause, Error};
use crate::domain::store::StoreError;

pub(super) fn fault(error: impl Into<EngineError>) -> Error {
    match error.into() {
        EngineError::Store(StoreError::NotFound) => not_found(),
        EngineError::Refused(_) => {
            Error::new(Cause::UnsupportedOperation, "the task has ended; nothing more can be done with it")
        }
        EngineError::Decision { refusal, .. } => decision(&refusal),
        EngineError::Settings(bad) => Error::field(format!("settings.{}", bad.field), bad.problem),
        busy @ EngineError::Busy => Error::new(Cause::Busy, busy.to_string()),
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

/// One that came too late is told what was decided.
pub(super) fn decision(refusal: &Refusal) -> Error {
    let field = format!("confirmation.{}", refusal.field());
    match refusal {
        Refusal::AlreadyDecided(decision) => Error::new(Cause::AlreadyDecided, format!("{field}: {refusal}"))
            .with("selectedOptionId", &decision.selected_option_id)
            .with("decidedBy", &decision.decided_by),
        refusal => Error::field(field, refusal.to_string()),
    }
}

/// Another's task, or none: nobody is told which.
pub(super) fn not_found() -> Error {
    Error::new(Cause::TaskNotFound, "the task was not found")
}
