//! Batches, and what goes wrong in them.

use std::sync::mpsc as std_mpsc;

use super::*;

fn writer() -> Writer {
    let db = Connection::open_in_memory().unwrap();
    db.execute_batch("CREATE TABLE t (x INTEGER PRIMARY KEY, y BLOB)").unwrap();
    Writer::start(db, PathBuf::from("journal.db")).unwrap()
}

fn insert(x: i64) -> impl FnMut(&Connection) -> std::result::Result<(), Fault> {
    move |db| Ok(db.execute("INSERT INTO t (x) VALUES (?)", [x]).map(drop)?)
}

async fn rows(writer: &Writer) -> i64 {
    writer.write(|db| Ok(db.query_row("SELECT count(*) FROM t", [], |row| row.get(0))?)).await.unwrap()
}

/// Keeps the writer busy until the sender is dropped, so that what follows becomes one batch.
async fn hold(writer: &Writer) -> std_mpsc::Sender<()> {
    let (release, held) = std_mpsc::channel::<()>();
    let mut job = Box::pin(writer.write(move |_| {
        let _ = held.recv();
        Ok(())
    }));
    assert!(futures::poll!(&mut job).is_pending());
    release
}

#[tokio::test]
async fn a_job_that_fails_does_not_fail_its_neighbours() {
    let writer = writer();
    let release = hold(&writer).await;
    let refused = writer.write(|_| -> std::result::Result<(), _> { Err(StoreError::NotFound.into()) });
    let jobs = async {
        tokio::join!(
            writer.write(insert(1)),
            writer.write(insert(1)),
            refused,
            writer.write(insert(2)),
            async { drop(release) }
        )
    };
    let (first, again, refused, last, ()) = jobs.await;
    assert_eq!((first, refused, last), (Ok(()), Err(StoreError::NotFound), Ok(())));
    let again = again.unwrap_err().to_string();
    assert!(again.starts_with("the store failed: journal.db: UNIQUE constraint failed"), "{again}");
    assert_eq!(rows(&writer).await, 2);
}

#[tokio::test]
async fn a_full_disk_is_told_and_the_next_job_is_tried_anew() {
    let writer = writer();
    let limit = |pages: i64| move |db: &Connection| Ok(db.pragma_update(None, "max_page_count", pages)?);
    let large = || {
        writer.write(|db| {
            db.execute("INSERT INTO t (y) VALUES (zeroblob(100000))", [])?;
            Ok(())
        })
    };
    writer.write(limit(3)).await.unwrap();
    for _ in 0..2 {
        let told = large().await.unwrap_err().to_string();
        assert_eq!(told, "the store failed: journal.db: database or disk is full; free some space");
    }
    assert_eq!(rows(&writer).await, 0);
    writer.write(limit(1000)).await.unwrap();
    large().await.unwrap();
    assert_eq!(rows(&writer).await, 1);
}

#[tokio::test]
async fn dropping_the_writer_ends_it_after_the_queue_is_empty() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal.db");
    let db = Connection::open(&path).unwrap();
    db.execute_batch("CREATE TABLE t (x INTEGER PRIMARY KEY, y BLOB)").unwrap();
    let writer = Writer::start(db, path.clone()).unwrap();
    let release = hold(&writer).await;
    for x in 0..100 {
        // Asked for, and not waited for. Many more in one go and the runtime would have the test take a break.
        assert!(futures::poll!(Box::pin(writer.write(insert(x)))).is_pending());
    }
    drop(release);
    drop(writer);
    let stored: i64 =
        Connection::open(&path).unwrap().query_row("SELECT count(*) FROM t", [], |r| r.get(0)).unwrap();
    assert_eq!(stored, 100);
}

#[tokio::test]
async fn more_than_fit_into_the_queue_wait_and_all_are_stored_in_order() {
    let writer = writer();
    let jobs = (0..3000).map(|x| writer.write(insert(x)));
    assert!(futures::future::join_all(jobs).await.into_iter().all(|stored| stored.is_ok()));
    assert_eq!(rows(&writer).await, 3000);
}
