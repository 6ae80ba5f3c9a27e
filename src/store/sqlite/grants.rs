//! What users always allow: rules that belong to a context and go with the task that brought them. Writers and readers
//! run these inside of their transactions; every statement asks for the principal.

use std::time::SystemTime;

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::fault::Fault;
use super::rows::{millis, time};
use crate::domain::grant::{AlwaysRule, Grant};
use crate::domain::principal::Principal;
use crate::domain::store::Context;

type Result<T> = std::result::Result<T, Fault>;

/// The rules of a context, oldest first.
pub fn all(db: &Connection, who: &Principal, context: &Context) -> Result<Vec<Grant>> {
    let sql = "SELECT always.number, always.kind, always.value, always.at
        FROM always JOIN task ON task.number = always.task
        WHERE task.principal = ? AND task.tenant = ? AND task.context = ? ORDER BY always.number";
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query_map(params![who.name(), context.tenant, context.id], grant)?;
    Ok(rows.filter_map(rusqlite::Result::transpose).collect::<rusqlite::Result<_>>()?)
}

/// The rules of all contexts, oldest first, each with its context.
pub fn of_all(db: &Connection, who: &Principal, tenant: &str) -> Result<Vec<(String, Grant)>> {
    let sql = "SELECT always.number, always.kind, always.value, always.at, task.context
        FROM always JOIN task ON task.number = always.task
        WHERE task.principal = ? AND task.tenant = ? ORDER BY always.number";
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query_map(params![who.name(), tenant], |row| {
        let context: String = row.get(4)?;
        Ok(grant(row)?.map(|grant| (context, grant)))
    })?;
    Ok(rows.filter_map(rusqlite::Result::transpose).collect::<rusqlite::Result<_>>()?)
}

/// None for a rule that this program does not know.
fn grant(row: &Row<'_>) -> rusqlite::Result<Option<Grant>> {
    let (number, kind, value): (i64, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
    let at = time(row.get(3)?);
    Ok(AlwaysRule::from_parts(&kind, value).map(|rule| Grant { id: number.to_string(), rule, at }))
}

/// One that the context has already is not added again.
pub fn add(db: &Connection, task: i64, rules: &[AlwaysRule], at: SystemTime) -> Result<()> {
    for rule in rules {
        let (kind, value) = rule.parts();
        let known = "SELECT 1 FROM always JOIN task ON task.number = always.task
            JOIN task AS here ON here.principal = task.principal AND here.tenant = task.tenant
            AND here.context = task.context
            WHERE here.number = ? AND always.kind = ? AND always.value = ?";
        if !db.prepare_cached(known)?.exists(params![task, kind, value])? {
            db.prepare_cached("INSERT INTO always (task, kind, value, at) VALUES (?, ?, ?, ?)")?
                .execute(params![task, kind, value, millis(at)])?;
        }
    }
    Ok(())
}

/// Whether there was one.
pub fn revoke(db: &Connection, who: &Principal, context: &Context, id: &str) -> Result<bool> {
    let Ok(number) = id.parse::<i64>() else { return Ok(false) };
    let sql = "SELECT 1 FROM always JOIN task ON task.number = always.task
        WHERE always.number = ? AND task.principal = ? AND task.tenant = ? AND task.context = ?";
    let values = params![number, who.name(), context.tenant, context.id];
    let found = db.prepare_cached(sql)?.query_row(values, |_| Ok(())).optional()?;
    if found.is_some() {
        db.prepare_cached("DELETE FROM always WHERE number = ?")?.execute([number])?;
    }
    Ok(found.is_some())
}
