//! Webhooks and their cursors. Writers and readers run these inside of their transactions; `due` and `next_due`
//! serve the deliveries and see every principal's.

use std::time::SystemTime;

use prost::Message;
use rusqlite::{Connection, OptionalExtension, params};

use super::fault::Fault;
use super::journal::number;
use super::rows::{self, HEAD, PUSH, PUSH_COLUMNS, millis};
use crate::domain::principal::Principal;
use crate::domain::store::{Due, MOST_PUSHES, Push, StoreError, Taken};
use crate::domain::webhook;
use crate::proto::a2a::TaskPushNotificationConfig;

type Result<T> = std::result::Result<T, Fault>;

pub fn put(db: &Connection, who: &Principal, push: &Push) -> Result<Push> {
    let (task, sequence) = number(db, who, &push.config.task_id)?;
    let push = place(db, who, push)?;
    insert(db, task, sequence, &push)?;
    Ok(push)
}

/// The webhook among those of its task, which may not be there yet. Changes nothing.
pub fn place(db: &Connection, who: &Principal, push: &Push) -> Result<Push> {
    let known = match all(db, who, &push.config.task_id) {
        Err(Fault::Refused(StoreError::NotFound)) => Vec::new(),
        known => known?,
    };
    let mut placed = push.clone();
    match known.iter().find(|known| is_same(&known.config, &push.config)) {
        Some(old) => {
            placed.config.id.clone_from(&old.config.id);
            placed.delivered = old.delivered;
        }
        None if known.len() >= MOST_PUSHES => return Err(StoreError::Full.into()),
        None if placed.config.id.is_empty() => placed.config.id = uuid::Uuid::now_v7().to_string(),
        None => {}
    }
    Ok(placed)
}

fn is_same(known: &TaskPushNotificationConfig, given: &TaskPushNotificationConfig) -> bool {
    if !given.id.is_empty() {
        return known.id == given.id;
    }
    *known == TaskPushNotificationConfig { id: known.id.clone(), ..given.clone() }
}

pub fn insert(db: &Connection, task: i64, sequence: u64, push: &Push) -> Result<()> {
    let (not_before, problem) = rows::push_state(&push.state);
    let sql = "INSERT OR REPLACE INTO push
        (task, id, config, version, delivered, attempts, not_before, problem, behind, host)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    db.prepare_cached(sql)?.execute(params![
        task,
        push.config.id,
        push.config.encode_to_vec(),
        rows::version_number(push.version),
        push.delivered,
        push.attempts,
        not_before,
        problem,
        push.delivered < sequence,
        webhook::authority(&push.config.url),
    ])?;
    Ok(())
}

pub fn get(db: &Connection, who: &Principal, task_id: &str, id: &str) -> Result<Option<Push>> {
    let (task, _) = number(db, who, task_id)?;
    let sql = format!("SELECT {PUSH} FROM push WHERE task = ? AND id = ?");
    let mut statement = db.prepare_cached(&sql)?;
    Ok(statement.query_row(params![task, id], |row| rows::push(row, 0)).optional()?)
}

pub fn all(db: &Connection, who: &Principal, task_id: &str) -> Result<Vec<Push>> {
    let (task, _) = number(db, who, task_id)?;
    let sql = format!("SELECT {PUSH} FROM push WHERE task = ? ORDER BY id");
    let mut statement = db.prepare_cached(&sql)?;
    let found = statement.query_map([task], |row| rows::push(row, 0))?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

pub fn delete(db: &Connection, who: &Principal, task_id: &str, id: &str) -> Result<bool> {
    let (task, _) = number(db, who, task_id)?;
    let gone = db.prepare_cached("DELETE FROM push WHERE task = ? AND id = ?")?.execute(params![task, id])?;
    Ok(gone > 0)
}

fn due_sql() -> String {
    format!(
        "SELECT {PUSH}, {HEAD}, task.principal FROM push JOIN task ON task.number = push.task
        WHERE push.behind = 1 AND push.not_before <= ?
        AND push.host NOT IN (SELECT value FROM json_each(?))
        AND task.principal NOT IN (SELECT value FROM json_each(?)) ORDER BY push.not_before LIMIT ?"
    )
}

const NEXT_DUE: &str = "SELECT not_before FROM push WHERE behind = 1 AND not_before IS NOT NULL
    ORDER BY not_before LIMIT 1";

pub fn due(db: &Connection, now: SystemTime, limit: usize, taken: &Taken) -> Result<Vec<Due>> {
    let mut statement = db.prepare_cached(&due_sql())?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let hosts = serde_json::Value::from(taken.hosts.as_slice()).to_string();
    let principals: Vec<&str> = taken.principals.iter().map(Principal::name).collect();
    let principals = serde_json::Value::from(principals).to_string();
    let found = statement.query_map(params![millis(now), hosts, principals, limit], |row| {
        let principal: String = row.get("principal")?;
        Ok(Due {
            principal: Principal::named(&principal),
            push: rows::push(row, 0)?,
            head: rows::head(row, PUSH_COLUMNS)?,
        })
    })?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

pub fn next_due(db: &Connection) -> Result<Option<SystemTime>> {
    let found = db.prepare_cached(NEXT_DUE)?.query_row([], |row| row.get(0)).optional()?;
    Ok(found.map(rows::time))
}

/// Only if it is still the webhook that was tried: one that was replaced meanwhile begins anew.
pub fn record(db: &Connection, who: &Principal, push: &Push) -> Result<()> {
    let (task, sequence) = match number(db, who, &push.config.task_id) {
        Err(Fault::Refused(StoreError::NotFound)) => return Ok(()),
        found => found?,
    };
    let (not_before, problem) = rows::push_state(&push.state);
    let sql = "UPDATE push SET delivered = max(delivered, ?1), attempts = ?2, not_before = ?3, problem = ?4,
        behind = max(delivered, ?1) < ?5 WHERE task = ?6 AND id = ?7 AND config = ?8";
    db.prepare_cached(sql)?.execute(params![
        push.delivered,
        push.attempts,
        not_before,
        problem,
        sequence,
        task,
        push.config.id,
        push.config.encode_to_vec(),
    ])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::tests::plan;
    use super::*;

    #[test]
    fn those_without_anything_to_send_are_not_looked_at() {
        let due = plan(&due_sql());
        let (push, task) =
            ("SEARCH push USING INDEX push_due (not_before<?);", "SEARCH task USING INTEGER PRIMARY KEY");
        // In between stand the lists of those that are passed over.
        assert!(due.starts_with(push) && due.contains(task) && !due.contains("SCAN push"), "{due}");
        assert_eq!(plan(NEXT_DUE), "SEARCH push USING COVERING INDEX push_due (not_before>?)");
    }
}
