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

#[derive(Deserialize)]
struct File {
    prompt: String,
    description: Option<String>,
}

pub(super) struct Custom {
    name: String,
    description: String,
    /// Or what is wrong with the file.
    pieces: Result<Vec<Piece>, String>,
}

impl Custom {
    pub(super) fn new(name: String, text: &str) -> Self {
        let (description, pieces) = match toml::from_str::<File>(text) {
            Ok(file) => (file.description, template::parse(&file.prompt)),
            Err(error) => (None, Err(error.message().to_owned())),
        };
        let many = |pieces: &Vec<Piece>| calls(pieces, "").len() > MOST;
        let pieces = match pieces {
            Ok(pieces) if many(&pieces) => Err(format!("it has more than {MOST} commands and files")),
            pieces => pieces,
        };
        let description = match &pieces {
            Ok(_) => description.unwrap_or_else(|| "A command of the user's own.".to_owned()),
            Err(problem) => format!("Cannot be used: {problem}"),
        };
        Self { name, description: description.chars().take(SHOWN).collect(), pieces }
    }
}

#[async_trait]
impl Slash for Custom {
    fn about(&self) -> SlashCommand {
        let args = argument("args", "put into the prompt", false);
        with(described(&self.name, &self.description), vec![args])
    }

    async fn run(&self, _desk: &Desk, line: &Line, done: &[Done]) -> Result<Does, Failed> {
        let pieces = match &self.pieces {
            Ok(pieces) => pieces,
            Err(problem) => return Ok(Does::Fails(format!("/{} cannot be used: {problem}", self.name))),
        };
        let calls = calls(pieces, &line.args);
        if done.is_empty() && !calls.is_empty() {
            return Ok(Does::Calls(calls));
        }
        if let Some(refused) = done.iter().find(|done| done.call.status() == ToolCallStatus::Cancelled) {
            return Ok(refused.ending(""));
        }
        let mut prompt = template::filled(pieces, &line.args, done.iter().map(Done::text));
        if !template::takes_args(pieces) && !line.args.is_empty() {
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
