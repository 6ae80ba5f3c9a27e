//! Between columns and values: times, heads, webhooks. Pure; knows no statement. The queries use it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use prost::Message;
use rusqlite::types::Type;
use rusqlite::{Error, Result, Row};

use super::row;
use crate::domain::store::{Head, Push, PushState, PushVersion};
use crate::proto::a2a::TaskState;
use crate::proto::task::TaskEvent;

/// The columns that `head` reads, in its order.
pub const HEAD: &str = "task.id, task.context, task.tenant, task.state, task.updated, task.sequence";
/// The columns that `push` reads, in its order.
pub const PUSH: &str =
    "push.config, push.version, push.delivered, push.attempts, push.not_before, push.problem";
pub const PUSH_COLUMNS: usize = 6;

/// The millisecond that a time lies in, counted from 1970.
pub fn millis(time: SystemTime) -> i64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
        Err(before) => {
            let before = before.duration();
            let whole = i64::try_from(before.as_millis()).unwrap_or(i64::MAX);
            let part = i64::from(!before.subsec_nanos().is_multiple_of(1_000_000));
            whole.saturating_neg().saturating_sub(part)
        }
    }
}

pub fn time(millis: i64) -> SystemTime {
    let distance = Duration::from_millis(millis.unsigned_abs());
    let time = if millis < 0 { UNIX_EPOCH.checked_sub(distance) } else { UNIX_EPOCH.checked_add(distance) };
    time.unwrap_or(UNIX_EPOCH)
}

/// From the column `at` on, as `HEAD` names them.
pub fn head(row: &Row<'_>, at: usize) -> Result<Head> {
    Ok(Head {
        task_id: row.get(at)?,
        context_id: row.get(at + 1)?,
        tenant: row.get(at + 2)?,
        state: TaskState::try_from(row.get::<_, i32>(at + 3)?)
            .map_err(|e| Error::FromSqlConversionFailure(at + 3, Type::Integer, e.into()))?,
        updated: time(row.get(at + 4)?),
        sequence: row.get(at + 5)?,
    })
}

/// From the column `at` on, as `PUSH` names them.
pub fn push(row: &Row<'_>, at: usize) -> Result<Push> {
    let not_before: Option<i64> = row.get(at + 4)?;
    Ok(Push {
        config: message(row, at)?,
        version: version(row, at + 1)?,
        delivered: row.get(at + 2)?,
        attempts: row.get(at + 3)?,
        state: match not_before {
            Some(at) => PushState::Active { not_before: time(at) },
            None => PushState::Stopped { problem: row.get::<_, Option<String>>(at + 5)?.unwrap_or_default() },
        },
    })
}

/// A protobuf message in a column.
pub fn message<M: Message + Default>(row: &Row<'_>, at: usize) -> Result<M> {
    let bytes = row.get_ref(at)?.as_blob()?;
    M::decode(bytes).map_err(|e| Error::FromSqlConversionFailure(at, Type::Blob, Box::new(e)))
}

/// The events of a row of the journal.
pub fn events(row: &Row<'_>, at: usize) -> Result<Vec<TaskEvent>> {
    let bytes = row.get_ref(at)?.as_blob()?;
    row::decode(bytes).map_err(|e| Error::FromSqlConversionFailure(at, Type::Blob, Box::new(e)))
}

fn version(row: &Row<'_>, at: usize) -> Result<PushVersion> {
    match row.get(at)? {
        3 => Ok(PushVersion::V03),
        10 => Ok(PushVersion::V10),
        other => Err(Error::IntegralValueOutOfRange(at, other)),
    }
}

pub fn version_number(version: PushVersion) -> i64 {
    match version {
        PushVersion::V03 => 3,
        PushVersion::V10 => 10,
    }
}

/// The columns `not_before` and `problem`.
pub fn push_state(state: &PushState) -> (Option<i64>, Option<&str>) {
    match state {
        PushState::Active { not_before } => (Some(millis(*not_before)), None),
        PushState::Stopped { problem } => (None, Some(problem)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_the_millisecond_that_it_lies_in() {
        let at = |nanos: i64| match u64::try_from(nanos) {
            Ok(nanos) => UNIX_EPOCH + Duration::from_nanos(nanos),
            Err(_) => UNIX_EPOCH - Duration::from_nanos(nanos.unsigned_abs()),
        };
        for (nanos, expected) in
            [(0, 0), (999_999, 0), (1_000_000, 1), (-1, -1), (-1_000_000, -1), (-1_000_001, -2)]
        {
            assert_eq!(millis(at(nanos)), expected, "{nanos}");
        }
        for whole in [0, 1, -1, 1_700_000_000_123, -62_135_596_800_000] {
            assert_eq!(millis(time(whole)), whole);
        }
    }

    #[test]
    fn no_number_of_milliseconds_panics() {
        for extreme in [i64::MIN, i64::MAX] {
            millis(time(extreme));
        }
    }
}
