//! How long what a client names may be, and how many. What is stored under an id, or compared with it, must not be as
//! large as a body. A2A and the typed service ask it. Pure.

use crate::domain::error::Error;

/// In bytes. UUIDs and the names that people give are far below.
pub(super) const ID: usize = 256;
const REFERENCES: usize = 64;

pub(super) fn id(field: &str, text: &str) -> Result<(), Error> {
    length(field, text, ID)
}

pub(super) fn references(field: &str, tasks: &[String]) -> Result<(), Error> {
    count(field, tasks.len(), REFERENCES)?;
    tasks.iter().enumerate().try_for_each(|(index, task)| id(&format!("{field}[{index}]"), task))
}

pub(super) fn length(field: &str, text: &str, most: usize) -> Result<(), Error> {
    if text.len() <= most {
        return Ok(());
    }
    Err(Error::field(field, format!("is longer than {most} bytes")))
}

pub(super) fn count(field: &str, count: usize, most: usize) -> Result<(), Error> {
    if count <= most {
        Ok(())
    } else {
        Err(Error::field(field, format!("has {count} entries; {most} are the most")))
    }
}
