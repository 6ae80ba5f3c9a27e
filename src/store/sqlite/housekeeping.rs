//! What no client can reach: what a start has to look at, and forgetting. Sees every principal's tasks.

use std::time::SystemTime;

use rusqlite::{Connection, OptionalExtension, Result, params};

use super::rows::{self, HEAD, millis};
use crate::domain::principal::Principal;
use crate::domain::store::Head;

/// What one step of a purge takes on at most, so that others never wait long for the writer.
const ROWS: usize = 256;
const TASKS: usize = 32;

fn unfinished_sql() -> String {
    format!("SELECT {HEAD}, principal FROM task WHERE ended IS NULL ORDER BY number")
}

pub fn unfinished(db: &Connection) -> Result<Vec<(Principal, Head)>> {
    let mut statement = db.prepare_cached(&unfinished_sql())?;
    let found = statement.query_map([], |row| {
        let principal: String = row.get("principal")?;
        Ok((Principal::named(&principal), rows::head(row, 0)?))
    })?;
    found.collect()
}

/// How far a purge has come.
#[derive(Debug, PartialEq, Eq)]
pub struct Step {
    /// Nobody can see these tasks any more.
    pub hidden: usize,
    pub over: bool,
}

/// Hides some old tasks at once, or removes a piece of those that are hidden. Killed in between, the next purge
/// goes on with them: a task that has lost its principal is nobody's, and its number is not given away.
pub fn purge(db: &Connection, before: SystemTime) -> Result<Step> {
    let mut left = ROWS;
    while left > 0
        && let Some(task) = hidden_task(db)?
    {
        let removed = remove_events(db, task, left)?;
        if removed < left {
            db.prepare_cached("DELETE FROM task WHERE number = ?")?.execute([task])?;
        }
        left -= removed.max(1);
    }
    if left == 0 {
        return Ok(Step { hidden: 0, over: false });
    }
    let hidden = hide(db, millis(before))?;
    Ok(Step { hidden, over: hidden == 0 })
}

const HIDDEN: &str = "SELECT number FROM task WHERE principal IS NULL LIMIT 1";

fn hidden_task(db: &Connection) -> Result<Option<i64>> {
    db.prepare_cached(HIDDEN)?.query_row([], |row| row.get(0)).optional()
}

fn remove_events(db: &Connection, task: i64, most: usize) -> Result<usize> {
    let sql = "DELETE FROM journal WHERE task = ?1 AND first IN
        (SELECT first FROM journal WHERE task = ?1 ORDER BY first LIMIT ?2)";
    db.prepare_cached(sql)?.execute(params![task, most])
}

const OLD: &str = "SELECT number FROM task
    WHERE ended < ? AND principal IS NOT NULL ORDER BY ended LIMIT ?";

fn hide(db: &Connection, before: i64) -> Result<usize> {
    let old: Vec<i64> = db
        .prepare_cached(OLD)?
        .query_map(params![before, TASKS], |row| row.get(0))?
        .collect::<Result<_>>()?;
    for task in &old {
        db.prepare_cached("DELETE FROM push WHERE task = ?")?.execute([task])?;
        db.prepare_cached("DELETE FROM always WHERE task = ?")?.execute([task])?;
        db.prepare_cached("UPDATE task SET principal = NULL WHERE number = ?")?.execute([task])?;
    }
    Ok(old.len())
}

#[cfg(test)]
mod tests {
    use super::super::tests::plan;
    use super::*;

    #[test]
    fn only_the_tasks_in_question_are_looked_at() {
        assert_eq!(plan(&unfinished_sql()), "SEARCH task USING INDEX task_ended (ended=?)");
        assert_eq!(plan(OLD), "SEARCH task USING INDEX task_ended (ended<?)");
        assert_eq!(plan(HIDDEN), "SEARCH task USING COVERING INDEX task_id (principal=?)");
    }
}
