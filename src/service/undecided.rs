//! What is said of a decision that the agent refuses, wherever it came in. Pure.

use crate::agent::call::Refusal;
use crate::domain::error::{Cause, Error};

/// A decision that was refused, by the place of the decision in its request. One that came too late is told what was
/// decided.
pub(super) fn undecided(place: &str, refusal: &Refusal) -> Error {
    let field = format!("{place}.{}", refusal.field());
    match refusal {
        Refusal::AlreadyDecided(decision) => Error::new(Cause::AlreadyDecided, format!("{field}: {refusal}"))
            .with("selectedOptionId", &decision.selected_option_id)
            .with("decidedBy", &decision.decided_by),
        refusal => Error::field(field, refusal.to_string()),
    }
}
