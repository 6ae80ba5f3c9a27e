//! Pages of tasks. The statement is put together from the filter, so that each filter can use its index.

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::fault::Fault;
use super::rows::{self, HEAD, millis};
use crate::domain::principal::Principal;
use crate::domain::store::{After, Filter, Page};

/// A condition with its values.
struct Condition {
    sql: String,
    values: Vec<Value>,
}

impl Condition {
    fn and(&mut self, sql: &str, values: impl IntoIterator<Item = Value>) {
        self.sql.push_str(" AND ");
        self.sql.push_str(sql);
        self.values.extend(values);
    }
}

pub fn page(
    db: &Connection,
    who: &Principal,
    filter: &Filter,
    after: Option<&After>,
    size: usize,
) -> Result<Page, Fault> {
    let mut wanted = condition(who, filter);
    let count = format!("SELECT count(*) FROM task WHERE {}", wanted.sql);
    let total = db.prepare_cached(&count)?.query_row(params_from_iter(&wanted.values), |row| row.get(0))?;
    if let Some(After { updated, task_id }) = after {
        wanted.and("(updated, id) < (?, ?)", [millis(*updated).into(), task_id.clone().into()]);
    }
    // One more than asked for tells whether there are more.
    wanted.values.push(i64::try_from(size).unwrap_or(i64::MAX).saturating_add(1).into());
    let select =
        format!("SELECT {HEAD} FROM task WHERE {} ORDER BY updated DESC, id DESC LIMIT ?", wanted.sql);
    let mut statement = db.prepare_cached(&select)?;
    let found = statement.query_map(params_from_iter(&wanted.values), |row| rows::head(row, 0))?;
    let mut heads = found.collect::<rusqlite::Result<Vec<_>>>()?;
    let more = heads.len() > size;
    heads.truncate(size);
    Ok(Page { heads, total, more })
}

fn condition(who: &Principal, filter: &Filter) -> Condition {
    let mut wanted = Condition {
        sql: "principal = ? AND tenant = ?".to_owned(),
        values: vec![who.name().to_owned().into(), filter.tenant.clone().into()],
    };
    if let Some(context) = &filter.context_id {
        wanted.and("context = ?", [context.clone().into()]);
    }
    if let Some(state) = filter.state {
        wanted.and("state = ?", [i64::from(state as i32).into()]);
    }
    if let Some(since) = filter.updated_since {
        wanted.and("updated >= ?", [millis(since).into()]);
    }
    wanted
}
