//! What facades keep between requests, as rows that know when they are over. Knows no wire and nothing of what the values
//! hold; services reach it through the trait.

use std::time::SystemTime;

use rusqlite::{Connection, OptionalExtension, Result, params};

use super::Sqlite;
use super::rows::millis;
use crate::domain::principal::Principal;
use crate::domain::shelf::{Item, Kind, Shelf};
use crate::domain::store;

/// What one step of a sweep takes on at most, so that others never wait long for the writer.
const ROWS: usize = 256;

/// What stands in the rows; it never changes.
fn number(kind: Kind) -> i64 {
    match kind {
        Kind::Response => 1,
        Kind::Signature => 2,
    }
}

const PUT: &str = "INSERT INTO shelf (principal, kind, key, value, until) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (principal, kind, key) DO UPDATE SET value = excluded.value, until = excluded.until";

fn put(db: &Connection, who: &Principal, items: &[Item]) -> Result<()> {
    let mut statement = db.prepare_cached(PUT)?;
    for Item { kind, key, value, until } in items {
        statement.execute(params![who.name(), number(*kind), key, value, millis(*until)])?;
    }
    Ok(())
}

const GET: &str = "SELECT value FROM shelf WHERE principal = ? AND kind = ? AND key = ? AND until > ?";

fn get(
    db: &Connection,
    who: &Principal,
    kind: Kind,
    keys: &[String],
    now: SystemTime,
) -> Result<Vec<Option<Vec<u8>>>> {
    let mut statement = db.prepare_cached(GET)?;
    let mut one = |key: &String| {
        let values = params![who.name(), number(kind), key, millis(now)];
        statement.query_row(values, |row| row.get(0)).optional()
    };
    keys.iter().map(&mut one).collect()
}

const REMOVE: &str = "DELETE FROM shelf WHERE principal = ? AND kind = ? AND key = ?";

/// Those that end first are the oldest, since all of a kind are kept equally long.
const TRIM: &str = "DELETE FROM shelf WHERE rowid IN (
    SELECT rowid FROM (
        SELECT rowid, sum(length(value)) OVER (ORDER BY until DESC, rowid DESC) AS so_far
        FROM shelf WHERE principal = ? AND kind = ?
    ) WHERE so_far > ?)";

const SWEEP: &str =
    "DELETE FROM shelf WHERE rowid IN (SELECT rowid FROM shelf WHERE until <= ? ORDER BY until LIMIT ?)";

#[tonic::async_trait]
impl Shelf for Sqlite {
    async fn put(&self, who: &Principal, items: Vec<Item>) -> store::Result<()> {
        let who = who.clone();
        self.writer.write(move |db| Ok(put(db, &who, &items)?)).await
    }

    async fn get(
        &self,
        who: &Principal,
        kind: Kind,
        keys: Vec<String>,
        now: SystemTime,
    ) -> store::Result<Vec<Option<Vec<u8>>>> {
        let who = who.clone();
        self.readers.read(move |db| Ok(get(db, &who, kind, &keys, now)?)).await
    }

    async fn remove(&self, who: &Principal, kind: Kind, key: &str) -> store::Result<bool> {
        let (who, key) = (who.clone(), key.to_owned());
        let remove = move |db: &Connection| {
            Ok(db.prepare_cached(REMOVE)?.execute(params![who.name(), number(kind), key])? > 0)
        };
        self.writer.write(remove).await
    }

    async fn trim(&self, who: &Principal, kind: Kind, most: u64) -> store::Result<u64> {
        let (who, most) = (who.clone(), i64::try_from(most).unwrap_or(i64::MAX));
        let trim = move |db: &Connection| {
            Ok(db.prepare_cached(TRIM)?.execute(params![who.name(), number(kind), most])? as u64)
        };
        self.writer.write(trim).await
    }

