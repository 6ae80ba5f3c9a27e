//! Asking the user at the terminal. Meanwhile the task is listened to: whoever answers first wins, and the question goes
//! away.

use super::answer::{self, Answer, letters, rejects, to_question};
use super::approve::chosen;
use super::editor::edit;
use super::keys;
use super::turn::Turn;
use crate::cli::exit::Stop;
use crate::cli::link::follow::Next;
use crate::cli::show::diff::diff;
use crate::cli::show::paint::Ink;
use crate::cli::show::request::{options, question, questions};
use crate::cli::show::story::{Piece, Voice};
use crate::proto::devtool::confirmation_request::Details;
use crate::proto::devtool::task_update::Update;
use crate::proto::devtool::tool_call_confirmation::ModifiedDetails;
use crate::proto::devtool::{
    ConfirmationRequest, FileDiff, ModifiedFileDetails, Question, ToolCall, ToolCallConfirmation,
    ToolCallStatus,
};

/// What came of a question.
pub(super) enum Told {
    Answer(Box<ToolCallConfirmation>),
    /// Somebody else has answered, or there is nothing to answer any more.
    Elsewhere,
    /// Ctrl-C.
    Interrupted,
    /// The end of input.
    Left,
    /// Nobody could be asked.
    Nothing,
}

/// A line, or why there is none.
enum Line {
    Typed(String),
    Not(Told),
}

