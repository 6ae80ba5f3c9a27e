//! Pages of contexts: what the tasks of each add up to. Readers run it inside of their transactions.

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::fault::Fault;
use super::list::{self, OPEN};
use super::rows::millis;
use crate::domain::principal::Principal;
use crate::domain::store::{After, ContextHead, ContextPage, Filter};

pub fn page(
    db: &Connection,
    who: &Principal,
    tenant: &str,
    after: Option<&After>,
    size: usize,
) -> Result<ContextPage, Fault> {
    let mut values: Vec<Value> = vec![who.name().to_owned().into(), tenant.to_owned().into()];
    if let Some(After { updated, task_id }) = after {
        values.extend([millis(*updated).into(), task_id.clone().into()]);
    }
    // One more than asked for tells whether there are more.
    values.push(i64::try_from(size).unwrap_or(i64::MAX).saturating_add(1).into());
    let mut statement = db.prepare_cached(&sql(after.is_some()))?;
    let rows = statement.query_map(params_from_iter(&values), |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, u64>(2)?, row.get::<_, u64>(3)?))
    })?;
    let mut found = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    let more = found.len() > size;
    found.truncate(size);
    let mut contexts = Vec::with_capacity(found.len());
    for (context_id, first_task, tasks, open) in found {
        let filter =
            Filter { tenant: tenant.to_owned(), context_id: Some(context_id.clone()), ..Filter::default() };
        let newest = list::page(db, who, &filter, None, 1)?.heads.pop();
        // In the same transaction, so it is there.
        contexts.extend(newest.map(|newest| ContextHead { context_id, first_task, newest, tasks, open }));
    }
    Ok(ContextPage { contexts, more })
}

/// Ids of tasks grow with time, so the smallest is the first.
fn sql(behind: bool) -> String {
    let behind = if behind { "HAVING (max(updated), context) < (?, ?)" } else { "" };
    format!(
        "SELECT context, min(id), count(*), sum({OPEN}) FROM task WHERE principal = ? AND tenant = ?
         GROUP BY context {behind} ORDER BY max(updated) DESC, context DESC LIMIT ?"
    )
}
