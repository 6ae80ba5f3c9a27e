//! How many words an answer should have: a hint, since no model has a switch for it. Pure.

use crate::domain::error::Error;
use crate::facade::Report;

pub fn hint(verbosity: &str, field: &'static str, report: &mut Report) -> Result<Option<String>, Error> {
    let hint = match verbosity {
        "" | "medium" => return Ok(None),
        "low" => "Answer briefly, with no more words than needed.",
        "high" => "Answer at length and in detail.",
        _ => return Err(Error::field(field, "must be low, medium or high")),
    };
    report.altered(field, "said to the model as an instruction");
    Ok(Some(hint.to_owned()))
}
