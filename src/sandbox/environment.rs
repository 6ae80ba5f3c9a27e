//! The variables of a child, built from nothing: what is named here and nothing else, so that no key of the server or
//! of whoever started it reaches a command of the model. Pure.

use std::ffi::{OsStr, OsString};

/// Handed on if the server has them. Places and names; nothing that proves who somebody is.
const HANDED_ON: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    // Where tool chains live that are not in their usual place.
    "CARGO_HOME",
    "RUSTUP_HOME",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    "NVM_DIR",
    "PYENV_ROOT",
    "VIRTUAL_ENV",
];

/// Always so: colours as a terminal has them, no program that waits for a key, and a mark by which scripts see where
/// they are.
const FIXED: &[(&str, &str)] = &[
    ("TERM", "xterm-256color"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("AGENA", "1"),
];

/// Where programs are if the server does not know.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// What of the server's own variables a child gets, and what it gets besides.
pub fn environment(own: impl IntoIterator<Item = (OsString, OsString)>) -> Vec<(OsString, OsString)> {
    let mut made: Vec<_> = own.into_iter().filter(|(name, _)| is_handed_on(name)).collect();
    if !made.iter().any(|(name, _)| name == "PATH") {
        made.push(("PATH".into(), PATH.into()));
    }
    made.extend(FIXED.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))));
    made.sort();
    made
}

/// Names of variables that a child may have, for whoever checks.
pub fn is_allowed(name: &OsStr) -> bool {
    is_handed_on(name) || FIXED.iter().any(|(fixed, _)| name == *fixed)
}

fn is_handed_on(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| HANDED_ON.contains(&name) || name.starts_with("LC_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_gets_the_list_and_nothing_else() {
        let own = [
            ("HOME", "/home/ann"),
            ("LC_ALL", "C"),
            ("TERM", "dumb"),
            ("PAGER", "less"),
            ("GEMINI_API_KEY", "k"),
            ("AGENA_TOKEN", "t"),
            ("SSH_AUTH_SOCK", "/s"),
            ("BASH_ENV", "/evil"),
            ("LD_PRELOAD", "/evil.so"),
            ("HTTPS_PROXY", "http://user:password@proxy"),
        ];
        let made = environment(own.map(|(name, value)| (name.into(), value.into())));
        let made: Vec<_> = made.iter().map(|(n, v)| (n.to_str().unwrap(), v.to_str().unwrap())).collect();
        assert_eq!(
            made,
            [
                ("AGENA", "1"),
                ("GIT_PAGER", "cat"),
                ("GIT_TERMINAL_PROMPT", "0"),
                ("HOME", "/home/ann"),
                ("LC_ALL", "C"),
                ("PAGER", "cat"),
                ("PATH", PATH),
                ("TERM", "xterm-256color"),
            ]
        );
    }
}
