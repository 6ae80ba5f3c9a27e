//! Which directories are believed: what lies in them may instruct a model or start a server. The operator says which; the
//! tools and the MCP servers ask here.

use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Directories as they really lie; one that is not there is not trusted.
#[derive(Debug, Clone, Default)]
pub struct Trusted(Arc<[PathBuf]>);

impl Trusted {
    pub fn new(directories: &[PathBuf]) -> Self {
        Self(directories.iter().filter_map(|path| path.canonicalize().ok()).collect())
    }

    /// Whether it is one of them, or lies in one.
    pub fn holds(&self, directory: &Path) -> bool {
        self.0.iter().any(|trusted| directory.starts_with(trusted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_below_is_trusted_and_what_is_only_named_alike_is_not() {
        let place = tempfile::tempdir().unwrap();
        let real = place.path().canonicalize().unwrap();
        std::fs::create_dir_all(real.join("a/b")).unwrap();
        std::os::unix::fs::symlink(real.join("a"), real.join("link")).unwrap();
        let trusted = Trusted::new(&[real.join("link"), real.join("gone")]);
        for (path, holds) in [("a", true), ("a/b", true), ("ab", false), ("link", false), ("gone", false)] {
            assert_eq!(trusted.holds(&real.join(path)), holds, "{path}");
        }
    }
}
