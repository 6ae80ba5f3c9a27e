//! What the policy knows about programs: which change the shell itself, which run something else than they are
//! called, and what "always" may stand for. Must not know rules or modes; the walk and the rules ask it.
//!
//! No table can name every program that runs others. It is asked only for what a user chose to allow always; nothing
//! is allowed because it is missing here.

use super::{Simple, Word};

/// What is a word of the shell's grammar, though the parser may take it for a program.
const RESERVED: &str = "\
    case coproc do done elif else esac fi for foreach function if in nocorrect noglob repeat select then \
    time until while";

/// Builtins after which later words may mean something else, or whose arguments are evaluated.
const CHANGING: &str = "\
    . alias autoload bind builtin command compgen complete compopt declare disable emulate enable eval \
    exec export fc getopts hash history integer let local mapfile read readarray readonly rehash return \
    set setopt shift shopt source test trap typeset unalias unset vared wait zmodload";

/// Programs that run what their arguments say: whoever sees the name has seen nothing.
const HIDING: &str = "\
    ash at awk bash batch bun bunx busybox bwrap chroot chrt cmd crontab csh dash dbus-run-session deno \
    doas docker ed elixir emacs entr env erl ex expect fakeroot firejail fish flock gawk gdb gosu ionice \
    java js jshell julia ksh kubectl ld ld.so ltrace lua luajit mawk nawk nerdctl nice node nodejs nohup \
    nsenter nvim osascript parallel perl php pkexec podman powershell pwsh pypy python rlwrap rscript \
    ruby rust-gdb scala screen script sed setarch setpriv setsid sg sh socat ssh sshpass \
    start-stop-daemon stdbuf strace su sudo systemd-run taskset tclsh time timeout tmux ts-node tsx \
    unbuffer unshare vi view vim vimdiff watch wish xargs xvfb-run zsh";

/// Programs that run code from files, open a way out, or write wherever they are told.
const REACHING: &str = "\
    ack ansible ant apt apt-get aria arp aws az bat bazel brew bundle c++ cargo cc chattr chgrp chmod \
    chown clang clang++ cmake composer conda corepack cp cpio csplit curl dd dnf dotnet dpkg \
    easy_install fish ftp g++ gcc gcloud gem gh git-shell glab gmake go gpg gradle gradlew grunt gulp \
    gunzip gzip helm http https hx install jest just kill killall ld less lldb ln make man mix mkfifo \
    mkfs mknod more mount mv mvn mysql nano nc ncat netcat ninja nix nix-shell npm npx openssl pacman \
    patch pip pipx pkill pnpm poetry psql pytest rake redis-cli rm rmdir rsync rustc rustup scp sftp \
    shred snap split sqlite swift systemctl tar tee telnet terraform tox truncate umount uniq unlink \
    unzip uv uvx vagrant wget xxd yarn yum zip zypper";

