//! Where a file lies, by its name alone: in the workspace or not, and whether a change there reaches further than
//! the file. Must not look at the disk; whoever plans a call has followed the links before.

/// A file or directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// Relative to the workspace, without `.` and `..`.
    Inside(String),
    /// Absolute.
    Outside(String),
}

/// Directories whose files are run, trusted or secret, wherever they stand in a path.
const DIRECTORIES: &str = "\
    .agena .aws .azure .cargo .circleci .claude .codex .config .cursor .devcontainer .direnv .docker \
    .gemini .git .githooks .gnupg .husky .idea .kube .ssh .vscode .zed git~1";
/// The same where it takes two names to tell.
const PAIRS: &[(&str, &str)] = &[(".github", "workflows"), (".github", "actions")];
/// Files that a shell, a tool or an agent obeys.
const FILES: &str = "\
    .bash_login .bash_logout .bash_profile .bashrc .gdbinit .gitattributes .gitconfig .gitlab-ci.yml \
    .gitmodules .inputrc .lldbinit .mcp.json .netrc .npmrc .pgpass .pre-commit-config.yaml .profile \
    .pypirc .yarnrc .yarnrc.yml .zlogin .zprofile .zshenv .zshrc agena.toml agents.md authorized_keys \
    claude.md gemini.md jenkinsfile";

impl Place {
    /// Of a path as a tool got it: absolute, or relative to the workspace.
    pub fn of(path: &str, workspace: &str) -> Self {
        let root = resolve("", workspace);
        let full = if path.starts_with('/') { resolve("", path) } else { resolve(&root, path) };
        match full.strip_prefix(root.trim_end_matches('/')) {
            Some("") => Self::Inside(String::new()),
            Some(rest) if rest.starts_with('/') => Self::Inside(rest[1..].to_owned()),
            _ => Self::Outside(full),
        }
    }

    pub fn text(&self) -> &str {
        match self {
            Self::Inside(path) | Self::Outside(path) => path,
        }
    }

    /// A change there may be run, believed or leak a secret, so no mode but the freest makes it unasked. Case and
    /// what some file systems ignore do not matter.
    pub fn is_sensitive(&self) -> bool {
        let path = self.text().to_lowercase();
        let names: Vec<&str> =
            path.split('/').map(|n| n.trim_end_matches(['.', ' ']).split(':').next().unwrap_or(n)).collect();
        let of_tables = names.iter().any(|n| listed(DIRECTORIES, n))
            || names.windows(2).any(|pair| PAIRS.contains(&(pair[0], pair[1])))
            || names.last().is_some_and(|name| listed(FILES, name));
        of_tables || names.iter().any(|n| n.starts_with(".env")) || path.chars().any(is_deceptive)
    }

    /// What can be changed without asking, once the user or the operator said so for edits in general.
    pub fn is_plain_file_of_the_workspace(&self) -> bool {
        matches!(self, Self::Inside(path) if !path.is_empty()) && !self.is_sensitive()
    }
}

fn listed(table: &str, name: &str) -> bool {
    table.split_whitespace().any(|known| known == name)
}

/// Not seen, or not a name on every system.
fn is_deceptive(c: char) -> bool {
    is_unseen(c) || c == '\\' || c.is_control()
}

/// Takes no room, or turns around what follows.
pub(super) fn is_unseen(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// An absolute path without `.`, `..` and doubled slashes.
fn resolve(base: &str, path: &str) -> String {
    let mut names: Vec<&str> = base.split('/').filter(|n| !n.is_empty()).collect();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => drop(names.pop()),
            name => names.push(name),
        }
    }
    format!("/{}", names.join("/"))
}
