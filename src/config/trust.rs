//! The directories that are trusted: a list in the data directory, one canonical path per line, which only
//! `agena trust` writes. Knows only that directory; the command and the start of the server call it.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::private;

const NAME: &str = "trusted";

#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    #[error("cannot make the data directory {} ({error}); choose another with --data-dir", .path.display())]
    DataDir { path: PathBuf, error: io::Error },
    #[error("cannot read the list {} ({error}); mend its permissions or choose another --data-dir", .path.display())]
    Read { path: PathBuf, error: io::Error },
    #[error("cannot write the list {} ({error}); mend the directory or choose another --data-dir", .path.display())]
    Write { path: PathBuf, error: io::Error },
    #[error("others can change {}, so it does not say whom you trust; look through it, then run: chmod 600 {}", .path.display(), .path.display())]
    Exposed { path: PathBuf },
    #[error("{}:{line}: not an absolute path; delete the line", .path.display())]
    Malformed { path: PathBuf, line: usize },
    #[error("cannot trust {} ({error}); name a directory that exists", .path.display())]
    NoDirectory { path: PathBuf, error: io::Error },
    #[error("cannot trust {}: its name is not plain text on one line; rename it", .path.display())]
    Unprintable { path: PathBuf },
    #[error("{} is not in the list; `agena trust --list` shows what is", .path.display())]
    Unlisted { path: PathBuf },
}

/// What `agena trust` is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ask {
    List,
    Add(PathBuf),
    Remove(PathBuf),
}

/// Everything in the list.
pub fn listed(data_dir: &Path) -> Result<Vec<PathBuf>, TrustError> {
    let path = data_dir.join(NAME);
    let Some(text) = read(&path)? else { return Ok(Vec::new()) };
    let mut listed = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        if !Path::new(line).is_absolute() {
            return Err(TrustError::Malformed { path, line: index + 1 });
        }
        listed.push(PathBuf::from(line));
    }
    Ok(listed)
}

/// What of the list holds now. A name that has come to lead elsewhere is not what somebody trusted.
pub fn in_force(data_dir: &Path) -> Result<Vec<PathBuf>, TrustError> {
    let is_itself = |path: &PathBuf| path.canonicalize().is_ok_and(|real| real == *path);
    Ok(listed(data_dir)?.into_iter().filter(is_itself).collect())
}

/// Trusts a directory and returns its real name.
pub fn add(data_dir: &Path, given: &Path) -> Result<PathBuf, TrustError> {
    let path = directory(given)?;
    if path.to_str().is_none_or(|text| text.contains(char::is_control)) {
        return Err(TrustError::Unprintable { path });
    }
    let mut listed = listed(data_dir)?;
    if !listed.contains(&path) {
        listed.push(path.clone());
        write(data_dir, &listed)?;
    }
    Ok(path)
}

/// Trusts a directory no longer and returns the name that it had in the list. It need not exist any more.
pub fn remove(data_dir: &Path, given: &Path) -> Result<PathBuf, TrustError> {
    let names: Vec<PathBuf> =
        [given.canonicalize(), std::path::absolute(given)].into_iter().filter_map(Result::ok).collect();
    let (gone, kept): (Vec<_>, Vec<_>) = listed(data_dir)?.into_iter().partition(|path| names.contains(path));
    let Some(path) = gone.into_iter().next() else {
        return Err(TrustError::Unlisted { path: given.to_owned() });
    };
    write(data_dir, &kept)?;
    Ok(path)
}

fn directory(given: &Path) -> Result<PathBuf, TrustError> {
    let missing = |error| TrustError::NoDirectory { path: given.to_owned(), error };
    let path = given.canonicalize().map_err(missing)?;
    match path.metadata().map_err(missing)?.is_dir() {
        true => Ok(path),
        false => Err(missing(io::ErrorKind::NotADirectory.into())),
    }
}

fn read(path: &Path) -> Result<Option<String>, TrustError> {
    let unreadable = |error| TrustError::Read { path: path.to_owned(), error };
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(error)),
    };
    if others_may_write(&file).map_err(unreadable)? {
        return Err(TrustError::Exposed { path: path.to_owned() });
    }
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(unreadable)?;
    Ok(Some(text))
}

/// By way of a draft, so that nobody ever reads half a list.
fn write(data_dir: &Path, listed: &[PathBuf]) -> Result<(), TrustError> {
    private::make_dir(data_dir).map_err(|error| TrustError::DataDir { path: data_dir.to_owned(), error })?;
    let path = data_dir.join(NAME);
    let draft = data_dir.join(format!(".{NAME}.{}", std::process::id()));
    let text: String = listed.iter().map(|path| format!("{}\n", path.display())).collect();
    // What a process of the same number may have left behind when it was killed.
    let _ = fs::remove_file(&draft);
    let written = private::write_new(&draft, &text).and_then(|()| fs::rename(&draft, &path));
    written.map_err(|error| {
        let _ = fs::remove_file(&draft);
        TrustError::Write { path, error }
    })
}

#[cfg(unix)]
fn others_may_write(file: &File) -> io::Result<bool> {
    use std::os::unix::fs::PermissionsExt;

    Ok(file.metadata()?.permissions().mode() & 0o022 != 0)
}

/// Elsewhere the data directory of the user is private by its inherited rights.
#[cfg(not(unix))]
fn others_may_write(_: &File) -> io::Result<bool> {
    Ok(false)
}

#[cfg(test)]
mod tests;