impl Turn<'_> {
    /// Asks about one call until there is an answer.
    pub(super) async fn ask(&mut self, call: &ToolCall) -> Result<Told, Stop> {
        let Some(request) = &call.confirmation_request else { return Ok(Told::Elsewhere) };
        if !questions(call).is_empty() {
            return self.ask_questions(call, request).await;
        }
        let mut edited = None;
        loop {
            self.aside(&options(self.screen.paint, request, &letters(&request.options)))?;
            let editable = edit_of(request);
            let more = if editable.is_some() { "; e edits the file" } else { "" };
            let typed = match self.line(&format!("Answer (number, letter or id{more}): "), call).await? {
                Line::Typed(typed) => typed,
                Line::Not(told) => return Ok(told),
            };
            match (answer::read(&typed, &request.options, editable.is_some()), editable) {
                (Ok(Answer::Edit), Some(proposed)) => {
                    edited = self.edited(proposed, edited.take()).await?;
                }
                (Ok(Answer::Choose { option, reason }), _) => {
                    let mut answer = chosen(call, option);
                    if rejects(option) {
                        answer.reject_reason = match reason {
                            Some(reason) => Some(reason),
                            None => match self.line("Why, for the agent (Enter says nothing): ", call).await?
                            {
                                Line::Typed(reason) => Some(reason.trim().to_owned()),
                                Line::Not(told) => return Ok(told),
                            },
                        };
                        answer.reject_reason = answer.reject_reason.filter(|reason| !reason.is_empty());
                    } else {
                        let new = edited.map(|new_content| ModifiedFileDetails { new_content });
                        answer.modified_details = new.map(ModifiedDetails::FileDetails);
                    }
                    return Ok(Told::Answer(Box::new(answer)));
                }
                (Ok(Answer::Edit), None) => {}
                (Err(problem), _) => self.note(Ink::Red, &problem)?,
            }
        }
    }

    /// The answers in their order, sent with the option that the server offers for it.
    async fn ask_questions(&mut self, call: &ToolCall, request: &ConfirmationRequest) -> Result<Told, Stop> {
        let mut answers = Vec::new();
        for one in questions(call) {
            match self.ask_one(call, one).await? {
                Line::Typed(answer) => answers.push(answer),
                Line::Not(told) => return Ok(told),
            }
        }
        let silent = answers.iter().all(String::is_empty);
        let option = request.options.iter().find(|option| rejects(option) == silent);
        let Some(option) = option.or(request.options.first()) else { return Ok(Told::Nothing) };
        Ok(Told::Answer(Box::new(ToolCallConfirmation { answers, ..chosen(call, option) })))
    }

    async fn ask_one(&mut self, call: &ToolCall, asked: &Question) -> Result<Line, Stop> {
        loop {
            self.aside(&question(self.screen.paint, asked))?;
            let hint = match (asked.choices.is_empty(), asked.several) {
                (true, _) => "Answer (Enter says nothing): ",
                (false, false) => "Answer (a number, or words of your own): ",
                (false, true) => "Answer (numbers with commas, or words of your own): ",
            };
            match self.line(hint, call).await? {
                Line::Typed(typed) => match to_question(&typed, asked) {
                    Ok(answer) => return Ok(Line::Typed(answer)),
                    Err(problem) => self.note(Ink::Red, &problem)?,
                },
                not => return Ok(not),
            }
        }
    }

    /// The file as the user made it, shown once more; none if it stays as it is.
    async fn edited(&mut self, proposed: &FileDiff, before: Option<String>) -> Result<Option<String>, Stop> {
        let content = before.clone().unwrap_or_else(|| proposed.new_content.clone());
        let name = proposed.file_name.clone();
        let done = tokio::task::spawn_blocking(move || edit(&name, &content)).await;
        // Whatever was pressed in the editor was for the editor.
        self.interrupts.forget();
        match done.unwrap_or_else(|error| Err(std::io::Error::other(error))) {
            Ok(new) if before.as_ref().unwrap_or(&proposed.new_content) == &new => {
                self.note(Ink::Dim, "nothing was changed")?;
                Ok(before)
            }
            Ok(new) => {
                let edit = FileDiff { new_content: new.clone(), formatted_diff: None, ..proposed.clone() };
                self.aside(&diff(self.screen.paint, &edit))?;
                Ok(Some(new))
            }
            Err(error) => {
                self.note(Ink::Red, &format!("{error}; the proposal stays as it is"))?;
                Ok(before)
            }
        }
    }

    /// A line that is typed, unless the call is answered before.
    async fn line(&mut self, prompt: &str, call: &ToolCall) -> Result<Line, Stop> {
        keys::forget();
        self.rest()?;
        self.screen.prompt(prompt)?;
        let line = keys::line();
        tokio::pin!(line);
        let told = loop {
            let next = self.follower.next();
            tokio::select! {
                typed = &mut line => return Ok(match typed? {
                    Some(typed) => Line::Typed(typed),
                    None => {
                        self.screen.say(Ink::Plain, "")?;
                        Line::Not(Told::Left)
                    }
                }),
                () = self.interrupts.next() => break Told::Interrupted,
                next = next => {
                    let over = ends(&next, &call.tool_call_id);
                    self.progress.queue.push_back(next);
                    if over {
                        break Told::Elsewhere;
                    }
                }
            }
        };
        keys::forget();
        self.screen.say(Ink::Plain, "")?;
        Ok(Line::Not(told))
    }

    fn aside(&mut self, text: &str) -> Result<(), Stop> {
        self.rest()?;
        Ok(self.screen.show(&[Piece { voice: Voice::Aside, text: text.to_owned() }])?)
    }
}

/// The file that is proposed, if that is what is asked about.
fn edit_of(request: &ConfirmationRequest) -> Option<&FileDiff> {
    match &request.details {
        Some(Details::FileEditDetails(edit)) => Some(edit),
        _ => None,
    }
}

/// Whether there is nothing left to answer of a call.
fn ends(next: &Next, tool_call_id: &str) -> bool {
    match next {
        Next::Update(update) => match &update.update {
            Some(Update::Decided(decided)) => decided.tool_call_id == tool_call_id,
            Some(Update::ToolCall(call)) => {
                call.tool_call_id == tool_call_id && call.status() != ToolCallStatus::Pending
            }
            Some(Update::Status(status)) => status.state().is_terminal(),
            _ => false,
        },
        Next::End | Next::Failed(_) => true,
        Next::Cut(_) | Next::Back => false,
    }
}
