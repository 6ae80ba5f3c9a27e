//! Slash commands: what there is, one file per command, and what each comes to. A command does nothing itself: it says
//! something, or names calls, which go through the policy like those of a model, or a prompt. The runner performs it,
//! in a task like any other; services list and execute them through the [`Engine`](super::Engine).

mod about;
mod approval_mode;
mod clear;
mod compress;
mod custom;
mod desk;
mod door;
mod help;
mod init;
mod mcp;
mod memory;
mod model;
mod prompt;
mod restore;
mod rules;
mod stats;
mod template;
mod tools;

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;

pub(super) use desk::Desk;
pub use door::{Executed, Wanted};

use super::engine::blocking;
use super::runner::Failed;
use super::work::Done;
use crate::domain::mcp::Crew;
use crate::domain::tool::Toolbox;
use crate::proto::devtool::{AgentSettings, SlashCommand, SlashCommandArgument};

/// The longest line of arguments, in bytes.
const LONGEST: usize = 64 * 1024;

/// Of a name that means nothing, in characters.
const NAMED: usize = 100;

/// What a command comes to.
pub(super) enum Does {
    Says(String),
    /// Says something, and the model should know what happened.
    Tells {
        said: String,
        told: String,
    },
    Fails(String),
    /// These calls, each a tool and its arguments. When they have ended, the command is asked again.
    Calls(Vec<(&'static str, Value)>),
    /// The model works on this.
    Prompts(String),
    /// The conversation is made shorter.
    Compresses,
    /// The model forgets the conversation.
    Forgets(String),
}

/// One command.
#[async_trait]
pub(super) trait Slash: Send + Sync {
    fn about(&self) -> SlashCommand;

    /// As in what is said about it; for those that would have to read a file for the rest.
    fn name(&self) -> String {
        self.about().name
    }

    /// Whether this name means it.
    fn is_called(&self, name: &str) -> bool {
        self.name() == name
    }

    /// Whether it can be used with these arguments at all.
    fn check(&self, _args: &str) -> Result<(), String> {
        Ok(())
    }

    /// What holds in the context from this command on, if it changes that. An error is for the user.
    fn sets(&self, _line: &Line, _held: &AgentSettings) -> Result<Option<AgentSettings>, String> {
        Ok(None)
    }

    /// `done` is what its calls have come to; nothing as long as it has made none.
    async fn run(&self, desk: &Desk, line: &Line, done: &[Done]) -> Result<Does, Failed>;
}

/// A command line that was understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    /// The name below the command; empty if it has none.
    pub(super) sub: String,
    pub(super) args: String,
}

/// Every built-in command, in the order in which they are listed.
fn built_in() -> Vec<Box<dyn Slash>> {
    vec![
        Box::new(help::Help),
        Box::new(about::About),
        Box::new(tools::Tools),
        Box::new(stats::Stats),
        Box::new(model::Model),
        Box::new(approval_mode::ApprovalMode),
        Box::new(memory::Memory),
        Box::new(init::Init),
        Box::new(compress::Compress),
        Box::new(clear::Clear),
        Box::new(mcp::Mcp),
        Box::new(rules::Rules),
        Box::new(restore::Restore),
    ]
}

/// All that there are in a workspace. Nothing takes the name of a built-in one, nor one below it. Blocks, shortly.
fn own(tools: &dyn Toolbox) -> Vec<Box<dyn Slash>> {
    let mut all = built_in();
    let names: Vec<String> = all.iter().map(|known| known.name()).collect();
    let is_free = |name: &str| names.iter().all(|own| name.split(':').next() != Some(own));
    for (name, text) in tools.commands().into_iter().filter(|(name, _)| is_free(name)) {
        all.push(Box::new(custom::Custom::new(name, text)));
    }
    all
}

/// What there is to choose from. Reads every file, so it blocks elsewhere.
pub(super) async fn listed(tools: &Arc<dyn Toolbox>, servers: &Arc<dyn Crew>) -> Option<Vec<SlashCommand>> {
    let all = all(tools, servers).await?;
    blocking(move || all.iter().map(|command| command.about()).collect()).await
}

/// Those, and the prompts of the servers that are there soon.
async fn all(tools: &Arc<dyn Toolbox>, servers: &Arc<dyn Crew>) -> Option<Vec<Box<dyn Slash>>> {
    let mut all = of_workspace(tools).await?;
    let more = prompt::prompts(servers, |name| all.iter().any(|known| known.is_called(name))).await;
    all.extend(more);
    Some(all)
}

async fn of_workspace(tools: &Arc<dyn Toolbox>) -> Option<Vec<Box<dyn Slash>>> {
    let tools = Arc::clone(tools);
    blocking(move || own(&*tools)).await
}

/// What a command line came to: the command, or what is wrong with the line.
pub(super) type Meant = Result<(Box<dyn Slash>, Line), String>;

/// The command that a path means. Servers are asked only for what nobody else has.
pub(super) async fn meant(
    tools: &Arc<dyn Toolbox>,
    servers: &Arc<dyn Crew>,
    path: &[String],
    args: &str,
) -> Option<Meant> {
    let known = of_workspace(tools).await?;
    Some(match position(&known, path) {
        Some(_) => find(known, path, args),
        None => find(all(tools, servers).await?, path, args),
    })
}

/// Where it is, and what of the path lies below it.
fn position<'a>(all: &[Box<dyn Slash>], path: &'a [String]) -> Option<(usize, &'a [String])> {
    let whole = path.join(":");
    let at = |name: &str| all.iter().position(|known| known.is_called(name.trim_start_matches('/')));
    let first = path.first().map(String::as_str).unwrap_or_default();
    at(&whole).map(|at| (at, &[][..])).or_else(|| Some((at(first)?, path.get(1..).unwrap_or_default())))
}

