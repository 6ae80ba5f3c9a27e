//! Why a statement's work ended without its result: SQLite could not, or the answer is a refusal. Knows no
//! query; writer and readers tell the two apart.

use std::path::Path;

use rusqlite::{Error, ErrorCode};

use crate::domain::store::StoreError;

#[derive(Debug)]
pub enum Fault {
    /// What it wrote so far has to be undone.
    Sql(Error),
    /// Nothing was written: the caller asked for what cannot be.
    Refused(StoreError),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Sql(error)
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Refused(error)
    }
}

/// In one line: what went wrong with which file, and what helps if that is known.
pub fn failed(path: &Path, error: &Error) -> StoreError {
    let hint = match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => "; free some space",
        Some(ErrorCode::DatabaseBusy) => "; another program holds it, end that",
        Some(ErrorCode::ReadOnly) => "; mend its permissions",
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => "; restore it from a backup",
        _ => "",
    };
    StoreError::Failed(format!("{}: {error}{hint}", path.display()))
}
