//! Who may ask which model, and how much.

use crate::domain::error::Error;
use crate::domain::principal::Principal;
use crate::proto::gemini::{GenerateContentRequest, GenerateContentResponse};

/// What holds for each principal.
#[derive(Debug, Default)]
pub struct Guard;

impl Guard {
    /// Whether this principal may ask this model at all.
    pub fn allow(&self, _who: &Principal, _model: &str) -> Result<(), Error> {
        Ok(())
    }

    /// Takes one request out of what the principal has left.
    pub fn admit(&self, who: &Principal, request: &GenerateContentRequest) -> Result<Spending, Error> {
        self.allow(who, &request.model)?;
        Ok(Spending)
    }
}

/// What an answer takes out of what the principal has left; counted when it is dropped, whole or not.
#[derive(Debug)]
pub struct Spending;

impl Spending {
    pub fn see(&self, _chunk: &GenerateContentResponse) {}
}
