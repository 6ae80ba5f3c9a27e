//! Tasks and their events: what is appended, and what is read back. Writers and readers run these inside of
//! their transactions; every statement asks for the principal.

use std::time::SystemTime;

use rusqlite::{Connection, OptionalExtension, params};

use super::append::{Append, Change};
use super::fault::Fault;
use super::rows::{self, HEAD};
use super::sends::Sends;
use super::{grants, push};
use crate::domain::principal::Principal;
use crate::domain::store::{Committed, Head, StoreError};
use crate::proto::task::TaskEvent;

type Result<T> = std::result::Result<T, Fault>;

/// Stores all of it. Whatever it refuses, it refuses before its first change.
pub fn append(db: &Connection, sends: &mut Sends, who: &Principal, append: &Append) -> Result<Committed> {
    if let Some(send) = &append.send
        && let Some(task_id) = sends.repeated(db, who, send)?
    {
        return Ok(Committed::Repeated { task_id });
    }
    let push = append.push.as_ref().map(|push| push::place(db, who, push)).transpose()?;
    let Some(task) = advance(db, who, append)? else {
        return Err(refusal(db, who, append)?);
    };
    db.prepare_cached("INSERT INTO journal (task, first, events) VALUES (?, ?, ?)")?.execute(params![
        task,
        append.first,
        append.events
    ])?;
    // A new one has none.
    if !matches!(append.change, Change::New { .. }) {
        wake_pushes(db, task)?;
    }
    grants::add(db, task, &append.grants, SystemTime::now())?;
    if let Some(push) = &push {
        push::insert(db, task, append.last, push)?;
    }
    if let Some(send) = &append.send {
        sends.remember(db, who, send, &append.task_id)?;
    }
    Ok(Committed::Stored)
}

/// Makes the task or moves it on, if it stands where the commit thinks. Returns its number. Without RETURNING, which
/// builds a table of its own for the one row that it gives back, and took a quarter of a commit.
fn advance(db: &Connection, who: &Principal, append: &Append) -> Result<Option<i64>> {
    let (last, state) = (append.last, append.state as i32);
    let ended = |updated: &i64| append.state.is_terminal().then_some(*updated);
    match &append.change {
        Change::New { context, tenant, updated } => {
            let made = db
                .prepare_cached(
                    "INSERT INTO task (principal, id, tenant, context, state, updated, ended, sequence)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                )?
                .execute(params![
                    who.name(),
                    append.task_id,
                    tenant,
                    context,
                    state,
                    updated,
                    ended(updated),
                    last
                ])?;
            Ok((made == 1).then(|| db.last_insert_rowid()))
        }
        Change::State { updated } => {
            let Some(task) = standing(db, who, append)?.map(|(task, _)| task) else { return Ok(None) };
            db.prepare_cached(
                "UPDATE task SET sequence = ?, state = ?, updated = ?, ended = ? WHERE number = ?",
            )?
            .execute(params![last, state, updated, ended(updated), task])?;
            Ok(Some(task))
        }
        // Leaves every index alone, which the general form would not even with the same values.
        Change::Events => {
            let same = standing(db, who, append)?.filter(|(_, stands)| *stands == state);
            let Some((task, _)) = same else { return Ok(None) };
            db.prepare_cached("UPDATE task SET sequence = ? WHERE number = ?")?
                .execute(params![last, task])?;
            Ok(Some(task))
        }
    }
}

/// The number and the state of the task, if it stands where the commit thinks.
fn standing(db: &Connection, who: &Principal, append: &Append) -> Result<Option<(i64, i32)>> {
    let sql = "SELECT number, state FROM task WHERE principal = ? AND id = ? AND sequence = ?";
    let values = params![who.name(), append.task_id, append.first - 1];
    Ok(db.prepare_cached(sql)?.query_row(values, |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
}

/// Webhooks of the task have something to send. Most tasks have none, and looking is cheaper than an update of nothing.
fn wake_pushes(db: &Connection, task: i64) -> Result<()> {
    let idle =
        db.prepare_cached("SELECT 1 FROM push WHERE task = ? AND behind = 0 LIMIT 1")?.exists([task])?;
    if idle {
        db.prepare_cached("UPDATE push SET behind = 1 WHERE task = ? AND behind = 0")?.execute([task])?;
    }
    Ok(())
}

/// Why `advance` found nothing.
fn refusal(db: &Connection, who: &Principal, append: &Append) -> Result<Fault> {
    let (expected, actual) = (append.first - 1, head(db, who, &append.task_id)?.sequence);
    Ok(Fault::Refused(if actual == expected {
        StoreError::Failed(format!(
            "a commit of task {} changes the state, but says not when",
            append.task_id
        ))
    } else {
        StoreError::Conflict { expected, actual }
    }))
}

pub fn head(db: &Connection, who: &Principal, task_id: &str) -> Result<Head> {
    let sql = format!("SELECT {HEAD} FROM task WHERE principal = ? AND id = ?");
    let found =
        db.prepare_cached(&sql)?.query_row([who.name(), task_id], |row| rows::head(row, 0)).optional()?;
    found.ok_or(Fault::Refused(StoreError::NotFound))
}

/// A task's number and its sequence.
pub fn number(db: &Connection, who: &Principal, task_id: &str) -> Result<(i64, u64)> {
    let mut statement =
        db.prepare_cached("SELECT number, sequence FROM task WHERE principal = ? AND id = ?")?;
    let found =
        statement.query_row([who.name(), task_id], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    found.ok_or(Fault::Refused(StoreError::NotFound))
}

/// Whole rows, from the one that holds the event behind `after`, until there are `limit` events.
pub fn events(
    db: &Connection,
    who: &Principal,
    task_id: &str,
    after: u64,
    limit: usize,
) -> Result<Vec<TaskEvent>> {
    let (task, sequence) = number(db, who, task_id)?;
    let mut found = Vec::new();
    if after >= sequence {
        return Ok(found);
    }
    let mut statement = db.prepare_cached(
        "SELECT events FROM journal WHERE task = ?1 AND first >=
        (SELECT max(first) FROM journal WHERE task = ?1 AND first <= ?2) ORDER BY first",
    )?;
    let mut rows = statement.query(params![task, after + 1])?;
    while found.len() < limit
        && let Some(row) = rows.next()?
    {
        found.extend(rows::events(row, 0)?.into_iter().filter(|event| event.sequence > after));
    }
    Ok(found)
}
