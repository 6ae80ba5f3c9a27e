//! A proposed file in the user's own editor.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the file is after the editor; an error if that failed, so that nothing is taken for an edit that is none.
pub fn edit(name: &str, content: &str) -> io::Result<String> {
    let dir = Private::new()?;
    // Its name tells the editor which language it is; nothing else of the path counts.
    let name = Path::new(name).file_name().map_or_else(|| "proposal".into(), PathBuf::from);
    let path = dir.0.join(name);
    fs::write(&path, content)?;
    let status = command(&path).status()?;
    if !status.success() {
        return Err(io::Error::other(format!("the editor ended with {status}")));
    }
    fs::read_to_string(&path)
}

/// A directory for one file that nobody else can look into, gone with its owner.
struct Private(PathBuf);

impl Private {
    fn new() -> io::Result<Self> {
        let path = std::env::temp_dir().join(format!("agena-{}", uuid::Uuid::now_v7()));
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Private {
    fn drop(&mut self) {
        // What stays behind is in a place for such things.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn chosen() -> String {
    let named = |name| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let usual = if cfg!(windows) { "notepad" } else { "vi" };
    named("VISUAL").or_else(|| named("EDITOR")).unwrap_or_else(|| usual.to_owned())
}

/// Through the shell, since the variable may hold options, or a path with spaces in quotes.
#[cfg(unix)]
fn command(path: &Path) -> Command {
    let editor = chosen();
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("{editor} \"$@\"")).arg(editor).arg(path);
    command
}

#[cfg(not(unix))]
fn command(path: &Path) -> Command {
    let editor = chosen();
    let mut words = editor.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or("notepad"));
    command.args(words).arg(path);
    command
}
