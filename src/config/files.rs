//! What the configuration asks of the machine, and the answer of the real one. Knows no setting; `config::parse`
//! and `decide` ask, and tests answer in its place.

use std::io;
use std::path::{Path, PathBuf};

use directories::ProjectDirs;

pub(super) trait Files {
    fn read(&self, path: &Path) -> io::Result<String>;
    /// The canonical path of a directory that can be listed.
    fn directory(&self, path: &Path) -> io::Result<PathBuf>;
    fn current_dir(&self) -> io::Result<PathBuf>;
    /// Where this platform keeps an application's data, for example `~/.local/share/agena`.
    fn default_data_dir(&self) -> Option<PathBuf>;
    /// Where this platform keeps an application's settings, for example `~/.config/agena`.
    fn default_config_dir(&self) -> Option<PathBuf>;
}

/// The machine this runs on.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path) -> io::Result<String> {
        std::fs::read_to_string(path)
    }

    fn directory(&self, path: &Path) -> io::Result<PathBuf> {
        let canonical = path.canonicalize()?;
        std::fs::read_dir(&canonical)?;
        Ok(canonical)
    }

    fn current_dir(&self) -> io::Result<PathBuf> {
        std::env::current_dir()
    }

    fn default_data_dir(&self) -> Option<PathBuf> {
        project().map(|dirs| dirs.data_dir().to_owned())
    }

    fn default_config_dir(&self) -> Option<PathBuf> {
        project().map(|dirs| dirs.config_dir().to_owned())
    }
}

fn project() -> Option<ProjectDirs> {
    ProjectDirs::from("", "", "agena")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_canonical_and_a_file_is_none() {
        let root = tempfile::tempdir().expect("a directory");
        let file = root.path().join("file");
        std::fs::write(&file, "text").expect("a file");
        let canonical = root.path().canonicalize().expect("canonical");
        assert_eq!(Disk.directory(&root.path().join(".")).expect("a directory"), canonical);
        assert_eq!(Disk.read(&file).expect("a file"), "text");
        assert!(Disk.directory(&file).is_err() && Disk.directory(&root.path().join("none")).is_err());
    }
}
