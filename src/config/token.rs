//! The local token: made once, kept in the data directory, printed by `agena token`. Knows only that directory;
//! `agena token` and the start of the server call it.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::private;
use crate::domain::secret::Secret;

const NAME: &str = "token";
const BYTES: usize = 32;
/// More than any token needs: enough to see that a file holds something else.
const MOST: u64 = 256;

#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    #[error("cannot make the data directory {} ({error}); choose another with --data-dir", .path.display())]
    DataDir { path: PathBuf, error: io::Error },
    #[error("cannot read the token {} ({error}); mend its permissions or choose another --data-dir", .path.display())]
    Read { path: PathBuf, error: io::Error },
    #[error("cannot write the token {} ({error}); mend the directory or choose another --data-dir", .path.display())]
    Write { path: PathBuf, error: io::Error },
    #[error("others can read the token {} and that cannot be changed ({error}); run: chmod 600 {}", .path.display(), .path.display())]
    Exposed { path: PathBuf, error: io::Error },
    #[error("{} does not hold a token; delete it and a new one is made at the next start", .path.display())]
    Malformed { path: PathBuf },
    #[error("the system gives no random bytes for a token ({0}); try again")]
    Random(getrandom::Error),
}

/// The token, and what its owner should hear about it.
#[derive(Debug)]
pub struct LocalToken {
    pub token: Secret,
    pub warning: Option<String>,
}

/// The token of this data directory. Servers that start at once agree on one, whichever made it.
pub fn load_or_create(data_dir: &Path) -> Result<LocalToken, TokenError> {
    let path = data_dir.join(NAME);
    if let Some(local) = load(&path)? {
        return Ok(local);
    }
    private::make_dir(data_dir).map_err(|error| TokenError::DataDir { path: data_dir.to_owned(), error })?;
    offer(data_dir, &path, &generate()?)?;
    // Read back rather than returned, as another process may have been first.
    let gone = || TokenError::Read { path: path.clone(), error: io::ErrorKind::NotFound.into() };
    load(&path)?.ok_or_else(gone)
}

fn load(path: &Path) -> Result<Option<LocalToken>, TokenError> {
    let unreadable = |error| TokenError::Read { path: path.to_owned(), error };
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(error)),
    };
    let mut bytes = Vec::new();
    (&file).take(MOST).read_to_end(&mut bytes).map_err(unreadable)?;
    let token = read_token(&bytes).ok_or_else(|| TokenError::Malformed { path: path.to_owned() })?;
    let warning = close_to_others(&file, path)?;
    Ok(Some(LocalToken { token, warning }))
}

fn read_token(bytes: &[u8]) -> Option<Secret> {
    let text = str::from_utf8(bytes).ok()?.trim_end();
    let decoded = URL_SAFE_NO_PAD.decode(text).ok()?;
    (decoded.len() == BYTES).then(|| Secret::new(text))
}

fn generate() -> Result<Secret, TokenError> {
    Ok(Secret::new(URL_SAFE_NO_PAD.encode(random::<BYTES>()?)))
}

fn random<const N: usize>() -> Result<[u8; N], TokenError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(TokenError::Random)?;
    Ok(bytes)
}

/// Puts `token` at `path` unless one is there. A link, unlike a rename, does not replace what another process
/// put there a moment ago, and unlike a write in place it shows nobody half a token.
fn offer(data_dir: &Path, path: &Path, token: &Secret) -> Result<(), TokenError> {
    let draft = data_dir.join(format!(".{NAME}.{}", URL_SAFE_NO_PAD.encode(random::<9>()?)));
    let offered = private::write_new(&draft, token.expose()).and_then(|()| fs::hard_link(&draft, path));
    // A draft that stays behind is no token; failing over it would help nobody.
    let _ = fs::remove_file(&draft);
    match offered {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(TokenError::Write { path: path.to_owned(), error })
        }
        _ => Ok(()),
    }
}

/// Closes a file that others may use, and says so: whoever read it still knows the token.
#[cfg(unix)]
fn close_to_others(file: &File, path: &Path) -> Result<Option<String>, TokenError> {
    use std::os::unix::fs::PermissionsExt;

    let failed = |error| TokenError::Exposed { path: path.to_owned(), error };
    let mode = file.metadata().map_err(failed)?.permissions().mode() & 0o777;
    if mode & 0o077 == 0 {
        return Ok(None);
    }
    file.set_permissions(fs::Permissions::from_mode(0o600)).map_err(failed)?;
    Ok(Some(format!(
        "{} was open to other users (mode {mode:03o}) and is now private (mode 600); \
         if someone may have read it, delete it and restart to get a new token",
        path.display()
    )))
}

/// Elsewhere the data directory of the user is private by its inherited rights.
#[cfg(not(unix))]
fn close_to_others(_: &File, _: &Path) -> Result<Option<String>, TokenError> {
    Ok(None)
}

#[cfg(test)]
mod tests;
