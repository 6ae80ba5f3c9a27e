//! All that lies below a directory of the workspace, directory by directory through handles: a walk never follows a
//! symlink and never leaves. Ignore files of the workspace hold as git reads them. Blocks; the searching tools use it.

use std::io::Read;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::Dir;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::workspace::{Found, FoundKind, Workspace, or_dot, reading};
use crate::domain::tool::ToolError;

/// Deeper than any project, and a stop for whoever swaps directories while they are walked.
const DEPTH: usize = 128;
const IGNORE_FILE: u64 = 1024 * 1024;
/// Large, and never what is looked for.
const NEVER: &[&str] = &["node_modules", ".git", "bower_components", ".svn", ".hg"];

/// Which ignore files count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ignore {
    pub git: bool,
    pub gemini: bool,
}

impl Default for Ignore {
    fn default() -> Self {
        Self { git: true, gemini: true }
    }
}

impl Ignore {
    pub const NOTHING: Self = Self { git: false, gemini: false };

    fn files(self) -> impl Iterator<Item = &'static str> {
        [(self.git, ".git/info/exclude"), (self.git, ".gitignore"), (self.gemini, ".geminiignore")]
            .into_iter()
            .filter_map(|(counts, name)| counts.then_some(name))
    }
}

/// The rules of one directory and of those above it.
#[derive(Debug, Clone, Default)]
struct Rules(Vec<Arc<Gitignore>>);

impl Rules {
    /// With those of the directory that is entered. What cannot be read has no rules.
    fn enter(&self, dir: &Dir, path: &Path, which: Ignore) -> Self {
        let mut rules = self.0.clone();
        rules.extend(which.files().filter_map(|name| read_rules(dir, name, path)).map(Arc::new));
        Self(rules)
    }

    /// The last rule that speaks of a path counts.
    fn ignores(&self, path: &Path, is_directory: bool) -> bool {
        let spoken =
            self.0.iter().rev().map(|rules| rules.matched(path, is_directory)).find(|m| !m.is_none());
        spoken.is_some_and(|m| m.is_ignore())
    }
}

fn read_rules(dir: &Dir, name: &str, path: &Path) -> Option<Gitignore> {
    let file = dir.open_with(name, &reading()).ok()?;
    let mut text = Vec::new();
    file.take(IGNORE_FILE).read_to_end(&mut text).ok()?;
    let mut builder = GitignoreBuilder::new(path);
    for line in String::from_utf8_lossy(&text).lines() {
        // A line that is no rule is no reason to forget the others.
        let _ = builder.add_line(None, line);
    }
    builder.build().ok()
}

/// A directory that was seen and not entered yet.
struct Pending {
    above: Arc<Dir>,
    name: PathBuf,
    path: PathBuf,
    rules: Rules,
    depth: usize,
}

/// A walk on its way.
struct Walk<'a> {
    which: Ignore,
    visit: &'a mut dyn FnMut(Found) -> ControlFlow<()>,
    pending: Vec<Pending>,
    ignored: usize,
}

impl Walk<'_> {
    fn enter(&mut self, here: &Pending) -> ControlFlow<()> {
        // What is gone or has become something else since it was listed is not walked.
        let Ok(dir) = here.above.open_dir(&here.name).map(Arc::new) else { return ControlFlow::Continue(()) };
        let rules = here.rules.enter(&dir, &here.path, self.which);
        for entry in dir.entries().into_iter().flatten().filter_map(Result::ok) {
            let Ok(metadata) = entry.metadata() else { continue };
            let name = PathBuf::from(entry.file_name());
            let found = Found::new(here.path.join(&name), &metadata);
            if self.leaves_out(&name, &found, &rules) {
                continue;
            }
            if found.kind == FoundKind::Directory && here.depth < DEPTH {
                let (above, path, rules) = (Arc::clone(&dir), found.path.clone(), rules.clone());
                self.pending.push(Pending { above, name, path, rules, depth: here.depth + 1 });
            }
            (self.visit)(found)?;
        }
        ControlFlow::Continue(())
    }

    fn leaves_out(&mut self, name: &Path, found: &Found, rules: &Rules) -> bool {
        let is_directory = found.kind == FoundKind::Directory;
        if is_directory && NEVER.iter().any(|never| name.as_os_str() == *never) {
            return true;
        }
        let ignored = rules.ignores(&found.path, is_directory);
        self.ignored += usize::from(ignored);
        ignored
    }
}

impl Workspace {
    /// Shows everything below a directory that is not ignored, in no order, until the visitor has enough.
    /// How many entries were ignored comes back.
    pub fn walk(
        &self,
        start: &Path,
        which: Ignore,
        visit: &mut dyn FnMut(Found) -> ControlFlow<()>,
    ) -> Result<usize, ToolError> {
        let (rules, above) = self.descend(start, which)?;
        let first = Pending { above, name: PathBuf::from("."), path: start.to_owned(), rules, depth: 0 };
        let mut walk = Walk { which, visit, pending: vec![first], ignored: 0 };
        while let Some(next) = walk.pending.pop() {
            if walk.enter(&next).is_break() {
                break;
            }
        }
        Ok(walk.ignored)
    }

    /// Whether an ignore file names this path or a directory above it.
    pub fn ignores(&self, path: &Path, which: Ignore) -> bool {
        let Ok(dir) = self.dir.try_clone() else { return false };
        let mut rules = Rules::default();
        let mut at = PathBuf::new();
        let mut dir = dir;
        let mut names = path.components().peekable();
        while let Some(name) = names.next() {
            rules = rules.enter(&dir, &at, which);
            at.push(name);
            if rules.ignores(&at, names.peek().is_some() || self.dir.is_dir(&at)) {
                return true;
            }
            match dir.open_dir(name.as_os_str()) {
                Ok(next) => dir = next,
                Err(_) => return false,
            }
        }
        false
    }

    /// The start of a walk, with the rules of all directories above it.
    fn descend(&self, start: &Path, which: Ignore) -> Result<(Rules, Arc<Dir>), ToolError> {
        let problem = |error| self.problem(start, &error);
        let mut rules = Rules::default();
        let mut at = PathBuf::new();
        for name in start.components() {
            let above = self.dir.open_dir(or_dot(&at)).map_err(problem)?;
            rules = rules.enter(&above, &at, which);
            at.push(name);
        }
        Ok((rules, Arc::new(self.dir.open_dir(or_dot(start)).map_err(problem)?)))
    }
}
