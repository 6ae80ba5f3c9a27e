//! A command of the user's own, out of a TOML file: a prompt, into which arguments, the output of commands and files are
//! put. Commands and files are calls of tools, asked for like those of a model.

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::json;

use super::template::{self, Piece};
use super::{Desk, Does, Line, Slash, argument, described, with};
use crate::agent::runner::Failed;
use crate::agent::work::Done;
use crate::proto::devtool::{SlashCommand, ToolCallStatus};

/// Of a description that is shown.
const SHOWN: usize = 100;
/// Commands and files in one prompt, at the most.
const MOST: usize = 32;
/// Of a prompt with everything put in, in bytes.
const LARGEST: usize = 1024 * 1024;

#[derive(Deserialize)]
struct File {
    prompt: String,
    description: Option<String>,
}

pub(super) struct Custom {
    name: String,
    /// Read when it is needed: most of them are not.
    text: String,
}

/// What a file says.
struct Read {
    description: Option<String>,
    pieces: Vec<Piece>,
}

impl Custom {
    pub(super) fn new(name: String, text: String) -> Self {
        Self { name, text }
    }

    /// Or what is wrong with the file.
    fn read(&self) -> Result<Read, String> {
        let file: File = toml::from_str(&self.text).map_err(|error| error.message().to_owned())?;
        let pieces = template::parse(&file.prompt)?;
        match template::places(&pieces) > MOST {
            true => Err(format!("it has more than {MOST} commands and files")),
            false => Ok(Read { description: file.description, pieces }),
        }
    }

    fn refused(&self, problem: &str) -> String {
        format!("/{} cannot be used: {problem}", self.name)
    }
}

#[async_trait]
impl Slash for Custom {
    fn about(&self) -> SlashCommand {
        let args = argument("args", "put into the prompt", false);
        let description = match self.read() {
            Ok(read) => read.description.unwrap_or_else(|| "A command of the user's own.".to_owned()),
            Err(problem) => format!("Cannot be used: {problem}"),
        };
        let description: String = description.chars().take(SHOWN).collect();
        with(described(&self.name, &description), vec![args])
    }

    fn name(&self) -> String {
        self.name.clone()
    }

    fn check(&self, _args: &str) -> Result<(), String> {
        self.read().map(drop).map_err(|problem| self.refused(&problem))
    }

    async fn run(&self, _desk: &Desk, line: &Line, done: &[Done]) -> Result<Does, Failed> {
        let Read { pieces, .. } = match self.read() {
            Ok(read) => read,
            Err(problem) => return Ok(Does::Fails(self.refused(&problem))),
        };
        let calls = calls(&pieces, &line.args);
        if done.is_empty() && !calls.is_empty() {
            return Ok(Does::Calls(calls));
        }
        if let Some(refused) = done.iter().find(|done| done.call.status() == ToolCallStatus::Cancelled) {
            return Ok(refused.ending(""));
        }
        let most = LARGEST.saturating_sub(line.args.len());
        let filled = template::filled(&pieces, &line.args, done.iter().map(Done::text), most);
        let Some(mut prompt) = filled else {
            return Ok(Does::Fails(format!("/{} comes to more than {LARGEST} bytes", self.name)));
        };
        if !template::takes_args(&pieces) && !line.args.is_empty() {
            prompt.push_str(&format!("\n\n/{} {}", self.name, line.args));
        }
        Ok(Does::Prompts(prompt))
    }
}

fn calls(pieces: &[Piece], args: &str) -> Vec<(&'static str, serde_json::Value)> {
    let call = |piece: &Piece| match piece {
        Piece::Shell(inner) => {
            Some(("run_shell_command", json!({"command": template::command(inner, args)})))
        }
        Piece::File(path) => Some(("read_many_files", json!({"include": [path]}))),
        Piece::Text(_) | Piece::Args => None,
    };
    pieces.iter().filter_map(call).collect()
}
