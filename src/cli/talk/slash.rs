//! Slash commands as they are typed: what a line means, and how it may go on. Pure.

use crate::proto::devtool::SlashCommand;

/// Commands of the chat itself, beside those of the server.
pub const OWN: [(&str, &str); 3] =
    [("quit", "Leaves the chat."), ("exit", "The same."), ("new", "Begins another conversation.")];

/// What a line means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    Empty,
    Quit,
    New,
    /// For the server.
    Command {
        path: Vec<String>,
        args: String,
    },
    /// Begins like a command; this one may be meant.
    Unknown {
        name: String,
        near: Option<String>,
    },
    /// For the agent.
    Text(String),
}

/// A line that begins with a slash is a command; behind a space it is none.
pub fn read(line: &str, commands: &[SlashCommand]) -> Line {
    let Some(command) = line.strip_prefix('/') else {
        let text = line.trim();
        return if text.is_empty() { Line::Empty } else { Line::Text(text.to_owned()) };
    };
    let (name, rest) = word(command);
    match name {
        "quit" | "exit" => return Line::Quit,
        "new" => return Line::New,
        _ => {}
    }
    let Some(found) = commands.iter().find(|known| known.name == name) else {
        return Line::Unknown { name: name.to_owned(), near: near(name, commands) };
    };
    let (mut path, mut below, mut rest) = (vec![found.name.clone()], &found.sub_commands, rest);
    loop {
        let (next, behind) = word(rest);
        let Some(sub) = below.iter().find(|sub| sub.name == next) else { break };
        path.push(sub.name.clone());
        (below, rest) = (&sub.sub_commands, behind);
    }
    Line::Command { path, args: rest.trim().to_owned() }
}

fn word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    text.split_once(char::is_whitespace).map_or((text, ""), |(word, rest)| (word, rest.trim_start()))
}

fn near(name: &str, commands: &[SlashCommand]) -> Option<String> {
    let known = commands.iter().map(|command| command.name.as_str()).chain(OWN.map(|(name, _)| name));
    let best = known.map(|known| (strsim::damerau_levenshtein(name, known), known)).min()?;
    (best.0 <= 2 && best.0 < name.chars().count()).then(|| best.1.to_owned())
}

/// Where the word at the end of `line` begins, and what it may become.
pub fn complete(line: &str, commands: &[SlashCommand]) -> (usize, Vec<String>) {
    let Some(command) = line.strip_prefix('/') else { return (0, Vec::new()) };
    let start = line.rfind(char::is_whitespace).map_or(1, |at| at + 1);
    let begun = line.get(start..).unwrap_or_default();
    let mut before = command.get(..start - 1).unwrap_or_default().split_whitespace();
    let mut names: Vec<&str> = match before.next() {
        None => {
            commands.iter().map(|command| command.name.as_str()).chain(OWN.map(|(name, _)| name)).collect()
        }
        Some(first) => {
            let mut below =
                commands.iter().find(|known| known.name == first).map(|known| &known.sub_commands);
            for next in before {
                below = below
                    .and_then(|all| all.iter().find(|sub| sub.name == next))
                    .map(|sub| &sub.sub_commands);
            }
            below.into_iter().flatten().map(|sub| sub.name.as_str()).collect()
        }
    };
    names.retain(|name| name.starts_with(begun));
    names.sort_unstable();
    (start, names.into_iter().map(|name| format!("{name} ")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(name: &str, sub_commands: Vec<SlashCommand>) -> SlashCommand {
        SlashCommand { name: name.to_owned(), sub_commands, ..SlashCommand::default() }
    }

    fn commands() -> Vec<SlashCommand> {
        let memory = vec![command("show", vec![]), command("add", vec![])];
        vec![
            command("memory", memory),
            command("model", vec![command("set", vec![])]),
            command("git:commit", vec![]),
        ]
    }

    #[test]
    fn a_line_is_a_command_or_text() {
        let run = |path: &[&str], args: &str| Line::Command {
            path: path.iter().map(|name| (*name).to_owned()).collect(),
            args: args.to_owned(),
        };
        let unknown = |name: &str, near: Option<&str>| Line::Unknown {
            name: name.to_owned(),
            near: near.map(str::to_owned),
        };
        for (line, expected) in [
            ("", Line::Empty),
            ("  ", Line::Empty),
            ("hello /memory", Line::Text("hello /memory".to_owned())),
            (" /etc/hosts", Line::Text("/etc/hosts".to_owned())),
            ("/memory show", run(&["memory", "show"], "")),
            ("/memory add We  use tabs. ", run(&["memory", "add"], "We  use tabs.")),
            ("/memory what", run(&["memory"], "what")),
            ("/git:commit -m x", run(&["git:commit"], "-m x")),
            ("/quit", Line::Quit),
            ("/exit now", Line::Quit),
            ("/new", Line::New),
            ("/memroy", unknown("memroy", Some("memory"))),
            ("/qiut", unknown("qiut", Some("quit"))),
            ("/etc/hosts", unknown("etc/hosts", None)),
            ("/", unknown("", None)),
        ] {
            assert_eq!(read(line, &commands()), expected, "{line:?}");
        }
    }

    #[test]
    fn what_is_begun_can_be_completed() {
        for (line, start, names) in [
            ("/m", 1, &["memory ", "model "][..]),
            ("/mem", 1, &["memory "]),
            ("/memory ", 8, &["add ", "show "]),
            ("/memory s", 8, &["show "]),
            ("/memory show ", 13, &[]),
            ("/q", 1, &["quit "]),
            ("m", 0, &[]),
        ] {
            assert_eq!(
                complete(line, &commands()),
                (start, names.iter().map(|n| (*n).to_owned()).collect()),
                "{line}"
            );
        }
    }
}
