//! What only the inside shows: that queries use their indexes, and that nothing stays behind.

use rusqlite::types::Null;
use rusqlite::{Connection, params_from_iter};

use super::*;

#[test]
fn a_temporary_store_leaves_nothing_behind() {
    let store = Sqlite::open_temporary().unwrap();
    let directory = store._temporary.as_ref().unwrap().0.clone();
    assert!(directory.join("journal.db").exists());
    drop(store);
    assert!(!directory.exists());
}

/// How SQLite means to run a statement.
pub fn plan(sql: &str) -> String {
    let db = Connection::open_in_memory().unwrap();
    schema::migrate(&db).unwrap();
    let mut statement = db.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let values = vec![Null; statement.parameter_count()];
    let steps = statement.query_map(params_from_iter(values), |row| row.get(3)).unwrap();
    steps.collect::<rusqlite::Result<Vec<String>>>().unwrap().join("; ")
}
