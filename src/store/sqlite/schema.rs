//! The layout of the database and how an older one becomes the present one. Knows no query.

use rusqlite::Connection;

/// What leads from each layout to the next. A step that was released never changes; a new one is appended.
const STEPS: [&str; 4] = [
    include_str!("migrations/0001_journal.sql"),
    include_str!("migrations/0002_push_host.sql"),
    // From here on a row leaves out what a piece of text shares with the one before.
    include_str!("migrations/0003_send_order.sql"),
    include_str!("migrations/0004_shelf.sql"),
];

#[derive(Debug)]
pub enum MigrateError {
    /// A newer program was here.
    Newer {
        found: i64,
        known: usize,
    },
    Sql(rusqlite::Error),
}

impl From<rusqlite::Error> for MigrateError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

/// Brings the database to the present layout; each step happens whole or not at all.
pub fn migrate(db: &Connection) -> Result<(), MigrateError> {
    migrate_to(db, STEPS.len())
}

pub(super) fn migrate_to(db: &Connection, layout: usize) -> Result<(), MigrateError> {
    let found: i64 = db.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    let newer = MigrateError::Newer { found, known: STEPS.len() };
    let Some(missing) = usize::try_from(found).ok().and_then(|done| STEPS[..layout].get(done..)) else {
        return Err(newer);
    };
    for (step, version) in missing.iter().zip(found + 1..) {
        let transaction = db.unchecked_transaction()?;
        transaction.execute_batch(step)?;
        transaction.pragma_update(None, "user_version", version)?;
        transaction.commit()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(db: &Connection) -> i64 {
        db.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn an_empty_database_is_brought_to_the_present_layout_once() {
        let db = Connection::open_in_memory().unwrap();
        migrate(&db).unwrap();
        assert_eq!(version(&db), 4);
        migrate(&db).unwrap();
        assert_eq!(version(&db), 4);
    }

    #[test]
    fn a_layout_of_the_future_or_of_nobody_is_refused_untouched() {
        for strange in [5, 1000, -1] {
            let db = Connection::open_in_memory().unwrap();
            db.pragma_update(None, "user_version", strange).unwrap();
            let refused = migrate(&db).unwrap_err();
            assert!(matches!(refused, MigrateError::Newer { found, known: 4 } if found == strange));
            assert_eq!(version(&db), strange);
        }
    }

    #[test]
    fn a_step_that_fails_leaves_nothing_behind() {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch("CREATE TABLE push (x)").unwrap();
        assert!(matches!(migrate(&db), Err(MigrateError::Sql(_))));
        let tables: i64 = db.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).unwrap();
        assert_eq!((tables, version(&db)), (1, 0));
    }
}
