//! The embedded store: its rig, how it is opened, and what a copy of its files holds.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use agena::domain::store::Store;
use agena::store::{Durability, OpenError, Sqlite};
use rusqlite::Connection;

use super::Rig;
use super::kit::*;

struct Embedded(tempfile::TempDir);

impl Embedded {
    fn file(&self) -> PathBuf {
        self.0.path().join("data/journal.db")
    }

    fn try_open(&self) -> Result<Sqlite, OpenError> {
        Sqlite::open(&self.file(), Durability::Process)
    }

    fn refusal(&self) -> String {
        let data = self.0.path().join("data");
        let refused = self.try_open().err().expect("it is refused").to_string();
        assert!(!refused.contains('\n'), "{refused}");
        refused.replace(data.to_str().unwrap(), "DATA")
    }
}

#[tonic::async_trait]
impl Rig for Embedded {
    async fn fresh() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    async fn open(&self) -> Arc<dyn Store> {
        Arc::new(self.try_open().unwrap())
    }
}

super::conformance!(Embedded);

async fn written() -> Embedded {
    let rig = Embedded::fresh().await;
    commit_all(&*rig.open().await, &ann(), [new("t")]).await;
    rig
}

#[cfg(unix)]
#[tokio::test]
async fn nobody_else_can_read_the_files() {
    use std::os::unix::fs::PermissionsExt;

    let rig = written().await;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    fs::set_permissions(rig.file(), fs::Permissions::from_mode(0o644)).unwrap();
    let store = rig.open().await;
    commit_all(&*store, &ann(), [more("t", [2])]).await;
    for entry in fs::read_dir(rig.file().parent().unwrap()).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{path:?}");
    }
    assert_eq!(mode(rig.file().parent().unwrap()), 0o700);
}

#[tokio::test]
async fn a_second_server_on_the_same_directory_is_refused_until_the_first_is_gone() {
    let rig = written().await;
    let first = rig.open().await;
    let expected = format!(
        "another server (process {}) uses the data directory DATA; stop it or choose another --data-dir",
        std::process::id()
    );
    assert_eq!(rig.refusal(), expected);
    drop(first);
    rig.open().await;
}

#[tokio::test]
async fn a_database_of_a_newer_program_is_refused() {
    let rig = written().await;
    Connection::open(rig.file()).unwrap().pragma_update(None, "user_version", 7).unwrap();
    assert_eq!(
        rig.refusal(),
        "the journal DATA/journal.db was written by a newer agena (layout 7, this one knows 4); \
         update agena or choose another --data-dir"
    );
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused() {
    let rig = written().await;
    fs::write(rig.file(), "something else ".repeat(1000)).unwrap();
    assert_eq!(
        rig.refusal(),
        "the journal DATA/journal.db is damaged (file is not a database); restore it from a backup, \
         or move it away to begin anew"
    );
}

#[tokio::test]
async fn damage_is_found_after_an_unclean_stop() {
    let rig = Embedded::fresh().await;
    let store = rig.open().await;
    commit_all(&*store, &ann(), (0..2000).map(|n| new(&format!("t{n}")))).await;
    drop(store);
    let mut bytes = fs::read(rig.file()).unwrap();
    let middle = bytes.len() / 2 / 4096 * 4096;
    bytes[middle..middle + 4096].fill(0x5a);
    fs::write(rig.file(), bytes).unwrap();
    // What a killed process leaves behind.
    fs::write(rig.file().with_extension("db-wal"), "x").unwrap();
    assert!(rig.refusal().starts_with("the journal DATA/journal.db is damaged ("));
}

#[cfg(unix)]
#[tokio::test]
async fn a_directory_that_cannot_be_made_is_named() {
    let rig = Embedded::fresh().await;
    fs::write(rig.0.path().join("data"), "a file").unwrap();
    assert_eq!(
        rig.refusal(),
        "cannot make the data directory DATA (File exists (os error 17)); choose another with --data-dir"
    );
}

#[tokio::test]
async fn a_clean_stop_leaves_one_file_and_the_lock() {
    let rig = written().await;
    let store = rig.open().await;
    commit_all(&*store, &ann(), [more("t", [2])]).await;
    store.head(&ann(), "t").await.unwrap();
    drop(store);
    let entries = fs::read_dir(rig.file().parent().unwrap()).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["journal.db", "lock"]);
}

#[tokio::test]
async fn a_commit_waits_for_the_disk_when_power_may_fail() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal.db");
    let store = Sqlite::open(&path, Durability::Power).unwrap();
    commit_all(&store, &ann(), [new("t"), more("t", [2])]).await;
    assert_eq!(store.head(&ann(), "t").await.unwrap().sequence, 2);
}

/// What a kill would leave: the database and its log at some moment. A transaction that is open for reading keeps
/// the log from beginning anew meanwhile, as no kill can happen in the middle of a copy.
fn copy(from: &Path, to: &Path) {
    let watch = Connection::open(from).unwrap();
    let open = watch.unchecked_transaction().unwrap();
    let _: i64 = open.query_row("SELECT count(*) FROM task", [], |row| row.get(0)).unwrap();
    for extension in ["db", "db-wal"] {
        fs::copy(from.with_extension(extension), to.with_extension(extension)).unwrap();
    }
}

/// Commits to its own task until told to stop, and keeps count of what was acknowledged.
async fn keep_writing(
    store: Arc<dyn Store>,
    id: String,
    acknowledged: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
) {
    store.commit(&ann(), new(&id)).await.unwrap();
    let mut next = 2;
    while !stop.load(Ordering::Relaxed) {
        let end = next + next % 3;
        store.commit(&ann(), more(&id, next..=end)).await.unwrap();
        acknowledged.store(end, Ordering::SeqCst);
        next = end + 1;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_in_the_middle_of_writing_holds_all_that_was_acknowledged() {
    let rig = Embedded::fresh().await;
    let store = rig.open().await;
    let stop = Arc::new(AtomicBool::new(false));
    let counts: Vec<Arc<AtomicU64>> = (0..8).map(|_| Arc::default()).collect();
    let writers: Vec<_> = (0..8)
        .map(|n| {
            let count = Arc::clone(&counts[n]);
            tokio::spawn(keep_writing(Arc::clone(&store), format!("t{n}"), count, Arc::clone(&stop)))
        })
        .collect();
    let mut copies = Vec::new();
    for _ in 0..6 {
        tokio::time::sleep(std::time::Duration::from_millis(40)).await;
        let before: Vec<u64> = counts.iter().map(|count| count.load(Ordering::SeqCst)).collect();
        let directory = tempfile::tempdir().unwrap();
        copy(&rig.file(), &directory.path().join("journal.db"));
        copies.push((directory, before));
    }
    stop.store(true, Ordering::Relaxed);
    for writer in writers {
        writer.await.unwrap();
    }
    for (directory, before) in copies {
        let copied = Sqlite::open(&directory.path().join("journal.db"), Durability::Process).unwrap();
        for (n, acknowledged) in before.into_iter().enumerate() {
            let id = format!("t{n}");
            let last = copied.head(&ann(), &id).await.unwrap().sequence;
            assert!(last >= acknowledged && acknowledged > 1, "{id}: {last} of {acknowledged}");
            let events = copied.events(&ann(), &id, 0, usize::MAX).await.unwrap();
            assert_eq!(sequences(&events), (1..=last).collect::<Vec<_>>(), "{id}");
        }
    }
}
