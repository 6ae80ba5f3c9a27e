//! Tests of the configuration as a whole, over an environment and a disk made of maps.

mod accepted;
mod agent;
mod client;
mod help;
mod mcp;
mod models;
mod precedence;
mod refused;
mod refused_files;
mod refused_models;
mod reload;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use super::files::Files;
use super::{Command, Exit, Settings, parse_with};

/// The file of the tables below.
const FILE: &str = "/home/u/.config/agena/agena.toml";

/// A disk with these files, and the directories `/cwd` and `/ws`.
struct Fake(BTreeMap<PathBuf, String>);

impl Fake {
    fn with(files: &[(&str, &str)]) -> Self {
        Self(files.iter().map(|(path, text)| (path.into(), (*text).to_owned())).collect())
    }
}

impl Files for Fake {
    fn read(&self, path: &Path) -> io::Result<String> {
        self.0.get(path).cloned().ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "no such file"))
    }

    fn directory(&self, path: &Path) -> io::Result<PathBuf> {
        let full = if path == Path::new(".") { "/cwd".into() } else { Path::new("/cwd").join(path) };
        let known = ["/cwd", "/ws", "/home/u/.config/agena/ws"].iter().any(|known| Path::new(known) == full);
        if known { Ok(full) } else { Err(io::Error::new(io::ErrorKind::NotFound, "no such directory")) }
    }

    fn current_dir(&self) -> io::Result<PathBuf> {
        Ok("/cwd".into())
    }

    fn default_data_dir(&self) -> Option<PathBuf> {
        Some("/home/u/.local/share/agena".into())
    }

    fn default_config_dir(&self) -> Option<PathBuf> {
        Some("/home/u/.config/agena".into())
    }
}

fn run(args: &[&str], env: &[(&str, &str)], files: &Fake) -> Result<Command, Exit> {
    let args = ["agena"].iter().chain(args).map(OsString::from);
    let env: BTreeMap<&str, &str> = env.iter().copied().collect();
    parse_with(args, &env, files)
}

/// The settings that `serve` gets with `file` as the default file.
fn settings(args: &[&str], env: &[(&str, &str)], file: &str) -> Settings {
    match run(args, env, &Fake::with(&[(FILE, file)])) {
        Ok(Command::Serve(settings)) => *settings,
        other => panic!("{args:?} {env:?}: {other:?}"),
    }
}

/// The one line of a refusal, without its `error: `.
fn refusal(args: &[&str], env: &[(&str, &str)], files: &Fake) -> String {
    match run(args, env, files) {
        Err(exit) => {
            assert_eq!((exit.stream, exit.code), (super::Stream::Stderr, 2), "{exit:?}");
            let line = exit.text.strip_prefix("error: ").and_then(|line| line.strip_suffix('\n'));
            line.filter(|line| !line.contains('\n')).expect("one line").to_owned()
        }
        Ok(command) => panic!("{args:?} {env:?}: {command:?}"),
    }
}
