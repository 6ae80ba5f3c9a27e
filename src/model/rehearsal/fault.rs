//! What goes wrong on purpose: which status has which cause, what a client sees of each fault, and how often one comes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde::{Deserialize, Deserializer};

use crate::domain::model::{ModelCause, ModelError, Staged};

/// The model fails: at once, or behind what it said so far.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Fault {
    /// As HTTP would have it.
    pub(super) status: u16,
    #[serde(default)]
    pub(super) message: Option<String>,
    /// When another try is welcome.
    #[serde(default, deserialize_with = "super::duration::long")]
    pub(super) after: Option<Duration>,
    #[serde(default)]
    pub(super) times: Option<Times>,
}

/// How often a fault without words of its own comes; without a number, always.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Again {
    pub(super) times: Times,
}

/// Of several with one cause, the first is what a recording writes.
const CAUSES: [(u16, ModelCause); 13] = [
    (400, ModelCause::Invalid),
    (401, ModelCause::Denied),
    (402, ModelCause::Exhausted),
    (403, ModelCause::Forbidden),
    (404, ModelCause::NotFound),
    (413, ModelCause::TooLong),
    (429, ModelCause::Limited),
    (503, ModelCause::Unavailable),
    (500, ModelCause::Failed),
    (501, ModelCause::Unsupported),
    (502, ModelCause::Broken),
    (504, ModelCause::Unavailable),
    (529, ModelCause::Unavailable),
];

/// The status that stands for a cause.
pub(super) fn status(cause: ModelCause) -> u16 {
    CAUSES.iter().find(|(_, known)| *known == cause).map_or(500, |(status, _)| *status)
}

impl Fault {
    pub(super) fn cause(&self) -> Option<ModelCause> {
        CAUSES.iter().find(|(status, _)| *status == self.status).map(|(_, cause)| *cause)
    }

    pub(super) fn error(&self) -> ModelError {
        let message = match &self.message {
            None => format!("the rehearsal fails with {}, as its script asks", self.status),
            Some(message) => message.clone(),
        };
        let cause = self.cause().unwrap_or(ModelCause::Broken);
        ModelError {
            retry_after: self.after,
            staged: Some(Staged::Status(self.status)),
            ..ModelError::new(cause, message)
        }
    }
}

/// The connection breaks. Whoever has heard nothing yet could not reach the model; whoever has, cannot read the rest.
pub(super) fn reset(heard: bool) -> ModelError {
    let cause = if heard { ModelCause::Broken } else { ModelCause::Unavailable };
    let error = ModelError::new(cause, "the rehearsal breaks the connection, as its script asks");
    ModelError { staged: Some(Staged::Reset), ..error }
}

pub(super) fn garbage() -> ModelError {
    let message = "the rehearsal says something that cannot be read, as its script asks";
    ModelError { staged: Some(Staged::Garbage), ..ModelError::new(ModelCause::Broken, message) }
}

/// Counts down while the script runs. All who follow the same script share it.
#[derive(Debug, Clone)]
pub(super) struct Times(Arc<AtomicU32>);

impl Times {
    /// Whether it comes once more.
    pub(super) fn again(&self) -> bool {
        let down = |left: u32| left.checked_sub(1);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, down).is_ok()
    }
}

impl PartialEq for Times {
    fn eq(&self, other: &Self) -> bool {
        self.0.load(Ordering::Relaxed) == other.0.load(Ordering::Relaxed)
    }
}

impl<'de> Deserialize<'de> for Times {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        u32::deserialize(deserializer).map(|times| Self(Arc::new(AtomicU32::new(times))))
    }
}
