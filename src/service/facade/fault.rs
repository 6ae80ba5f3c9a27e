//! What clients are told when a model does not answer.

use crate::domain::error::{Cause, Error};
use crate::domain::model::{ModelCause, ModelError, Staged};

pub fn fault(error: ModelError) -> Error {
    let cause = match error.cause {
        ModelCause::Invalid => Cause::InvalidArgument,
        ModelCause::TooLong => Cause::ContextTooLong,
        ModelCause::Denied => Cause::ModelKeyRefused,
        ModelCause::Forbidden => Cause::ModelForbidden,
        ModelCause::NotFound => Cause::ModelNotFound,
        ModelCause::Unsupported => Cause::ModelCannot,
        ModelCause::Limited => Cause::RateLimited,
        ModelCause::Exhausted => Cause::QuotaExhausted,
        ModelCause::Unavailable => Cause::ModelUnavailable,
        ModelCause::Failed => Cause::ModelFailed,
        ModelCause::Broken => Cause::ModelBroken,
    };
    let told = Error::new(cause, error.message);
    let told = error.retry_after.into_iter().fold(told, Error::retry_after);
    match error.staged {
        Some(Staged::Status(status)) => told.with("stagedStatus", status.to_string()),
        Some(Staged::Reset) => told.with("staged", "reset"),
        Some(Staged::Garbage) => told.with("staged", "garbage"),
        None => told,
    }
}
