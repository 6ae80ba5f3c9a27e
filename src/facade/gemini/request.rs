//! Requests as they are.

use super::Answer;
use crate::domain::error::Error;
use crate::facade::{Asked, Converted, Report};
use crate::proto::gemini::GenerateContentRequest;

pub fn convert(request: GenerateContentRequest, _asked: &Asked<'_>) -> Result<Converted<Answer>, Error> {
    if request.contents.is_empty() {
        return Err(Error::field("contents", "is required: say something"));
    }
    Ok(Converted { request, report: Report::default(), remote: Vec::new(), reply: Answer })
}
