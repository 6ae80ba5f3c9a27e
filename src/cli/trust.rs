//! `agena trust`: whose memory files are believed. Says what it did, and prints a list that programs can read.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::config::Settings;
use crate::config::trust::{Ask, TrustError, add, listed, remove};

#[derive(Debug, thiserror::Error)]
pub enum TellError {
    #[error(transparent)]
    Trust(#[from] TrustError),
    #[error("cannot print ({0})")]
    Print(#[from] io::Error),
}

/// The list goes to `out`, anything else to `err`, for a person.
pub fn run(
    settings: &Settings,
    ask: &Ask,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<(), TellError> {
    const WHEN: &str = "a running server hears of it when it starts again";
    match ask {
        Ask::List => {
            for path in everything(settings)? {
                writeln!(out, "{}", path.display())?;
            }
        }
        Ask::Add(given) => {
            let path = add(&settings.data_dir, given)?;
            writeln!(err, "{} is trusted, with all that lies below it; {WHEN}", path.display())?;
        }
        Ask::Remove(given) => {
            let path = remove(&settings.data_dir, given)?;
            match still(&path, &everything(settings)?) {
                None => writeln!(err, "{} is no longer trusted; {WHEN}", path.display())?,
                Some(above) => writeln!(
                    err,
                    "{} is out of the list, but still trusted with {}",
                    path.display(),
                    above.display()
                )?,
            }
        }
    }
    Ok(out.flush()?)
}

/// The list, and what the settings name besides.
fn everything(settings: &Settings) -> Result<Vec<PathBuf>, TrustError> {
    let mut all = listed(&settings.data_dir)?;
    all.extend(settings.agent.trusted.iter().cloned());
    all.sort();
    all.dedup();
    Ok(all)
}

fn still<'a>(path: &Path, trusted: &'a [PathBuf]) -> Option<&'a Path> {
    trusted.iter().map(PathBuf::as_path).find(|above| path.starts_with(above))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{self, Command};

    fn told(root: &Path, args: &[&str]) -> (String, String) {
        let given = ["agena", "trust", "--data-dir", "data"].iter().chain(args).map(Into::into);
        let data_dir = root.join("data");
        let env = std::collections::BTreeMap::from([("AGENA_WORKSPACE", root)]);
        let Ok(Command::Trust(mut settings, ask)) = config::parse(given, &env) else { panic!("{args:?}") };
        settings.data_dir = data_dir;
        let (mut out, mut err) = (Vec::new(), Vec::new());
        run(&settings, &ask, &mut out, &mut err).unwrap();
        (String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
    }

    #[test]
    fn the_list_is_for_programs_and_the_rest_for_people() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        let (above, below) = (root.join("a"), root.join("a/b"));
        let (above, below) = (above.to_str().unwrap(), below.to_str().unwrap());
        assert_eq!(told(&root, &["--list"]), (String::new(), String::new()));
        for path in [below, above] {
            let (out, err) = told(&root, &[path]);
            assert!(out.is_empty() && err.starts_with(&format!("{path} is trusted, with all")), "{err}");
        }
        assert_eq!(told(&root, &["--list"]).0, format!("{above}\n{below}\n"));
        let (_, err) = told(&root, &["--remove", below]);
        assert_eq!(err, format!("{below} is out of the list, but still trusted with {above}\n"));
        let (_, err) = told(&root, &["--remove", above]);
        assert!(err.starts_with(&format!("{above} is no longer trusted;")), "{err}");
        let settings = format!("agent.trusted=['{above}']");
        assert_eq!(told(&root, &["--list", "--set", &settings]).0, format!("{above}\n"));
    }
}
