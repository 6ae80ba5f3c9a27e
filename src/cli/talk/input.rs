//! The prompt: lines with editing, history and completion of slash commands.

use std::path::{Path, PathBuf};

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{CompletionType, Config, Context, Editor, Helper};

use super::slash::complete;
use crate::cli::exit::{Exit, Stop};
use crate::cli::show::paint::{Ink, Paint};
use crate::proto::devtool::SlashCommand;

const HISTORY: &str = "history";
const KEPT: usize = 1000;

/// What came of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Typed {
    Line(String),
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-D, or the terminal is gone.
    End,
}

pub struct Input {
    editor: Editor<Commands, FileHistory>,
    history: PathBuf,
    prompt: (String, String),
}

impl Input {
    /// What is typed is kept in the data directory, for its owner only; a line that begins with a space is not.
    pub fn new(data_dir: &Path, paint: Paint) -> Result<Self, Stop> {
        let config = Config::builder()
            .completion_type(CompletionType::List)
            .history_ignore_space(true)
            .max_history_size(KEPT)
            .map_err(|error| cannot(&error))?
            .build();
        let mut editor = Editor::with_history(config.clone(), FileHistory::with_config(&config))
            .map_err(|error| cannot(&error))?;
        editor.set_helper(Some(Commands(Vec::new())));
        let history = data_dir.join(HISTORY);
        // There is none at first.
        let _ = editor.load_history(&history);
        Ok(Self { editor, history, prompt: ("> ".to_owned(), paint.ink(Ink::Bold, "> ")) })
    }

    pub fn learn(&mut self, commands: Vec<SlashCommand>) {
        self.editor.set_helper(Some(Commands(commands)));
    }

    pub fn commands(&self) -> &[SlashCommand] {
        self.editor.helper().map_or(&[], |commands| commands.0.as_slice())
    }

    /// Waits for a line. A backslash at its end goes on with the next.
    pub fn read(&mut self) -> Result<Typed, Stop> {
        match self.editor.readline(&self.prompt) {
            Ok(line) => {
                // A chat without a history is still a chat.
                let _ = self.editor.add_history_entry(line.as_str());
                let _ = self.editor.append_history(&self.history);
                Ok(Typed::Line(line.replace("\\\n", "\n")))
            }
            Err(ReadlineError::Interrupted) => Ok(Typed::Interrupt),
            Err(ReadlineError::Eof | ReadlineError::Io(_)) => Ok(Typed::End),
            Err(error) => Err(cannot(&error)),
        }
    }
}

fn cannot(error: &ReadlineError) -> Stop {
    Stop::new(Exit::Failed, format!("cannot read from this terminal: {error}"))
}

/// What Tab offers.
struct Commands(Vec<SlashCommand>);

impl Helper for Commands {}
impl Highlighter for Commands {}

impl Hinter for Commands {
    type Hint = String;
}

impl Completer for Commands {
    type Candidate = String;

    fn complete(&self, line: &str, pos: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(complete(line.get(..pos).unwrap_or_default(), &self.0))
    }
}

impl Validator for Commands {
    fn validate(&self, context: &mut ValidationContext) -> rustyline::Result<ValidationResult> {
        Ok(match context.input().ends_with('\\') {
            true => ValidationResult::Incomplete,
            false => ValidationResult::Valid(None),
        })
    }
}
