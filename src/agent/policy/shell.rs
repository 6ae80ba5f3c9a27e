//! What a shell command consists of, read with the bash grammar. Whatever is not plainly a list of simple commands
//! with literal words is not understood, and what is not understood is never allowed without asking. Must not know
//! any rule or mode; the policy and its rules ask it.
//!
//! | understood | not understood, so asked |
//! | --- | --- |
//! | simple commands joined by `&&`, `\|\|`, `;`, `\|`, newline | background `&`, `\|&`, `!`, `time`, `coproc` |
//! | `( )` and `{ }` around them | `if`, `for`, `while`, `case`, functions, arithmetic, `[[ ]]` |
//! | words of plain ASCII, `'..'`, `".."` | globs, braces, `~`, escapes, `$x`, `$'..'`, backquotes, comments |
//! | `$(..)`, `<(..)`, `>(..)` as arguments: what they run counts as a part | the same in a command's name |
//! | redirections from and to `/dev/null`, `2>&1`, `1>&2` | every other redirection, here-documents |
//! | a name that stands for a program | assignments, and builtins that change what later words mean |
//!
//! The grammar is forgiving where shells are not. So the walk accepts only what it knows, and looks at the text
//! between the nodes too: nothing may hide there but blanks.

pub mod programs;
mod walk;
mod word;

use std::fmt;

/// Longer than what anybody would read before saying always.
pub const MAX_BYTES: usize = 8 * 1024;

/// What was found in a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parsed {
    /// All that would run, also inside of substitutions. Never empty.
    Understood(Vec<Simple>),
    NotUnderstood {
        why: Why,
    },
}

/// One program and its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Simple {
    pub name: String,
    pub arguments: Vec<Word>,
}

/// One argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    Literal(String),
    /// Known only when it runs: it holds the output of another command, and may be several words then.
    Computed,
}

/// Why a command is not understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    #[error("it is longer than {MAX_BYTES} bytes")]
    TooLong,
    #[error("it is nested too deeply")]
    TooDeep,
    #[error("it holds control characters")]
    Control,
    #[error("it is not valid shell, or not in a way that all shells agree on")]
    Grammar,
    #[error("there is nothing in it to run")]
    Empty,
    #[error("it uses shell syntax that is always asked for ({0})")]
    Construct(&'static str),
    #[error("the name of a program is not written plainly")]
    Name,
    #[error("a word is not plain text")]
    Word,
    #[error("it redirects to or from a file")]
    Redirection,
    #[error("it changes what later words mean")]
    Builtin,
}

/// Reads a command. Pure and total.
pub fn parse(command: &str) -> Parsed {
    match walk::simple_commands(command) {
        Ok(simple) => Parsed::Understood(simple),
        Err(why) => Parsed::NotUnderstood { why },
    }
}

impl fmt::Display for Simple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        self.arguments.iter().try_for_each(|argument| match argument {
            Word::Literal(text) => write!(f, " {text}"),
            Word::Computed => f.write_str(" $(..)"),
        })
    }
}
