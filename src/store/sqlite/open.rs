//! How the database is opened: its directory, its lock, its permissions, its settings. Knows no query; the
//! store's constructors call it.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::schema::{self, MigrateError};

/// How long to wait for a lock. Only a foreign program can hold one: there is a single writer, and it never
/// holds up readers.
pub const BUSY: Duration = Duration::from_secs(5);
/// More than there are statements in this store.
pub const STATEMENTS: usize = 64;
/// How long the log grows, in pages of 4 KiB, before it is folded into the database. Many writes fall on the
/// same pages, so folding rarely is less work, and the writer waits for the disk meanwhile; but a start after a
/// kill has to read the whole log.
const LOG_PAGES: i64 = 4000;
/// What is left of a larger log goes back to the file system once it was folded into the database.
const LOG_BYTES: i64 = 64 << 20;
/// A database up to this size is checked after an unclean stop, in some 50 ms.
const CHECKED_BYTES: u64 = 32 << 20;

/// What an acknowledged commit survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// The end of the process, however sudden. The last moments before a power failure may be lost.
    #[default]
    Process,
    /// A power failure too: each commit waits for the disk.
    Power,
}

/// Why the store cannot be opened. Each is one line that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("cannot make the data directory {} ({error}); choose another with --data-dir", .path.display())]
    Directory { path: PathBuf, error: io::Error },
    #[error("another server{} uses the data directory {}; stop it or choose another --data-dir", by(.process), .path.display())]
    InUse { path: PathBuf, process: Option<String> },
    #[error("cannot lock {} ({error}); mend its permissions or choose another --data-dir", .path.display())]
    Lock { path: PathBuf, error: io::Error },
    #[error("cannot open the journal {} ({error}); mend its permissions or choose another --data-dir", .path.display())]
    File { path: PathBuf, error: io::Error },
    #[error(
        "the journal {} was written by a newer agena (layout {found}, this one knows {known}); update agena or choose another --data-dir", .path.display()
    )]
    Newer { path: PathBuf, found: i64, known: usize },
    #[error("the journal {} is damaged ({problem}); restore it from a backup, or move it away to begin anew", .path.display())]
    Damaged { path: PathBuf, problem: String },
    #[error("the file system of {} cannot share memory between connections, as one over a network; choose a --data-dir on a local disk", .path.display())]
    NoLog { path: PathBuf },
    #[error("cannot use the journal {} ({error}); mend the disk or choose another --data-dir", .path.display())]
    Sql { path: PathBuf, error: rusqlite::Error },
    #[error("cannot start the thread of the journal ({0}); raise the limit of processes")]
    Thread(io::Error),
}

fn by(process: &Option<String>) -> String {
    process.as_ref().map_or_else(String::new, |id| format!(" (process {id})"))
}

/// Opens for writing and brings the layout up to date. Only one process may hold the result, see `lock`.
pub fn open(path: &Path, durability: Durability) -> Result<Connection, OpenError> {
    let file = |error| OpenError::File { path: path.to_owned(), error };
    make_private(path).map_err(file)?;
    // A clean stop removes the log.
    let unclean = fs::metadata(log_of(path)).is_ok_and(|log| log.len() > 0);
    let size = fs::metadata(path).map_err(file)?.len();
    let sql = |error| told(path, error);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags).map_err(sql)?;
    configure(&db, path, durability)?;
    if unclean {
        check(&db, path, size)?;
    }
    schema::migrate(&db).map_err(|error| match error {
        MigrateError::Newer { found, known } => OpenError::Newer { path: path.to_owned(), found, known },
        MigrateError::Sql(error) => sql(error),
    })?;
    Ok(db)
}

fn configure(db: &Connection, path: &Path, durability: Durability) -> Result<(), OpenError> {
    let sql = |error| told(path, error);
    db.busy_timeout(BUSY).map_err(sql)?;
    db.set_prepared_statement_cache_capacity(STATEMENTS);
    let mode: String = db.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0)).map_err(sql)?;
    if mode != "wal" {
        return Err(OpenError::NoLog { path: path.to_owned() });
    }
    let synchronous = match durability {
        Durability::Process => "NORMAL",
        Durability::Power => "FULL",
    };
    // Otherwise statements that could use a partial index are prepared anew for every value that is bound.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(sql)?;
    db.pragma_update(None, "synchronous", synchronous).map_err(sql)?;
    db.pragma_update(None, "wal_autocheckpoint", LOG_PAGES).map_err(sql)?;
    db.pragma_update(None, "journal_size_limit", LOG_BYTES).map_err(sql)
}

/// A killed process cannot damage a database with a log, and a torn log is noticed by its checksums, so this
/// only finds what the disk or a careless copy did. It reads the whole file: where that would keep the server
/// from starting, the operator is told how to ask for it.
fn check(db: &Connection, path: &Path, size: u64) -> Result<(), OpenError> {
    if size > CHECKED_BYTES {
        let command = format!("sqlite3 {} 'PRAGMA quick_check'", path.display());
        tracing::info!(
            command,
            "the last stop was not clean; this checks the journal, which is too large to do at a start"
        );
        return Ok(());
    }
    let found: String =
        db.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(|error| told(path, error))?;
    let problem = found.lines().collect::<Vec<_>>().join(" ");
    if problem == "ok" { Ok(()) } else { Err(OpenError::Damaged { path: path.to_owned(), problem }) }
}

fn told(path: &Path, error: rusqlite::Error) -> OpenError {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    let path = path.to_owned();
    match error.sqlite_error_code() {
        Some(DatabaseCorrupt | NotADatabase) => OpenError::Damaged { path, problem: error.to_string() },
        _ => OpenError::Sql { path, error },
    }
}

/// Makes the file before SQLite would, which leaves it open to others; the log gets the same permissions.
fn make_private(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    drop(file);
    Ok(())
}

pub fn make_private_dir(path: &Path) -> Result<(), OpenError> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(|error| OpenError::Directory { path: path.to_owned(), error })
}

/// Held as long as the file lives; the system lets go of it when the process ends, however it ends.
pub fn lock(directory: &Path) -> Result<File, OpenError> {
    let path = directory.join("lock");
    let failed = |error| OpenError::Lock { path: path.clone(), error };
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(in_use(directory, file)),
        Err(TryLockError::Error(error)) => return Err(failed(error)),
    }
    // Only for the line that a second server prints.
    file.set_len(0).and_then(|()| write!(file, "{}", std::process::id())).map_err(failed)?;
    Ok(file)
}

fn in_use(directory: &Path, holder: File) -> OpenError {
    let mut text = String::new();
    // Not every system lets others read a locked file.
    let _ = holder.take(20).read_to_string(&mut text);
    let process = Some(text).filter(|text| text.bytes().all(|b| b.is_ascii_digit()) && !text.is_empty());
    OpenError::InUse { path: directory.to_owned(), process }
}

fn log_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    name.into()
}
