//! Writing a file: the whole of it at once, and only over what was shown. The new content is written beside the file
//! and then takes its name, so that nobody ever reads half of it and a hard link to somewhere else stays what it was.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::Path;
use std::sync::PoisonError;

use cap_std::fs::{Dir, File, MetadataExt, OpenOptions, OpenOptionsExt, PermissionsExt};
use rustix::fs::{Mode, OFlags};

use super::workspace::Workspace;
use crate::domain::tool::ToolError;

/// What a file that has more than its mode may keep; the other bits give rights to whoever runs it.
const MODE: u32 = 0o777;

impl Workspace {
    /// Gives a file new content. `old` is what it was when that was decided on; none means that it did not exist.
    /// The path is where the file really is: a symlink in it came later than the decision, and nothing is written.
    pub fn write(&self, path: &Path, old: Option<&str>, new: &str) -> Result<(), ToolError> {
        if self.real(path)? != path {
            return Err(self.changed(path, "has come to lead elsewhere"));
        }
        let problem = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound if old.is_some() => self.changed(path, "is gone"),
            _ => self.failed(path, &error),
        };
        let (above, name) = split(path).ok_or_else(|| {
            ToolError::new("target_is_directory", format!("{} is the workspace itself", self.absolute(path)))
        })?;
        let above = self.directory(above, old.is_none()).map_err(problem)?;
        let temporary = Temporary::make(&above, new.as_bytes(), old.map(|_| name)).map_err(problem)?;
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        match old {
            Some(old) => {
                self.unchanged(path, old)?;
                temporary.replace(name).map_err(problem)
            }
            None => temporary.become_new(name).map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => self.changed(path, "has come into being"),
                _ => problem(error),
            }),
        }
    }

    /// Takes a file away whose content is this. What has changed, or leads elsewhere, stays.
    pub fn remove(&self, path: &Path, old: &str) -> Result<(), ToolError> {
        if self.real(path)? != path {
            return Err(self.changed(path, "has come to lead elsewhere"));
        }
        let problem = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => self.changed(path, "is gone"),
            _ => self.failed(path, &error),
        };
        let (above, name) = split(path).ok_or_else(|| {
            ToolError::new("target_is_directory", format!("{} is the workspace itself", self.absolute(path)))
        })?;
        let above = self.directory(above, false).map_err(problem)?;
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        self.unchanged(path, old)?;
        above.remove_file(name).map_err(problem)
    }

    /// A directory, name by name and through no symlink, however fast one is put there.
    fn directory(&self, path: &Path, make: bool) -> io::Result<Dir> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut dir = self.dir.try_clone()?;
        for name in path.iter() {
            match if make { dir.create_dir(name) } else { Ok(()) } {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
            let opened = rustix::fs::openat(&dir, name, flags, Mode::empty())?;
            dir = Dir::from_std_file(opened.into());
        }
        Ok(dir)
    }

    fn unchanged(&self, path: &Path, old: &str) -> Result<(), ToolError> {
        // A file that grew past its old size has changed, however large it is now.
        match self.read(path, old.len() as u64) {
            Ok(bytes) if bytes == old.as_bytes() => Ok(()),
            Ok(_) => Err(self.changed(path, "has changed")),
            Err(ToolError::Failed { kind: "file_too_large", .. }) => Err(self.changed(path, "has changed")),
            Err(ToolError::Failed { kind: "file_not_found", .. }) => Err(self.changed(path, "is gone")),
            Err(other) => Err(other),
        }
    }

    fn changed(&self, path: &Path, what: &str) -> ToolError {
        let message = format!(
            "{} {what} since the edit was proposed, so nothing was written; read it again and propose a new edit",
            self.absolute(path)
        );
        ToolError::new("file_changed", message)
    }

    fn failed(&self, path: &Path, error: &io::Error) -> ToolError {
        match self.problem(path, error) {
            ToolError::Failed { kind: "read_content_failure", message, code } => {
                ToolError::Failed { kind: "file_write_failure", message, code }
            }
            other => other,
        }
    }
}

fn split(path: &Path) -> Option<(&Path, &OsStr)> {
    path.parent().zip(path.file_name())
}

/// A file beside the one that is meant, gone again unless it takes its place.
struct Temporary<'a> {
    above: &'a Dir,
    name: String,
}

impl<'a> Temporary<'a> {
    fn make(above: &'a Dir, content: &[u8], like: Option<&OsStr>) -> io::Result<Self> {
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let name = format!(".agena-{:016x}.tmp", u64::from_le_bytes(random));
        let model = like.map(|like| above.metadata(like)).transpose()?;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        // What replaces a private file is private from its first byte on.
        options.mode(if model.is_some() { 0o600 } else { 0o666 });
        let mut file = above.open_with(&name, &options)?;
        let made = Self { above, name };
        if let Some(model) = model {
            // Only the superuser may give a file away; for everybody else the owner is the same anyway.
            let _ = give(&file, model.uid(), model.gid());
            file.set_permissions(PermissionsExt::from_mode(model.mode() & MODE))?;
        }
        file.write_all(content)?;
        file.sync_all()?;
        Ok(made)
    }

    fn replace(self, name: &OsStr) -> io::Result<()> {
        self.above.rename(&self.name, self.above, name)
    }

    /// A link does not replace, so whatever came first stays.
    fn become_new(self, name: &OsStr) -> io::Result<()> {
        match self.above.hard_link(&self.name, self.above, name) {
            Err(error) if no_links(&error) && !self.above.try_exists(name)? => self.replace(name),
            other => other,
        }
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        // Gone already where it took the place of the file.
        let _ = self.above.remove_file(&self.name);
    }
}

/// Some file systems have no hard links.
fn no_links(error: &io::Error) -> bool {
    error.raw_os_error().is_some()
        && matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::Unsupported)
}

fn give(file: &File, uid: u32, gid: u32) -> io::Result<()> {
    let (uid, gid) = (rustix::fs::Uid::from_raw(uid), rustix::fs::Gid::from_raw(gid));
    Ok(rustix::fs::fchown(file, Some(uid), Some(gid))?)
}
