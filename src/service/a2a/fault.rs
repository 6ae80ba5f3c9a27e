//! What A2A says when the agent refuses.

use crate::agent::call::Refusal;
use crate::agent::{EngineError, Refused};
use crate::domain::error::{Cause, Error};
use crate::domain::extension::DEVELOPMENT_TOOL;
use crate::domain::store::StoreError;

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
        (EngineError::Decision { part, refusal }, _) => decision(part, &refusal),
        (EngineError::Settings(bad), _) => {
            Error::field(format!("message.metadata[\"{DEVELOPMENT_TOOL}\"].{}", bad.field), bad.problem)
        }
        (busy @ EngineError::Busy, _) => Error::new(Cause::Busy, busy.to_string()),
        (error, _) => {
            tracing::error!(%error, "the agent failed");
            Error::new(Cause::Internal, "the server could not do this; its log says why")
        }
    }
}

/// Says which member of which decision is wrong. One that came too late is told what was decided.
fn decision(part: usize, refusal: &Refusal) -> Error {
    let field = format!("message.parts[{part}].data.{}", refusal.field());
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

fn ended() -> Error {
    let hint = "send the message without a task to begin another in the same context";
    Error::new(Cause::UnsupportedOperation, format!("the task has ended and takes no more messages; {hint}"))
}
