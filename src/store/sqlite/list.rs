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
    let total = db
        .prepare_cached(&count_sql(&wanted))?
        .query_row(params_from_iter(&wanted.values), |row| row.get(0))?;
    if let Some(After { updated, task_id }) = after {
        wanted.and(BEHIND, [millis(*updated).into(), task_id.clone().into()]);
    }
    // One more than asked for tells whether there are more.
    wanted.values.push(i64::try_from(size).unwrap_or(i64::MAX).saturating_add(1).into());
    let mut statement = db.prepare_cached(&page_sql(&wanted))?;
    let found = statement.query_map(params_from_iter(&wanted.values), |row| rows::head(row, 0))?;
    let mut heads = found.collect::<rusqlite::Result<Vec<_>>>()?;
    let more = heads.len() > size;
    heads.truncate(size);
    Ok(Page { heads, total, more })
}

/// The states that never change, as A2A numbers them. By state and not by `ended`, which stands in no index of a list.
pub const OPEN: &str = "state NOT IN (3, 4, 5, 7)";
const BEHIND: &str = "(updated, id) < (?, ?)";

fn count_sql(wanted: &Condition) -> String {
    format!("SELECT count(*) FROM task WHERE {}", wanted.sql)
}

fn page_sql(wanted: &Condition) -> String {
    format!("SELECT {HEAD} FROM task WHERE {} ORDER BY updated DESC, id DESC LIMIT ?", wanted.sql)
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
    if filter.open {
        wanted.and(OPEN, []);
    }
    if let Some(since) = filter.updated_since {
        wanted.and("updated >= ?", [millis(since).into()]);
    }
    wanted
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::super::tests::plan;
    use super::*;
    use crate::proto::a2a::TaskState;

    #[test]
    fn what_is_open_is_what_has_not_ended() {
        let ended = (0..=9).filter(|n| TaskState::try_from(*n).is_ok_and(TaskState::is_terminal));
        let numbers = ended.map(|n| n.to_string()).collect::<Vec<_>>().join(", ");
        assert_eq!(OPEN, format!("state NOT IN ({numbers})"));
    }

    /// A sort or a scan would show in the plan.
    #[test]
    fn every_filter_reads_along_an_index() {
        let context_id = Some("c".to_owned());
        let (state, updated_since) = (Some(TaskState::Working), Some(UNIX_EPOCH));
        let all = Filter::default();
        let of_context = Filter { context_id: context_id.clone(), ..Filter::default() };
        let fresh = Filter { state, updated_since, ..Filter::default() };
        let open = Filter { open: true, ..Filter::default() };
        let narrow = Filter { context_id, state, updated_since, open: true, ..Filter::default() };
        for (filter, index) in [
            (all, "task_list"),
            (fresh, "task_list"),
            (open, "task_list"),
            (of_context, "task_context"),
            (narrow, "task_context"),
        ] {
            let mut wanted = condition(&Principal::local(), &filter);
            let count = plan(&count_sql(&wanted));
            assert!(count.starts_with("SEARCH task USING COVERING INDEX "), "{count}");
            wanted.and(BEHIND, []);
            let page = plan(&page_sql(&wanted));
            assert!(page.starts_with(&format!("SEARCH task USING INDEX {index} (")), "{page}");
            assert!(!page.contains(';') && page.contains("(updated,id)<(?,?)"), "{page}");
        }
    }
}
