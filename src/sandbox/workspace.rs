//! A workspace: a directory handle under the configured root, and the only way of the tools to files. The kernel
//! resolves every path beneath the handle, so no `..`, no symlink and no race leads out. All of it blocks.

use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata, OpenOptions, OpenOptionsExt};

use super::path::inside;
use crate::domain::tool::{BadSettings, ToolError};

const FIELD: &str = "workspace_path";

/// The directory that all workspaces lie in.
#[derive(Debug)]
pub struct Root {
    path: PathBuf,
    dir: Dir,
    /// Held from the last look at a file to its replacement, so that two writers of this server cannot both win.
    writing: Arc<Mutex<()>>,
}

impl Root {
    /// It must exist; an error of the operating system says what is wrong with it.
    pub fn open(path: &Path) -> io::Result<Self> {
        let path = path.canonicalize()?;
        let dir = Dir::open_ambient_dir(&path, ambient_authority())?;
        Ok(Self { path, dir, writing: Arc::default() })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A directory in it, by its absolute path.
    pub fn workspace(&self, given: &str) -> Result<Workspace, BadSettings> {
        let bad = |problem: String| BadSettings { field: FIELD, problem };
        let outside =
            || bad(format!("{given} does not lie under {}, where workspaces may be", self.path.display()));
        if !Path::new(given).is_absolute() || given.contains('\0') {
            return Err(bad(format!("{given:?} is not an absolute path")));
        }
        let path = Path::new(given)
            .canonicalize()
            .map_err(|error| bad(format!("{given} cannot be opened: {error}; create the directory first")))?;
        let below = path.strip_prefix(&self.path).map_err(|_| outside())?;
        // From the handle, so that what was swapped since then still leads nowhere else.
        let below = if below.as_os_str().is_empty() { Path::new(".") } else { below };
        let dir = self
            .dir
            .open_dir(below)
            .map_err(|error| bad(format!("{given} cannot be opened as a directory: {error}")))?;
        let text = path.to_str().ok_or_else(|| bad(format!("{given} is not UTF-8")))?.to_owned();
        let names = vec![path, PathBuf::from(given)];
        Ok(Workspace { text, names, dir, writing: Arc::clone(&self.writing) })
    }

    /// A small text of a directory under the root: its path from the root and a name in it.
    pub fn text(&self, directory: &Path, name: &str, limit: u64) -> Option<String> {
        let file = self.dir.open_with(directory.join(name), &reading()).ok()?;
        let metadata = file.metadata().ok().filter(|found| found.is_file() && found.len() <= limit)?;
        let mut text = String::with_capacity(usize::try_from(metadata.len()).ok()?);
        file.take(limit).read_to_string(&mut text).ok()?;
        Some(text)
    }

    /// Whether a directory under the root holds something of that name.
    pub fn holds(&self, directory: &Path, name: &str) -> bool {
        self.dir.symlink_metadata(directory.join(name)).is_ok()
    }
}

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FoundKind {
    Directory,
    File,
    /// Shown and never followed by a walk.
    Symlink,
    Other,
}

/// Something in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// From the workspace on.
    pub path: PathBuf,
    pub kind: FoundKind,
    pub size: u64,
    pub modified: Option<SystemTime>,
}

impl Found {
    pub(super) fn new(path: PathBuf, metadata: &Metadata) -> Self {
        let kind = metadata.file_type();
        let kind = match (kind.is_dir(), kind.is_file(), kind.is_symlink()) {
            (true, ..) => FoundKind::Directory,
            (_, true, _) => FoundKind::File,
            (.., true) => FoundKind::Symlink,
            _ => FoundKind::Other,
        };
        let modified = metadata.modified().ok().map(cap_std::time::SystemTime::into_std);
        Self { path, kind, size: metadata.len(), modified }
    }

    pub fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// A directory that an agent works in.
#[derive(Debug)]
pub struct Workspace {
    text: String,
    /// As it is and as the client called it; absolute paths begin with either.
    names: Vec<PathBuf>,
    pub(super) dir: Dir,
    pub(super) writing: Arc<Mutex<()>>,
}

impl Workspace {
    /// Its absolute path.
    pub fn path(&self) -> &str {
        &self.text
    }

    /// For people and models: a path from the workspace on, made absolute.
    pub fn absolute(&self, path: &Path) -> String {
        if path.as_os_str().is_empty() {
            return self.text.clone();
        }
        Path::new(&self.text).join(path).to_string_lossy().into_owned()
    }

    /// A path of the model, from the workspace on. Only read, not looked at, but for one thing: clients mark files with
    /// an `@`, which is dropped where no file has that name.
    pub fn resolve(&self, given: &str) -> Result<PathBuf, ToolError> {
        let path = inside(given, &self.names).map_err(|why| self.refused(given, why))?;
        match given.strip_prefix('@') {
            Some(bare) if !bare.is_empty() && self.dir.symlink_metadata(&path).is_err() => self.resolve(bare),
            _ => Ok(path),
        }
    }

