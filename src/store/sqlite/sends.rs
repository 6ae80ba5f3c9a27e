//! Which sends are recognised when they come again. The rows are in the database, with the commits that they belong to;
//! which row a send has is known here in memory. Only jobs of the writer have it, one after the other. What it knows of a
//! transaction that was undone does no harm: a row is believed only if it is there and says the same.

use std::collections::{HashMap, HashSet};

use rusqlite::{Connection, OptionalExtension, Result, params};

use super::append::Sent;
use crate::domain::principal::Principal;

/// After so many sends, twice as many old rows are looked at, and those that no window reaches are forgotten.
const STEP: usize = 1024;

type Key = (Principal, [u8; 32]);

#[derive(Debug, Default)]
pub struct Sends {
    /// The last row of each.
    rows: HashMap<Key, i64>,
    /// All rows of the database are known.
    read: bool,
    /// Sends since the old ones were last looked at.
    fresh: usize,
}

impl Sends {
    /// The task that the same send went to.
    pub fn repeated(&mut self, db: &Connection, who: &Principal, send: &Sent) -> Result<Option<String>> {
        self.read(db)?;
        let Some(number) = self.rows.get(&(who.clone(), send.hash)) else { return Ok(None) };
        let sql =
            "SELECT task.id FROM send JOIN task ON task.principal = send.principal AND task.id = send.task
            WHERE send.number = ? AND send.principal = ? AND send.hash = ? AND send.at >= ?";
        let values = params![number, who.name(), send.hash, send.since];
        db.prepare_cached(sql)?.query_row(values, |row| row.get(0)).optional()
    }

    pub fn remember(&mut self, db: &Connection, who: &Principal, send: &Sent, task_id: &str) -> Result<()> {
        self.read(db)?;
        db.prepare_cached("INSERT INTO send (principal, hash, task, at) VALUES (?, ?, ?, ?)")?
            .execute(params![who.name(), send.hash, task_id, send.at])?;
        self.rows.insert((who.clone(), send.hash), db.last_insert_rowid());
        self.fresh += 1;
        if self.fresh >= STEP {
            self.fresh = 0;
            self.forget(db, send.since)?;
        }
        Ok(())
    }

    /// What is left of the last run. One that fails is tried again with the next send.
    fn read(&mut self, db: &Connection) -> Result<()> {
        if self.read {
            return Ok(());
        }
        let mut statement = db.prepare("SELECT principal, hash, number FROM send ORDER BY number")?;
        let mut rows = statement.query([])?;
        let mut names = HashSet::<Principal>::new();
        while let Some(row) = rows.next()? {
            let name = Principal::named(row.get_ref(0)?.as_str()?);
            // One for all of their sends.
            let who = names.get(&name).cloned().unwrap_or_else(|| name.clone());
            names.insert(name);
            self.rows.insert((who, row.get(1)?), row.get(2)?);
        }
        self.read = true;
        Ok(())
    }

    /// A few of the oldest at once, so that others never wait long for the writer.
    fn forget(&mut self, db: &Connection, since: i64) -> Result<()> {
        let oldest: Option<i64> =
            db.prepare_cached("SELECT min(number) FROM send")?.query_row([], |row| row.get(0))?;
        let end = oldest.unwrap_or_default().saturating_add(2 * STEP as i64);
        let mut old =
            db.prepare_cached("SELECT principal, hash, number FROM send WHERE number < ? AND at < ?")?;
        let mut rows = old.query(params![end, since])?;
        while let Some(row) = rows.next()? {
            let key = (Principal::named(row.get_ref(0)?.as_str()?), row.get(1)?);
            let number: i64 = row.get(2)?;
            if self.rows.get(&key) == Some(&number) {
                self.rows.remove(&key);
            }
        }
        db.prepare_cached("DELETE FROM send WHERE number < ? AND at < ?")?.execute(params![end, since])?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::schema;
    use super::*;

    fn database() -> Connection {
        let db = Connection::open_in_memory().unwrap();
        schema::migrate(&db).unwrap();
        db.execute_batch(
            "INSERT INTO task (principal, id, tenant, context, state, updated, sequence)
            VALUES ('ann', 't', '', 'c', 1, 0, 2)",
        )
        .unwrap();
        db
    }

    fn sent(number: usize, at: i64) -> Sent {
        let mut hash = [0; 32];
        hash[..8].copy_from_slice(&number.to_be_bytes());
        Sent { hash, at, since: at - 10 }
    }

    fn count(db: &Connection) -> i64 {
        db.query_row("SELECT count(*) FROM send", [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn what_no_window_reaches_is_forgotten_in_the_end() {
        let (db, ann, mut sends) = (database(), Principal::named("ann"), Sends::default());
        for n in 0..10 * STEP {
            sends.remember(&db, &ann, &sent(n, n as i64), "t").unwrap();
        }
        assert!(count(&db) <= 2 * STEP as i64, "{}", count(&db));
        assert_eq!(sends.rows.len() as i64, count(&db));
        let last = sent(10 * STEP - 1, 10 * STEP as i64);
        assert_eq!(sends.repeated(&db, &ann, &last).unwrap().as_deref(), Some("t"));
        assert_eq!(Sends::default().repeated(&db, &ann, &last).unwrap().as_deref(), Some("t"));
        assert_eq!(sends.repeated(&db, &Principal::named("bob"), &last).unwrap(), None);
    }

    #[test]
    fn what_was_undone_is_not_believed() {
        let (db, ann, mut sends) = (database(), Principal::named("ann"), Sends::default());
        db.execute_batch("BEGIN").unwrap();
        sends.remember(&db, &ann, &sent(1, 0), "t").unwrap();
        db.execute_batch("ROLLBACK").unwrap();
        assert_eq!(sends.repeated(&db, &ann, &sent(1, 0)).unwrap(), None);
        // Another has its row now.
        sends.remember(&db, &ann, &sent(2, 0), "t").unwrap();
        assert_eq!(sends.repeated(&db, &ann, &sent(1, 0)).unwrap(), None);
        assert_eq!(sends.repeated(&db, &ann, &sent(2, 0)).unwrap().as_deref(), Some("t"));
    }

    #[test]
    fn sends_of_the_layout_before_are_still_recognised() {
        let db = Connection::open_in_memory().unwrap();
        schema::migrate_to(&db, 2).unwrap();
        db.execute_batch(
            "INSERT INTO task (principal, id, tenant, context, state, updated, sequence)
            VALUES ('ann', 't', '', 'c', 1, 0, 2);
            INSERT INTO send (principal, hash, task, at) VALUES ('ann', zeroblob(32), 1, 100000000),
            ('ann', randomblob(32), 1, 1), ('ann', randomblob(32), 7, 100000000)",
        )
        .unwrap();
        schema::migrate(&db).unwrap();
        assert_eq!(count(&db), 1);
        let found = Sends::default().repeated(&db, &Principal::named("ann"), &sent(0, 100_000_001));
        assert_eq!(found.unwrap().as_deref(), Some("t"));
    }
}