    /// Step by step, so that what others write comes in between.
    async fn sweep(&self, now: SystemTime) -> store::Result<u64> {
        let mut gone = 0;
        loop {
            let step =
                move |db: &Connection| Ok(db.prepare_cached(SWEEP)?.execute(params![millis(now), ROWS])?);
            let step = self.writer.write(step).await?;
            gone += step as u64;
            if step < ROWS {
                return Ok(gone);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::super::Durability;
    use super::super::tests::plan;
    use super::*;

    fn at(millis: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_millis(1_700_000_000_000 + millis)
    }

    fn item(kind: Kind, key: &str, value: &str, until: u64) -> Item {
        Item { kind, key: key.to_owned(), value: value.into(), until: at(until) }
    }

    /// What stands under the keys, as text.
    async fn read(store: &Sqlite, who: &str, kind: Kind, keys: &[&str], now: u64) -> Vec<Option<String>> {
        let keys = keys.iter().map(|key| (*key).to_owned()).collect();
        let values = store.get(&Principal::named(who), kind, keys, at(now)).await.unwrap();
        let text = |value: Vec<u8>| String::from_utf8(value).unwrap();
        values.into_iter().map(|value| value.map(text)).collect()
    }

    fn some(values: &[&str]) -> Vec<Option<String>> {
        values.iter().map(|value| (!value.is_empty()).then(|| (*value).to_owned())).collect()
    }

    #[tokio::test]
    async fn what_is_put_is_there_for_its_owner_until_its_time_is_over() {
        let (store, ann) = (Sqlite::open_temporary().unwrap(), Principal::named("ann"));
        let items = vec![
            item(Kind::Response, "a", "one", 5),
            item(Kind::Signature, "a", "other", 9),
            item(Kind::Response, "b", "two", 9),
        ];
        store.put(&ann, items).await.unwrap();
        let keys = ["b", "none", "a"];
        assert_eq!(read(&store, "ann", Kind::Response, &keys, 4).await, some(&["two", "", "one"]));
        assert_eq!(read(&store, "ann", Kind::Signature, &keys, 4).await, some(&["", "", "other"]));
        assert_eq!(read(&store, "ann", Kind::Response, &keys, 5).await, some(&["two", "", ""]));
        assert_eq!(read(&store, "bob", Kind::Response, &keys, 4).await, some(&["", "", ""]));
        assert_eq!(read(&store, "ann", Kind::Response, &[], 4).await, some(&[]));
    }

    #[tokio::test]
    async fn the_same_key_is_replaced_and_removed_by_its_owner_alone() {
        let store = Sqlite::open_temporary().unwrap();
        let (ann, bob) = (Principal::named("ann"), Principal::named("bob"));
        store.put(&ann, vec![item(Kind::Response, "a", "one", 5)]).await.unwrap();
        store.put(&bob, vec![item(Kind::Response, "a", "bobs", 5)]).await.unwrap();
        store.put(&ann, vec![item(Kind::Response, "a", "two", 8)]).await.unwrap();
        assert_eq!(read(&store, "ann", Kind::Response, &["a"], 7).await, some(&["two"]));
        assert!(!store.remove(&ann, Kind::Signature, "a").await.unwrap());
        assert!(store.remove(&ann, Kind::Response, "a").await.unwrap());
        assert!(!store.remove(&ann, Kind::Response, "a").await.unwrap());
        assert_eq!(read(&store, "bob", Kind::Response, &["a"], 0).await, some(&["bobs"]));
    }

    #[tokio::test]
    async fn a_sweep_forgets_what_is_over_however_much_it_is() {
        let (store, ann) = (Sqlite::open_temporary().unwrap(), Principal::named("ann"));
        let many = (0..ROWS + 50).map(|n| item(Kind::Signature, &n.to_string(), "x", 5)).collect();
        store.put(&ann, many).await.unwrap();
        store.put(&ann, vec![item(Kind::Signature, "later", "x", 6)]).await.unwrap();
        assert_eq!(store.sweep(at(4)).await, Ok(0));
        assert_eq!(store.sweep(at(5)).await, Ok(ROWS as u64 + 50));
        assert_eq!(store.sweep(at(5)).await, Ok(0));
        assert_eq!(read(&store, "ann", Kind::Signature, &["0", "later"], 0).await, some(&["", "x"]));
    }

    #[tokio::test]
    async fn the_oldest_go_when_it_is_too_much() {
        let (store, ann) = (Sqlite::open_temporary().unwrap(), Principal::named("ann"));
        let items =
            [("a", 5), ("b", 7), ("c", 6)].map(|(key, until)| item(Kind::Response, key, "1234", until));
        store.put(&ann, items.to_vec()).await.unwrap();
        store.put(&ann, vec![item(Kind::Signature, "s", "12345678", 1)]).await.unwrap();
        store.put(&Principal::named("bob"), vec![item(Kind::Response, "a", "1234", 1)]).await.unwrap();
        assert_eq!(store.trim(&ann, Kind::Response, 12).await, Ok(0));
        assert_eq!(store.trim(&ann, Kind::Response, 9).await, Ok(1));
        assert_eq!(
            read(&store, "ann", Kind::Response, &["a", "b", "c"], 0).await,
            some(&["", "1234", "1234"])
        );
        assert_eq!(read(&store, "ann", Kind::Signature, &["s"], 0).await, some(&["12345678"]));
        assert_eq!(read(&store, "bob", Kind::Response, &["a"], 0).await, some(&["1234"]));
    }

    #[tokio::test]
    async fn what_is_put_survives_opening_again() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal.db");
        let (open, ann) = (|| Sqlite::open(&path, Durability::Process).unwrap(), Principal::named("ann"));
        open().put(&ann, vec![item(Kind::Response, "a", "one", 5)]).await.unwrap();
        assert_eq!(read(&open(), "ann", Kind::Response, &["a"], 0).await, some(&["one"]));
    }

    #[test]
    fn every_statement_uses_an_index() {
        let by_key = "SEARCH shelf USING INDEX sqlite_autoindex_shelf_1 (principal=? AND kind=? AND key=?)";
        assert_eq!(plan(GET), by_key);
        assert_eq!(plan(REMOVE), by_key);
        assert!(plan(TRIM).contains("(principal=? AND kind=?)"), "{}", plan(TRIM));
        assert!(
            plan(SWEEP).contains("SEARCH shelf USING COVERING INDEX shelf_until (until<?)"),
            "{}",
            plan(SWEEP)
        );
    }
}
