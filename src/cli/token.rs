//! `agena token`: prints the local token and nothing else, so that `$(agena token)` works.

use std::io::{self, Write};

use crate::config::Settings;
use crate::config::token::{TokenError, load_or_create};

#[derive(Debug, thiserror::Error)]
pub enum PrintError {
    #[error(transparent)]
    Token(#[from] TokenError),
    #[error("cannot print the token ({0})")]
    Print(#[from] io::Error),
}

/// The token on `out`, a warning about it on `err`.
pub fn run(settings: &Settings, out: &mut dyn Write, err: &mut dyn Write) -> Result<(), PrintError> {
    let local = load_or_create(&settings.data_dir)?;
    if let Some(warning) = local.warning {
        writeln!(err, "warning: {warning}")?;
    }
    writeln!(out, "{}", local.token.expose())?;
    Ok(out.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{self, Command};

    #[test]
    fn the_token_is_printed_alone() {
        let root = tempfile::tempdir().unwrap();
        let args = ["agena", "token", "--data-dir", root.path().to_str().unwrap()].map(Into::into);
        let env = std::collections::BTreeMap::from([("AGENA_WORKSPACE", root.path())]);
        let Ok(Command::Token(settings)) = config::parse(args, &env) else { panic!("refused") };
        let (mut out, mut err) = (Vec::new(), Vec::new());
        run(&settings, &mut out, &mut err).unwrap();
        let token = load_or_create(root.path()).unwrap().token;
        assert_eq!(String::from_utf8(out).unwrap(), format!("{}\n", token.expose()));
        assert!(err.is_empty());
    }
}