/// An argument that makes an otherwise plain program run or write something.
#[derive(Debug, Clone, Copy)]
enum Guard {
    /// `--name`, also shortened or with a value.
    Long(&'static str),
    /// `-x`, also among others or with a value.
    Short(char),
    /// A word that begins like this.
    Start(&'static str),
}

const GUARDED: &[(&str, &[Guard])] = &[
    ("base", &[Guard::Short('o'), Guard::Long("--output")]),
    ("date", &[Guard::Short('s'), Guard::Long("--set")]),
    ("diff", &[Guard::Short('l'), Guard::Long("--paginate"), Guard::Long("--output")]),
    ("fd", &[Guard::Short('x'), Guard::Short('X'), Guard::Long("--exec"), Guard::Long("--exec-batch")]),
    ("fdfind", &[Guard::Short('x'), Guard::Short('X'), Guard::Long("--exec"), Guard::Long("--exec-batch")]),
    ("file", &[Guard::Short('C'), Guard::Short('m'), Guard::Long("--compile"), Guard::Long("--magic-file")]),
    (
        "find",
        &[
            Guard::Start("-exec"),
            Guard::Start("-ok"),
            Guard::Start("-delete"),
            Guard::Start("-fprint"),
            Guard::Start("-fls"),
        ],
    ),
    (
        "git",
        &[
            Guard::Short('O'),
            Guard::Long("--output"),
            Guard::Long("--ext-diff"),
            Guard::Long("--textconv"),
            Guard::Long("--open-files-in-pager"),
            Guard::Long("--edit"),
            Guard::Long("--template"),
            Guard::Long("--exec"),
        ],
    ),
    (
        "rg",
        &[
            Guard::Long("--pre"),
            Guard::Long("--hostname-bin"),
            Guard::Short('z'),
            Guard::Long("--search-zip"),
        ],
    ),
    (
        "sort",
        &[Guard::Short('o'), Guard::Short('T'), Guard::Long("--output"), Guard::Long("--compress-program")],
    ),
    ("tree", &[Guard::Short('o'), Guard::Start("--output"), Guard::Short('R')]),
    ("yq", &[Guard::Short('i'), Guard::Long("--inplace"), Guard::Short('s'), Guard::Long("--split-exp")]),
];

/// git's own verbs that do what they say in this repository. Others may be aliases, run hooks that fetch, or rewrite.
const GIT_VERBS: &str = "\
    add blame branch commit describe diff log ls-files rev-parse shortlog show stash status";

fn listed(table: &str, name: &str) -> bool {
    table.split_whitespace().any(|known| known == name)
}

/// The words behind it cannot be judged any more, or were evaluated.
pub(super) fn changes_the_shell(simple: &Simple) -> bool {
    let name = simple.name.as_str();
    let assigns = name == "printf"
        && !matches!(simple.arguments.first(), Some(Word::Literal(format)) if !format.starts_with('-'));
    listed(RESERVED, name) || listed(CHANGING, name) || assigns
}

/// Runs what its arguments say, so that a rule about another program may be meant.
pub fn hides(simple: &Simple) -> bool {
    listed(HIDING, &plain_name(&simple.name)) || is_guarded(simple)
}

/// The last part of the path, without a version, as `python` is for `/usr/bin/python3.11`.
fn plain_name(name: &str) -> String {
    let base = name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase();
    let base = base.strip_suffix(".exe").unwrap_or(&base);
    base.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-').to_owned()
}

/// What "always" stands for: the program, with its verb where it has verbs. None where no "always" is possible.
pub fn root(simple: &Simple) -> Option<String> {
    let plain = plain_name(&simple.name);
    // What lies at a path can be another program by the next time.
    let refused = simple.name.contains('/') || plain.is_empty();
    if refused || listed(HIDING, &plain) || listed(REACHING, &plain) || is_guarded(simple) {
        return None;
    }
    match simple.name.as_str() {
        "git" => git_verb(simple).map(|verb| format!("git {verb}")),
        name => Some(name.to_owned()),
    }
}

/// Options before the verb, such as `-c` and `-C`, make another git of it.
fn git_verb(simple: &Simple) -> Option<&str> {
    let Some(Word::Literal(verb)) = simple.arguments.first() else { return None };
    listed(GIT_VERBS, verb).then_some(verb)
}

fn is_guarded(simple: &Simple) -> bool {
    let plain = plain_name(&simple.name);
    let guards = GUARDED.iter().filter(|(name, _)| *name == plain).flat_map(|(_, guards)| *guards);
    guards.into_iter().any(|guard| simple.arguments.iter().any(|word| guard.catches(word)))
}

impl Guard {
    fn catches(self, word: &Word) -> bool {
        // What is known only when it runs may be this one.
        let Word::Literal(word) = word else { return true };
        let name = word.split('=').next().unwrap_or(word);
        match self {
            Self::Long(flag) => {
                name.len() > 2 && name.starts_with("--") && (flag.starts_with(name) || name.starts_with(flag))
            }
            Self::Short(flag) => word.starts_with('-') && !word.starts_with("--") && word.contains(flag),
            Self::Start(start) => word.starts_with(start),
        }
    }
}