    /// Where a path ends, from the workspace on, with no symlink left in it: what does not exist yet lies where the
    /// part of it that exists leads. A symlink that leads out or nowhere is refused.
    pub fn real(&self, path: &Path) -> Result<PathBuf, ToolError> {
        for above in path.ancestors() {
            match self.dir.canonicalize(or_dot(above)) {
                Ok(found) => {
                    let rest = path.strip_prefix(above).unwrap_or(Path::new(""));
                    let names = found.components().chain(rest.components());
                    return Ok(names.filter(|part| matches!(part, Component::Normal(_))).collect());
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound && !self.has_name(above) => {}
                Err(error) => return Err(self.problem(path, &error)),
            }
        }
        Ok(path.to_owned())
    }

    /// A path of the model, read and then followed.
    pub fn follow(&self, given: &str) -> Result<PathBuf, ToolError> {
        self.real(&self.resolve(given)?)
    }

    /// Follows symlinks that stay inside.
    pub fn look(&self, path: &Path) -> Result<Found, ToolError> {
        let metadata = self.dir.metadata(or_dot(path)).map_err(|error| self.problem(path, &error))?;
        Ok(Found::new(path.to_owned(), &metadata))
    }

    /// Whether something has this name, be it a symlink that leads nowhere.
    pub fn has_name(&self, path: &Path) -> bool {
        self.dir.symlink_metadata(or_dot(path)).is_ok()
    }

    /// A plain file, opened without waiting for the other end of a pipe.
    pub fn open(&self, path: &Path) -> Result<File, ToolError> {
        let file =
            self.dir.open_with(or_dot(path), &reading()).map_err(|error| self.problem(path, &error))?;
        let metadata = file.metadata().map_err(|error| self.problem(path, &error))?;
        match Found::new(path.to_owned(), &metadata).kind {
            FoundKind::File => Ok(file),
            FoundKind::Directory => Err(ToolError::new(
                "target_is_directory",
                format!("{} is a directory, not a file", self.absolute(path)),
            )),
            _ => Err(ToolError::new(
                "read_content_failure",
                format!("{} is neither a file nor a directory", self.absolute(path)),
            )),
        }
    }

    /// The whole of a file that is not larger than this.
    pub fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, ToolError> {
        let file = self.open(path)?;
        let mut bytes = Vec::new();
        // One more than allowed, because a file may grow while it is read.
        file.take(limit + 1).read_to_end(&mut bytes).map_err(|error| self.problem(path, &error))?;
        if bytes.len() as u64 > limit {
            let message = format!(
                "{} is larger than {limit} bytes, the most that is read; read a part of it with another tool",
                self.absolute(path)
            );
            return Err(ToolError::new("file_too_large", message));
        }
        Ok(bytes)
    }

    /// What is in a directory, in no order.
    pub fn list(&self, path: &Path) -> Result<Vec<Found>, ToolError> {
        let problem = |error| self.problem(path, &error);
        let entries = self.dir.read_dir(or_dot(path)).map_err(problem)?;
        // What vanishes while it is listed is not there.
        let found = entries.filter_map(Result::ok).filter_map(|entry| {
            let metadata = entry.metadata().ok()?;
            Some(Found::new(path.join(entry.file_name()), &metadata))
        });
        Ok(found.collect())
    }

    /// What went wrong, in the words that programs know.
    pub fn problem(&self, path: &Path, error: &io::Error) -> ToolError {
        let shown = self.absolute(path);
        // The handle's own refusals carry no number of the operating system.
        if error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none() {
            return self.refused(&shown, "leads outside by a symlink");
        }
        let (kind, what) = match error.kind() {
            io::ErrorKind::NotFound => ("file_not_found", "does not exist"),
            io::ErrorKind::PermissionDenied => ("permission_denied", "may not be touched by this server"),
            io::ErrorKind::IsADirectory => ("target_is_directory", "is a directory"),
            io::ErrorKind::NotADirectory => ("path_is_not_a_directory", "is not, or not in, a directory"),
            io::ErrorKind::StorageFull => ("no_space_left", "cannot be written, the disk is full"),
            _ => ("read_content_failure", "cannot be used"),
        };
        ToolError::new(kind, format!("{shown} {what} ({error})"))
    }

    fn refused(&self, given: &str, why: &str) -> ToolError {
        let message = format!("the path {given:?} {why}; every path must lie in the workspace {}", self.text);
        ToolError::new("path_not_in_workspace", message)
    }
}

/// The handle itself has no empty name.
pub(super) fn or_dot(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}

pub(super) fn reading() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
    options.custom_flags(flags.bits().cast_signed());
    options
}