fn find(all: Vec<Box<dyn Slash>>, path: &[String], args: &str) -> Meant {
    if args.len() > LONGEST {
        return Err(format!("the arguments are longer than {LONGEST} bytes"));
    }
    let first = path.first().map(|name| name.trim_start_matches('/')).unwrap_or_default();
    let Some((at, rest)) = position(&all, path) else { return Err(unknown(first, &all)) };
    let Some(command) = all.into_iter().nth(at) else { return Err(format!("there is no command /{first}")) };
    let line = line(&command.about(), rest, args.trim())?;
    command.check(&line.args)?;
    Ok((command, line))
}

fn unknown(name: &str, all: &[Box<dyn Slash>]) -> String {
    let name = &name.chars().take(NAMED).collect::<String>();
    let names = all.iter().map(|known| known.name());
    let alike = names.map(|known| (strsim::jaro_winkler(name, &known), known));
    let best = alike.filter(|(score, _)| *score >= 0.75).max_by(|a, b| a.0.total_cmp(&b.0));
    let hint = best.map(|(_, known)| format!("did you mean /{known}? ")).unwrap_or_default();
    format!("there is no command /{name}; {hint}/help lists all of them")
}

/// Which part of the command is meant. A bare command with others below it means the first of them.
fn line(about: &SlashCommand, rest: &[String], args: &str) -> Result<Line, String> {
    let below = |name: &str| about.sub_commands.iter().find(|sub| sub.name == name);
    if about.sub_commands.is_empty() {
        if let Some(extra) = rest.first() {
            return Err(format!("/{} has no command {extra:?} below it", about.name));
        }
        takes(about, &format!("/{}", about.name), args)?;
        return Ok(Line { sub: String::new(), args: args.to_owned() });
    }
    let names = || about.sub_commands.iter().map(|sub| sub.name.as_str()).collect::<Vec<_>>().join(", ");
    let wrong = |name: &str| format!("/{} has no command {name:?} below it; it has {}", about.name, names());
    let (sub, args) = match (rest, args.split_once(char::is_whitespace).unwrap_or((args, ""))) {
        ([name], _) => (below(name).ok_or_else(|| wrong(name))?, args),
        ([], ("", _)) => (about.sub_commands.first().ok_or_else(|| wrong(""))?, args),
        ([], (name, rest)) => (below(name).ok_or_else(|| wrong(name))?, rest.trim()),
        ([_, more, ..], _) => return Err(wrong(more)),
    };
    takes(sub, &format!("/{} {}", about.name, sub.name), args)?;
    Ok(Line { sub: sub.name.clone(), args: args.to_owned() })
}

fn takes(about: &SlashCommand, shown: &str, args: &str) -> Result<(), String> {
    if about.arguments.is_empty() && !args.is_empty() {
        return Err(format!("{shown} takes no arguments"));
    }
    match about.arguments.iter().find(|argument| argument.is_required) {
        Some(missing) if args.is_empty() => {
            Err(format!("usage: {shown} <{}>; {}", missing.name, missing.description))
        }
        _ => Ok(()),
    }
}

fn described(name: &str, description: &str) -> SlashCommand {
    SlashCommand { name: name.to_owned(), description: description.to_owned(), ..SlashCommand::default() }
}

fn argument(name: &str, description: &str, is_required: bool) -> SlashCommandArgument {
    SlashCommandArgument { name: name.to_owned(), description: description.to_owned(), is_required }
}

fn with(command: SlashCommand, arguments: Vec<SlashCommandArgument>) -> SlashCommand {
    SlashCommand { arguments, ..command }
}

fn over(command: SlashCommand, sub_commands: Vec<SlashCommand>) -> SlashCommand {
    SlashCommand { sub_commands, ..command }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &[&str], args: &str) -> Result<(String, String, String), String> {
        let path: Vec<String> = path.iter().map(|name| (*name).to_owned()).collect();
        let (command, line) = find(built_in(), &path, args)?;
        Ok((command.about().name, line.sub, line.args))
    }

    #[test]
    fn a_line_is_understood_or_its_sender_hears_what_is_wrong() {
        for (path, args, expected) in [
            (&["help"][..], "", Ok(("help", "", ""))),
            (&["/help"], "", Ok(("help", "", ""))),
            (&["memory"], "", Ok(("memory", "show", ""))),
            (&["memory", "add"], " likes tea ", Ok(("memory", "add", "likes tea"))),
            (&["memory"], "add likes tea", Ok(("memory", "add", "likes tea"))),
            (&["memory", "add"], "", Err("usage: /memory add <fact>")),
            (&["memory", "forget"], "", Err("/memory has no command \"forget\" below it; it has show, add")),
            (&["memory", "show"], "all", Err("/memory show takes no arguments")),
            (&["help", "me"], "", Err("/help has no command \"me\" below it")),
            (&["halp"], "", Err("there is no command /halp; did you mean /help?")),
        ] {
            match (found(path, args), expected) {
                (Ok((name, sub, args)), Ok(expected)) => {
                    assert_eq!((name.as_str(), sub.as_str(), args.as_str()), expected);
                }
                (Err(problem), Err(begins)) => assert!(problem.starts_with(begins), "{problem}"),
                (found, expected) => panic!("{path:?}: {found:?}, not {expected:?}"),
            }
        }
    }

    #[test]
    fn every_command_has_a_name_of_its_own_and_says_what_it_does() {
        let mut names = std::collections::BTreeSet::new();
        for about in built_in().iter().map(|command| command.about()) {
            for about in about.sub_commands.iter().chain([&about]) {
                assert!(!about.description.is_empty(), "{}", about.name);
            }
            assert!(names.insert(about.name));
        }
    }
}
